/* SPDX-License-Identifier: Apache-2.0 */
/* The JVMs of processes that come and go; this one maps no libjvm.so, so that no layout is read. */
#include "test.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "code_fixture.h"
#include "fake_clock.h"
#include "jvm/jvm_private.h"
#include "process/mappings.h"

static char path[] = "/opt/jdk/lib/server/libjvm.so";

static void add_libjvm(struct process *process)
{
	vec_push(&process->mappings,
		 ((struct mapping){ .start = 0x1000, .end = 0x2000, .path = path }));
}

struct fixture {
	struct jvm_table *table;
	struct process first, next;
};

static int setup(void **state)
{
	static struct fixture f;

	fake_begin();
	f = (struct fixture){ .first = { .pid = (uint32_t)getpid(), .serial = 1 },
			      .next = { .pid = (uint32_t)getpid(), .serial = 2 } };
	add_libjvm(&f.first);
	add_libjvm(&f.next);
	*state = &f;
	f.table = jvm_table_new();
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	jvm_table_free(f->table);
	vec_release(&f->first.mappings);
	vec_release(&f->next.mappings);
	return 0;
}

/* The pid is used again while samples of its last owner may still come. */
static void test_pid_used_again(void **state)
{
	struct fixture *f = *state;
	struct jvm *first = jvm_table_get(f->table, &f->first);
	struct jvm *next = jvm_table_get(f->table, &f->next);

	assert_ptr_not_equal(first, next);
	assert_ptr_equal(jvm_table_get(f->table, &f->first), first);
	assert_int_equal(first->serial, 1);
	jvm_table_forget(f->table, &f->first);
	assert_null(f->first.attached.first);
	assert_ptr_equal(jvm_table_find(f->table, f->next.pid, &f->next.mappings.items[0], false),
			 next);
}

/* Its samples came before the registry knew it. */
static void test_claimed(void **state)
{
	struct fixture *f = *state;
	const struct mapping *libjvm = &f->next.mappings.items[0];
	struct jvm *jvm = jvm_table_find(f->table, f->next.pid, libjvm, true);

	assert_int_equal(jvm->serial, 0);
	assert_ptr_equal(jvm_table_get(f->table, &f->next), jvm);
	assert_int_equal(jvm->serial, 2);
}

/* One that was made before the process began is of a process that had its pid. */
static void test_of_a_process_before(void **state)
{
	struct fixture *f = *state;
	const struct mapping *libjvm = &f->next.mappings.items[0];
	struct jvm *jvm = jvm_table_find(f->table, f->next.pid, libjvm, true);

	f->next.begin_ns = jvm->made_ns + 1;
	assert_ptr_not_equal(jvm_table_get(f->table, &f->next), jvm);
	f->first.begin_ns = jvm->made_ns;
	assert_int_equal(jvm->serial, 0);
}

/* Where, in which file and in which process: a JVM is known by all three. */
static void test_found_by_its_mapping(void **state)
{
	struct fixture *f = *state;
	struct mapping libjvm = f->next.mappings.items[0];
	struct jvm *jvm = jvm_table_find(f->table, f->next.pid, &libjvm, true);

	assert_ptr_equal(jvm_table_find(f->table, f->next.pid, &libjvm, false), jvm);
	assert_null(jvm_table_find(f->table, f->next.pid + 1, &libjvm, false));
	libjvm.start += 0x1000;
	assert_null(jvm_table_find(f->table, f->next.pid, &libjvm, false));
	libjvm.start -= 0x1000;
	libjvm.key.inode++;
	assert_null(jvm_table_find(f->table, f->next.pid, &libjvm, false));
	assert_int_equal(jvm->id, 1);
	assert_int_equal(jvm_table_find(f->table, f->next.pid, &libjvm, true)->id, 2);
}

