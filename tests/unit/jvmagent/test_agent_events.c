/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's callbacks and its records of threads, called as a JVM calls them. */
#include "test.h"

#include "agent_records.h"

static void code_that_comes_and_goes(void **state)
{
	struct agent *a = fake_agent();
	uint64_t before = agent_now_ns();
	struct records r;

	(void)state;
	records_open(&r, a);
	fake.callbacks.CompiledMethodLoad(&fake_jvmti, fake_id(0), 512, CODE, 0, NULL, NULL);
	fake.callbacks.CompiledMethodUnload(&fake_jvmti, fake_id(0), CODE);
	assert_int_equal(records_read(&r), 3);
	assert_int_equal(r.all[1].event.kind, CODEMAP_LOAD);
	assert_true(r.all[1].event.load.address == (uint64_t)CODE);
	assert_int_equal(r.all[1].event.load.code_bytes, 512);
	assert_true(r.all[1].event.time_ns >= before);
	assert_int_equal(r.all[2].event.kind, CODEMAP_UNLOAD);
	assert_true(r.all[2].event.unload.address == (uint64_t)CODE);
	assert_true(r.all[2].event.time_ns >= r.all[1].event.time_ns);
	assert_true(r.all[2].event.time_ns <= agent_now_ns());
	/* Without bytes it is nothing; without JNI it cannot be named. */
	fake.callbacks.CompiledMethodLoad(&fake_jvmti, fake_id(0), 0, CODE, 0, NULL, NULL);
	fake.no_jni = true;
	fake.callbacks.CompiledMethodLoad(&fake_jvmti, fake_id(0), 512, CODE, 0, NULL, NULL);
	assert_int_equal(records_read(&r), 0);
	assert_int_equal(a->users, 0);
	records_close(&r);
	fake_drop(a);
}

static void stubs_have_a_name_and_a_place(void **state)
{
	static char name[1030];
	struct agent *a = fake_agent();
	const struct kept_record *d;
	struct records r;

	(void)state;
	records_open(&r, a);
	fake.callbacks.DynamicCodeGenerated(&fake_jvmti, "Interpreter", CODE, 4096);
	records_read(&r);
	d = records_one(&r, CODEMAP_DYNAMIC);
	assert_string_equal(d->text, "Interpreter");
	assert_int_equal(d->event.flags, 0);
	assert_true(d->event.dynamic.address == (uint64_t)CODE);
	assert_int_equal(d->event.dynamic.code_bytes, 4096);
	a->replay_tid = agent_gettid();
	fake.callbacks.DynamicCodeGenerated(&fake_jvmti, "StubRoutines (1)", CODE, 1);
	records_read(&r);
	d = records_one(&r, CODEMAP_DYNAMIC);
	assert_string_equal(d->text, "StubRoutines (1)");
	assert_int_equal(d->event.flags, CODEMAP_FLAG_REPLAYED);
	assert_int_equal(d->event.dynamic.code_bytes, 1);
	memset(name, 'n', sizeof(name) - 1);
	fake.callbacks.DynamicCodeGenerated(&fake_jvmti, name, CODE, 1);
	records_read(&r);
	assert_int_equal(records_one(&r, CODEMAP_DYNAMIC)->event.dynamic.name.len, 1024);
	fake.callbacks.DynamicCodeGenerated(&fake_jvmti, "none", CODE, 0);
	fake.callbacks.DynamicCodeGenerated(&fake_jvmti, NULL, CODE, 4);
	assert_int_equal(records_read(&r), 0);
	assert_int_equal(a->users, 0);
	records_close(&r);
	fake_drop(a);
}

