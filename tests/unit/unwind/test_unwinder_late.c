// SPDX-License-Identifier: Apache-2.0
/* Walks of processes that are gone, or may be: whose memory is read, and by what is known of a JVM. */
#include "unwinder_walks.h"

static void be_self(struct fixture *f)
{
	f->process.pid = f->miss.tgid = f->miss.tid = (uint32_t)getpid();
	f->sample.tgid = f->sample.tid = f->miss.tgid;
}

static bool reads_process(struct fixture *f)
{
	finish(f);
	return walker.alive;
}

/* Memory is read of the program that was sampled only. */
static void who_is_still_there(void **state)
{
	struct fixture *f = *state;
	struct proc_stat stat;

	assert_false(reads_process(f)); /* there is no such process */
	be_self(f);
	assert_true(reads_process(f));
	f->process.exited = true;
	assert_false(reads_process(f));
	f->process.exited = false;
	assert_int_equal(proc_read_stat(f->miss.tgid, &stat), 0);
	f->sample.time_ns = stat.start_ns + NSEC_PER_SEC; /* its ticks are 10 ms */
	assert_true(reads_process(f));
	f->sample.time_ns = stat.start_ns - NSEC_PER_SEC;
	assert_false(reads_process(f));
	f->sample.time_ns = f->miss.time_ns;
	unwinder_note_exec(f->unwinder, f->miss.tgid, f->sample.time_ns);
	assert_true(reads_process(f));
	unwinder_note_exec(f->unwinder, f->miss.tgid, f->sample.time_ns + 1);
	assert_false(reads_process(f));
	unwinder_note_exit(f->unwinder, f->miss.tgid);
	assert_true(reads_process(f));
}

/* Of its stack, in the copy as it was; and a word behind that is not. */
static struct {
	uint64_t now[8], behind;
} stack __attribute__((aligned(128))) = { { 0, 0x4711, 0, 0, 42, 43 }, 0 };

static uint64_t read_after_ns = 10 * NSEC_PER_MSEC;

static bool is_late(struct fixture *f)
{
	union {
		struct wire_miss miss;
		char room[sizeof(struct wire_miss) + sizeof(stack.now)];
	} u = { .miss = f->miss };

	static const uint64_t then[ARRAY_SIZE(stack.now)] = { 0, 0x4711, 0, 0, 42, 43 };
	struct wire_sample *sample;
	bool late;

	u.miss.time_ns = clock_now_ns() - read_after_ns;
	u.miss.copy_at = (uintptr_t)stack.now;
	u.miss.copy_bytes = sizeof(then);
	memcpy(u.miss.copy, then, sizeof(then));
	sample = unwinder_finish(f->unwinder, &u.miss, &f->sample, &f->process, 77, false);
	assert_int_equal(sample->words[3] >> WIRE_FRAME_KIND_SHIFT, WIRE_FRAME_INTERPRETED);
	late = sample->words[3] & WIRE_FRAME_LATE;
	free(sample);
	return late;
}

/* What was read of a method after the sample holds for it when its frame is still there. */
static void methods_read_later(void **state)
{
	struct fixture *f = *state;

	walker.fp = (uintptr_t)&stack.now[4];
	walker.method = 0x4711;
	assert_true(is_late(f)); /* there is no such process */
	be_self(f);
	assert_false(is_late(f));
	stack.now[5]++;
	assert_true(is_late(f));
	stack.now[5]--;
	assert_false(is_late(f));
	/* At once it was nobody else's. */
	read_after_ns = NSEC_PER_MSEC;
	stack.now[5]++;
	assert_false(is_late(f));
	stack.now[5]--;
	read_after_ns = 10 * NSEC_PER_MSEC;
	/* It returns after the walk has read the page. */
	walker.there = &stack.behind;
	walker.changes = &stack.now[5];
	assert_true(is_late(f));
	walker.there = NULL;
	stack.now[5]--;
	f->miss.tid = f->sample.tid = PID; /* no such thread */
	assert_true(is_late(f));
}

/* What came along of frames that are put in place is the first piece, and no heap. */
static void what_came_along(void **state)
{
	static const struct {
		uint64_t thread, unpacking;
		uint32_t pieces;
		bool has_unpacking, has_heap;
	} cases[] = {
		{ 0, WIRE_MISS_UNKNOWN, 0, false, false },
		{ 0, 0, 0, false, false },
		{ 0x7ead, WIRE_MISS_UNKNOWN, 0, false, false },
		{ 0x7ead, 0, 0, true, false },
		{ 0x7ead, 0x1000, 1, true, false },
		{ 0x7ead, 0x1000, 2, true, true },
		{ 0x7ead, WIRE_MISS_UNKNOWN, 1, false, true },
		{ 0x7ead, 0, 1, true, true },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		f->miss.thread = cases[i].thread;
		f->miss.unpacking = cases[i].unpacking;
		f->miss.heap_count = cases[i].pieces;
		finish(f);
		assert_int_equal(walker.request.has_unpacking, cases[i].has_unpacking);
		assert_int_equal(walker.request.has_heap, cases[i].has_heap);
	}
}