/* Nobody claims it for half a minute: it goes. */
static void test_unclaimed(void **state)
{
	struct fixture *f = *state;
	const struct mapping *libjvm = &f->next.mappings.items[0];
	struct jvm *jvm = jvm_table_find(f->table, f->next.pid, libjvm, true);

	jvm_table_get(f->table, &f->first)->made_ns -= 60 * NSEC_PER_SEC;
	jvm = jvm_table_find(f->table, f->next.pid + 1, libjvm, true);
	jvm->made_ns -= 29 * NSEC_PER_SEC;
	jvm_table_find(f->table, f->next.pid + 2, libjvm, true)->made_ns -= 31 * NSEC_PER_SEC;
	jvm_table_poll(f->table);
	assert_true(jvm_table_replayed(f->table));
	assert_ptr_equal(jvm_table_find(f->table, f->next.pid + 1, libjvm, false), jvm);
	assert_null(jvm_table_find(f->table, f->next.pid + 2, libjvm, false));
	assert_ptr_equal(jvm_table_find(f->table, f->first.pid, libjvm, false),
			 jvm_table_get(f->table, &f->first));
}

/* What is old is looked for once in a second, and no more often. */
static void test_looked_for_once_in_a_second(void **state)
{
	struct fixture *f = *state;
	const struct mapping *libjvm = &f->next.mappings.items[0];

	jvm_table_poll(f->table);
	jvm_table_find(f->table, f->next.pid, libjvm, true)->made_ns -= 31 * NSEC_PER_SEC;
	jvm_table_poll(f->table);
	assert_non_null(jvm_table_find(f->table, f->next.pid, libjvm, false));
	fake_advance(NSEC_PER_SEC);
	jvm_table_poll(f->table);
	assert_non_null(jvm_table_find(f->table, f->next.pid, libjvm, false));
	fake_advance(1);
	jvm_table_poll(f->table);
	assert_null(jvm_table_find(f->table, f->next.pid, libjvm, false));
	/* To the nanosecond, how long it may wait to be claimed. */
	jvm_table_find(f->table, f->next.pid, libjvm, true);
	fake_advance(30 * NSEC_PER_SEC);
	jvm_table_poll(f->table);
	assert_non_null(jvm_table_find(f->table, f->next.pid, libjvm, false));
	fake_advance(NSEC_PER_SEC + 1);
	jvm_table_poll(f->table);
	assert_null(jvm_table_find(f->table, f->next.pid, libjvm, false));
}

/* A process that is no JVM is looked at again when it maps something more, and only then. */
static void test_mapped_later(void **state)
{
	struct fixture *f = *state;
	struct process process = { .pid = (uint32_t)getpid(), .serial = 4, .mappings_serial = 9 };
	struct jvm *jvm;

	assert_null(jvm_table_get(f->table, &process));
	add_libjvm(&process);
	assert_null(jvm_table_get(f->table, &process));
	process.mappings_serial++;
	jvm = jvm_table_get(f->table, &process);
	assert_non_null(jvm);
	assert_ptr_equal(jvm_table_get(f->table, &process), jvm);
	assert_non_null(process.attached.first);
	assert_int_equal(jvm->id, 1);
	/* After it was forgotten all begins anew. */
	jvm_table_forget(f->table, &process);
	assert_non_null(jvm_table_get(f->table, &process));
	assert_int_equal(jvm_table_get(f->table, &process)->id, 2);
	jvm_table_forget(f->table, &process);
	assert_null(process.attached.first);
	/* That it was none, too. */
	vec_release(&process.mappings);
	assert_null(jvm_table_get(f->table, &process));
	jvm_table_forget(f->table, &process);
	add_libjvm(&process);
	assert_int_equal(jvm_table_get(f->table, &process)->id, 3);
	jvm_table_forget(f->table, &process);
	vec_release(&process.mappings);
}

/* What ended 10 s ago is not asked for any more. */
static void test_history(void **state)
{
	struct fixture *f = *state;
	const uint64_t now_ns = clock_now_ns(), before_ns = now_ns - 10 * NSEC_PER_SEC;
	struct codemap_event e = { .kind = CODEMAP_THREAD,
				   .time_ns = before_ns - 5,
				   .thread = { .java_tid = 1, .name = { "worker", 6 } } };
	struct jvm *jvm = jvm_table_get(f->table, &f->first);
	uint64_t java_tid;

	jvm->store = codemap_store_new();
	for (e.thread.tid = 7; e.thread.tid < 9; e.thread.tid++) {
		e.kind = CODEMAP_THREAD;
		e.time_ns = before_ns - 5;
		codemap_store_add(jvm->store, &e);
		e.kind = CODEMAP_THREAD_END;
		e.time_ns = before_ns - (e.thread.tid == 8);
		codemap_store_add(jvm->store, &e);
	}
	jvm_table_poll(f->table);
	assert_non_null(codemap_store_thread_name(jvm->store, 7, before_ns, &java_tid));
	assert_null(codemap_store_thread_name(jvm->store, 8, before_ns, &java_tid));
}