/* In a replay code is marked, since nobody knows when it came. */
static void replayed_code_is_marked(void **state)
{
	struct agent *a = fake_agent();
	struct records r;

	(void)state;
	records_open(&r, a);
	a->replay_tid = agent_gettid();
	fake.callbacks.CompiledMethodLoad(&fake_jvmti, fake_id(0), 512, CODE, 0, NULL, NULL);
	records_read(&r);
	assert_int_equal(records_one(&r, CODEMAP_LOAD)->event.flags, CODEMAP_FLAG_REPLAYED);
	/* Another thread's live event meanwhile is not. */
	a->replay_tid = agent_gettid() + 1;
	fake.callbacks.CompiledMethodLoad(&fake_jvmti, fake_id(0), 512, CODE, 0, NULL, NULL);
	records_read(&r);
	assert_int_equal(records_one(&r, CODEMAP_LOAD)->event.flags, 0);
	records_close(&r);
	fake_drop(a);
}

static void a_thread_is_named_at_its_start_and_ends(void **state)
{
	struct agent *a = fake_agent();
	const struct kept_record *t;
	struct records r;

	(void)state;
	records_open(&r, a);
	fake.callbacks.ThreadStart(&fake_jvmti, &fake_jni, fake_thread_id(1));
	records_read(&r);
	t = records_one(&r, CODEMAP_THREAD);
	assert_string_equal(t->text, "worker-1");
	assert_int_equal(t->event.thread.tid, agent_gettid());
	assert_int_equal(t->event.thread.java_tid, 23);
	assert_int_equal(t->event.flags, 0);
	fake.callbacks.ThreadEnd(&fake_jvmti, &fake_jni, fake_thread_id(1));
	records_read(&r);
	t = records_one(&r, CODEMAP_THREAD_END);
	assert_int_equal(t->event.thread.tid, agent_gettid());
	assert_int_equal(t->event.thread.java_tid, 23);
	assert_int_equal(t->event.thread.name.len, 0);
	assert_int_equal(a->users, 0);
	records_close(&r);
	fake_drop(a);
}

/* A thread that was renamed and starts a new run is published with its new name. */
static void a_new_name_is_published(void **state)
{
	struct agent *a = fake_agent();
	struct records r;

	(void)state;
	records_open(&r, a);
	threads_publish_start(a, &fake_jni, fake_thread_id(0));
	fake.threads[0].name = "http-exec-7";
	threads_publish_start(a, &fake_jni, fake_thread_id(0));
	threads_replay(a, &fake_jni);
	assert_int_equal(records_read(&r), 4);
	assert_string_equal(r.all[0].text, "main");
	assert_string_equal(r.all[1].text, "http-exec-7");
	assert_string_equal(r.all[2].text, "http-exec-7");
	records_close(&r);
	fake_drop(a);
}

/* A thread that JVMTI does not know any more has no name; without fields there are no ids. */
static void what_is_not_known_of_a_thread_is_left_out(void **state)
{
	static char name[THREADS_NAME_MAX + 2];
	struct agent *a = fake_agent();
	struct records r;

	(void)state;
	records_open(&r, a);
	fake.callbacks.ThreadStart(&fake_jvmti, &fake_jni, (jthread)(void *)&fake_class);
	assert_int_equal(records_read(&r), 0);
	a->thread_tid = NULL;
	memset(name, 'n', sizeof(name) - 1);
	fake.threads[1].name = name;
	fake.callbacks.ThreadStart(&fake_jvmti, &fake_jni, fake_thread_id(1));
	records_read(&r);
	assert_int_equal(records_one(&r, CODEMAP_THREAD)->event.thread.java_tid, 0);
	assert_int_equal(records_one(&r, CODEMAP_THREAD)->event.thread.name.len, THREADS_NAME_MAX);
	fake.threads[1].name = NULL;
	fake.callbacks.ThreadStart(&fake_jvmti, &fake_jni, fake_thread_id(1));
	fake.callbacks.ThreadEnd(&fake_jvmti, &fake_jni, NULL);
	assert_int_equal(records_read(&r), 2);
	assert_int_equal(r.all[0].event.thread.name.len, 0);
	records_close(&r);
	fake_drop(a);
}