/* Its ranges are those that the registry has, of the serial that the request says. */
static void its_tables(void **state)
{
	struct fixture *f = *state;
	char path[] = "/no/such/file";
	struct mapping m = {
		.start = MAPPED, .end = MAPPED + 0x1000, .key = { .inode = 5 }, .path = path
	};

	mappings_add(&f->process, &m);
	finish(f);
	assert_int_equal(walker.range_count, 1);
	assert_int_equal(walker.range_serial, walker.request.serial);
}

/* A process has no more than a tenth of the time, when it has mapped so much. */
static void very_many_mappings(void **state)
{
	struct fixture *f = *state;
	char path[] = "/no/such/file";
	struct mapping m = { .start = MAPPED, .key = { .inode = 5 }, .path = path };

	for (unsigned int i = 0; i < 5000; i++, m.start += 0x2000) {
		m.end = m.start + 0x1000;
		mappings_add(&f->process, &m);
	}
	f->unwinder->late_credit_ns = 0;
	f->unwinder->late_credited_ns = clock_now_ns();
	finish(f);
	assert_int_equal(walker.range_count, 0);
	fake_advance(1000);
	finish(f);
	assert_int_equal(walker.range_count, 5000);
	/* It is not made again, and has to be paid for when something else is mapped. */
	f->unwinder->late_credit_ns = -1000000;
	finish(f);
	assert_int_equal(walker.range_count, 5000);
	m.end = m.start + 0x1000;
	mappings_add(&f->process, &m);
	finish(f);
	assert_int_equal(walker.range_count, 0);
	fake_advance(20000000);
	finish(f);
	assert_int_equal(walker.range_count, 5001);
}

/* What is learnt of a JVM is good for 20 ms. */
static void its_jvm(void **state)
{
	struct fixture *f = *state;
	char path[] = "/jdk/lib/server/libjvm.so";
	struct mapping m = {
		.start = MAPPED, .end = MAPPED + 0x1000, .key = { .inode = 5 }, .path = path
	};

	f->jvm_answer = 0;
	finish(f);
	assert_null(walker.request.jvm); /* it maps none */
	assert_int_equal(f->jvm_asked, 0);
	mappings_add(&f->process, &m);
	finish(f);
	assert_int_equal(f->jvm_asked, 1); /* at once */
	assert_non_null(walker.request.jvm);
	assert_int_equal(walker.request.jvm_serial, 9);
	fake_advance(20 * NSEC_PER_MSEC - 1);
	f->jvm_answer = -ESRCH;
	finish(f);
	assert_int_equal(f->jvm_asked, 1);
	assert_non_null(walker.request.jvm);
	fake_advance(1);
	finish(f);
	assert_int_equal(f->jvm_asked, 2);
	assert_null(walker.request.jvm);
	assert_int_equal(walker.request.jvm_serial, 0);
}

static enum unwind_reason reason_of(struct fixture *f)
{
	struct wire_sample *sample =
		unwinder_finish(f->unwinder, &f->miss, &f->sample, &f->process, 0, false);
	enum unwind_reason reason = sample->reason;

	free(sample);
	return reason;
}

static void a_walk_that_leaves_the_copy(void **state)
{
	struct fixture *f = *state;

	f->miss.copy_at = 0x7000000;
	walker.reason = UNWIND_PAGE;
	walker.failed_at = 0x7000100;
	assert_int_equal(reason_of(f), UNWIND_COPY_END);
	walker.failed_at = 0x6000000;
	assert_int_equal(reason_of(f), UNWIND_PAGE);
	walker.reason = UNWIND_DEPTH;
	walker.failed_at = 0x7000100;
	assert_int_equal(reason_of(f), UNWIND_DEPTH);
}

/* A blob is told to BPF by a walk in the tables that BPF has. */
static void a_blob_far_away(void **state)
{
	const struct wire_far_key key = { .segment = 0x1000080, .serial = 9 };
	struct fixture *f = *state;

	be_self(f);
	walker.far_blob = 0xff0000;
	finish(f);
	assert_int_equal(table_memory_heap_far_blob(f->memory, &key), 0);
	f->miss.pc = (uintptr_t)reason_of;
	f->sample.start_ns = 5;
	free(unwinder_try(f->unwinder, &f->miss, &f->sample, 3));
	assert_int_equal(table_memory_heap_far_blob(f->memory, &key), 0xff0000);
	assert_true(walker.range_count > 1);
	assert_int_equal(f->unwinder->late_count, 1);
	assert_int_equal(f->unwinder->at_once, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_is_still_there), TEST(methods_read_later),
		TEST(its_tables),	  TEST(its_jvm),
		TEST(very_many_mappings), TEST(a_walk_that_leaves_the_copy),
		TEST(a_blob_far_away),	  TEST(what_came_along),
	};

	return cmocka_run_group_tests_name("unwinder_late", tests, NULL, NULL);
}
