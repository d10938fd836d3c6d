/* SPDX-License-Identifier: Apache-2.0 */
/* The tid of a thread that is older than its agent, from the JVM's memory; and what else is taken. */
#include "test.h"

#include "fake_vm.h"
#include "jvm/jvm_private.h"

#define T	 (5 * NSEC_PER_SEC)
#define OSTHREAD 24
#define TID	 40

struct world {
	struct fake_vm vm;
	struct jvm *jvm;
	uint64_t java_thread, osthread;
};

static const struct mapping libjvm = { .path = (char *)(uintptr_t) "/nowhere/libjvm.so" };

/* TYPE has _osthread; OS_TYPE the tid. */
static struct world *make(const char *type, const char *os_type)
{
	struct world *w = calloc(1, sizeof(*w));
	const struct fake_field fields[] = { { type, "_osthread", OSTHREAD, 0 },
					     { os_type, "_thread_id", TID, 0 } };
	const struct fake_type none = { "Thread", 8 };

	fake_init(&w->vm.fake);
	w->osthread = fake_alloc(&w->vm.fake, 64);
	w->java_thread = fake_alloc(&w->vm.fake, 64);
	fake_vm_open(&w->vm, fields, ARRAY_SIZE(fields), &none, 1);
	fake_put_u64(&w->vm.fake, w->java_thread + OSTHREAD, w->osthread);
	w->jvm = jvm_new(1, &libjvm, NULL);
	w->jvm->vs = w->vm.vs;
	w->jvm->store = codemap_store_new();
	return w;
}

static void drop(struct world *w)
{
	/* It has taken the tables. */
	jvm_free(w->jvm);
	free(w);
}

static void put_tid(struct world *w, int32_t tid)
{
	fake_put(&w->vm.fake, w->osthread + TID, &tid, sizeof(tid));
}

static void see(struct world *w, uint64_t java_thread, uint64_t java_tid)
{
	const struct codemap_event event = {
		.kind = CODEMAP_THREAD_SEEN,
		.flags = CODEMAP_FLAG_REPLAYED,
		.time_ns = T,
		.thread = { .java_thread = java_thread,
			    .java_tid = java_tid,
			    .name = { "worker", 6 } },
	};

	jvm_take_event(&event, w->jvm);
}

/* Who has TID; 0: nobody. */
static uint64_t who(const struct world *w, uint32_t tid)
{
	uint64_t java_tid = 0;
	const char *name = codemap_store_thread_name(w->jvm->store, tid, T, &java_tid);

	if (name)
		assert_string_equal(name, "worker");
	return java_tid;
}

/* Of a Thread since JDK 25, of a JavaThread before. */
static void by_its_java_thread(void **state)
{
	static const char *const types[] = { "JavaThread", "Thread" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct world *w = make(types[i], "OSThread");

		put_tid(w, 77);
		see(w, w->java_thread, 5);
		assert_int_equal(who(w, 77), 5);
		put_tid(w, 1);
		see(w, w->java_thread, 6);
		assert_int_equal(who(w, 1), 6);
		assert_int_equal(who(w, 2), 0);
		drop(w);
	}
}

static void what_cannot_be_told_is_left_out(void **state)
{
	static const char *const types[][2] = { { "Other", "OSThread" }, { "Thread", "Other" } };
	struct world *w = make("Thread", "OSThread");
	size_t bytes = codemap_store_bytes(w->jvm->store);

	(void)state;
	put_tid(w, 0);
	see(w, w->java_thread, 5);
	put_tid(w, -7);
	see(w, w->java_thread, 5);
	put_tid(w, 7);
	see(w, 0x1000, 5);
	fake_put_u64(&w->vm.fake, w->java_thread + OSTHREAD, 0x1000);
	see(w, w->java_thread, 5);
	/* The process's memory is not read without its tables. */
	w->jvm->vs = NULL;
	see(w, w->java_thread, 5);
	w->jvm->vs = w->vm.vs;
	assert_int_equal(codemap_store_bytes(w->jvm->store), bytes);
	drop(w);
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		w = make(types[i][0], types[i][1]);
		put_tid(w, 7);
		see(w, w->java_thread, 5);
		assert_int_equal(codemap_store_bytes(w->jvm->store), bytes);
		drop(w);
	}
}

/* Other records are taken as they are. */
static void other_records(void **state)
{
	struct world *w = make("Thread", "OSThread");
	const struct codemap_event thread = {
		.kind = CODEMAP_THREAD,
		.time_ns = T,
		.thread = { .tid = 9, .java_tid = 3, .name = { "worker", 6 } },
	};
	const struct codemap_event gap = { .kind = CODEMAP_GAP, .time_ns = T };

	(void)state;
	jvm_take_event(&thread, w->jvm);
	assert_int_equal(who(w, 9), 3);
	assert_false(codemap_store_needs_replay(w->jvm->store));
	jvm_take_event(&gap, w->jvm);
	assert_true(codemap_store_needs_replay(w->jvm->store));
	drop(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_its_java_thread),
		cmocka_unit_test(what_cannot_be_told_is_left_out),
		cmocka_unit_test(other_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