/* Of older threads the JavaThread says who they are; one that has not begun or has ended has none. */
static void a_replay_names_all_threads_that_live(void **state)
{
	struct agent *a = fake_agent();
	struct records r;

	(void)state;
	fake.threads[2] = (struct fake_thread){ "not started", 30, 0 };
	fake.threads[3] = (struct fake_thread){ NULL, 31, 0x9000 };
	fake.threads[4] = (struct fake_thread){ "last", 32, 0xa000 };
	fake.thread_count = 5;
	records_open(&r, a);
	threads_replay(a, &fake_jni);
	assert_int_equal(records_read(&r), 3);
	for (unsigned int i = 0; i < r.count; i++) {
		const struct fake_thread *t = &fake.threads[i == 2 ? 4 : i];
		const struct codemap_event *e = &r.all[i].event;

		assert_int_equal(e->kind, CODEMAP_THREAD_SEEN);
		assert_int_equal(e->flags, CODEMAP_FLAG_REPLAYED);
		assert_string_equal(r.all[i].text, t->name);
		assert_int_equal(e->thread.java_thread, t->eetop);
		assert_int_equal(e->thread.java_tid, t->tid);
		assert_int_equal(e->thread.tid, 0);
	}
	/* Without that field, or without JNI, nothing can be said. */
	threads_replay(a, NULL);
	a->thread_eetop = NULL;
	threads_replay(a, &fake_jni);
	assert_int_equal(records_read(&r), 0);
	records_close(&r);
	fake_drop(a);
}

/* Names that a JDK lacks: the exception is cleared and the field stays unknown. */
static void a_missing_field_leaves_no_exception(void **state)
{
	struct agent *a = fake_agent();

	(void)state;
	assert_ptr_equal(a->thread_tid, &fake_field_tid);
	assert_ptr_equal(a->thread_eetop, &fake_field_eetop);
	assert_null(find_long_field(&fake_jni, (jclass)(void *)&fake_class, "other"));
	assert_false(fake.exception);
	fake_drop(a);
}

/* After the end no callback writes; a child that forked has not got the ring. */
static void no_event_is_taken_while_nothing_is_active(void **state)
{
	struct agent *a = fake_agent();
	struct records r;

	(void)state;
	records_open(&r, a);
	for (int i = 0; i < 2; i++) {
		a->active = i != 0;
		a->pid = i == 0 ? getpid() : getpid() + 1;
		fake.callbacks.CompiledMethodLoad(&fake_jvmti, fake_id(0), 512, CODE, 0, NULL,
						  NULL);
		fake.callbacks.CompiledMethodUnload(&fake_jvmti, fake_id(0), CODE);
		fake.callbacks.DynamicCodeGenerated(&fake_jvmti, "Interpreter", CODE, 4096);
		fake.callbacks.ThreadStart(&fake_jvmti, &fake_jni, fake_thread_id(1));
		fake.callbacks.ThreadEnd(&fake_jvmti, &fake_jni, fake_thread_id(1));
		fake.callbacks.VMInit(&fake_jvmti, &fake_jni, fake_thread_id(1));
		fake.callbacks.VMDeath(&fake_jvmti, &fake_jni);
		assert_int_equal(a->users, 0);
		assert_int_equal(fake.agent_threads, 0);
	}
	assert_int_equal(a->active, 1);
	assert_int_equal(records_read(&r), 0);
	records_close(&r);
	fake_drop(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_that_comes_and_goes),
		cmocka_unit_test(stubs_have_a_name_and_a_place),
		cmocka_unit_test(replayed_code_is_marked),
		cmocka_unit_test(a_thread_is_named_at_its_start_and_ends),
		cmocka_unit_test(a_new_name_is_published),
		cmocka_unit_test(what_is_not_known_of_a_thread_is_left_out),
		cmocka_unit_test(a_replay_names_all_threads_that_live),
		cmocka_unit_test(a_missing_field_leaves_no_exception),
		cmocka_unit_test(no_event_is_taken_while_nothing_is_active),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