/* How many names of compiled code are read again, after so many were read. */
static const struct scopes_layout no_scopes = { .place = SCOPES_UNKNOWN };

static unsigned int read_again_of(struct code_names *names, struct code_fixture *code,
				  uint64_t nmethod, uint32_t first, uint32_t count)
{
	static struct java_answer answer;
	unsigned int reads = 0;

	for (unsigned int turn = 0; turn < 2; turn++)
		for (uint32_t id = first; id < first + count; id++) {
			unsigned int before = code->fake.reads;

			put_u32(code, nmethod + code->layout.wire.compile_id, id);
			assert_int_equal(code_names_find(names, nmethod + 500, id, &answer), 0);
			reads += turn && code->fake.reads != before;
		}
	return reads;
}

/* A host of many JVMs: each may keep its share of the names, whichever of them it is. */
static void test_names_are_shared_out(void **state)
{
	static struct code_fixture code;
	struct fixture *f = *state;
	const struct mapping *libjvm = &f->next.mappings.items[0];
	struct method_names *methods;
	uint64_t nmethod;

	code_fixture_init(&code, &code_layout_17);
	nmethod = code_fixture_nmethod(&code, 4, 8, code_fixture_method(&code, "A", "run"), 1);
	methods = method_names_new(&code.fake.memory, &code.layout);
	for (uint32_t pid = 0; pid < 4096; pid++) {
		struct jvm *jvm = jvm_table_find(f->table, 10000000 + pid, libjvm, true);

		if (pid % 4095 == 0)
			jvm->code = code_names_new(&code.fake.memory, &code.layout, &no_scopes,
						   methods);
	}
	for (uint32_t pid = 0; pid < 4096; pid += 4095)
		assert_int_equal(
			read_again_of(jvm_table_find(f->table, 10000000 + pid, libjvm, false)->code,
				      &code, nmethod, 1, 300),
			0);
	jvm_table_poll(f->table);
	for (uint32_t pid = 0; pid < 4096; pid += 4095) {
		struct jvm *jvm = jvm_table_find(f->table, 10000000 + pid, libjvm, false);

		/* 4 kB hold 25 of them. */
		assert_true(read_again_of(jvm->code, &code, nmethod, 1000, 300) > 200);
		assert_int_equal(read_again_of(jvm->code, &code, nmethod, 2000, 20), 0);
	}
	method_names_free(methods);
}

/* A launcher that looks into another library first: what goes is not reported, only what comes. */
static void test_loaded_in_the_place_of_another(void **state)
{
	struct fixture *f = *state;
	struct process launcher = { .pid = (uint32_t)getpid(), .serial = 3 };
	char other[] = "/opt/jdk/lib/libother.so";
	struct mapping m = { .start = 0x1000, .end = 0x2000, .path = other };

	mappings_add(&launcher, &m);
	assert_null(jvm_table_get(f->table, &launcher));
	m.path = path;
	mappings_add(&launcher, &m);
	assert_int_equal(launcher.mappings.len, 1);
	assert_non_null(jvm_table_get(f->table, &launcher));
	mappings_clear(&launcher);
}

/* One that stays without VMStructs is walked blindly, instead of being asked for ever. */
static void test_no_hotspot(void **state)
{
	struct fixture *f = *state;
	struct jvm *jvm = jvm_table_get(f->table, &f->first);
	struct wire_jvm wire;

	assert_int_equal(jvm_get_wire(jvm, true, &wire), -ENODATA);
	assert_false(jvm->no_layout);
	jvm->made_ns -= 11 * NSEC_PER_SEC;
	assert_int_equal(jvm_get_wire(jvm, true, &wire), 0);
	assert_int_equal(wire.serial, jvm->id);
	assert_int_equal(wire.code_end, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_pid_used_again),
		TEST(test_claimed),
		TEST(test_of_a_process_before),
		TEST(test_found_by_its_mapping),
		TEST(test_unclaimed),
		TEST(test_loaded_in_the_place_of_another),
		TEST(test_no_hotspot),
		TEST(test_looked_for_once_in_a_second),
		TEST(test_mapped_later),
		TEST(test_history),
		TEST(test_names_are_shared_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
