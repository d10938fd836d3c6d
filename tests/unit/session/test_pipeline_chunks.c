// SPDX-License-Identifier: Apache-2.0
/* Where a chunk of the recording ends, and that nothing else ends there. */
#include "pipeline_fixture.h"

/* Called by nobody; code of a file, whose frames are kept. */
static __attribute__((noinline, used)) int pipeline_burn(int x)
{
	__asm__ volatile("");
	return x * 5;
}

static void put_own(struct fixture *f, uint64_t ms)
{
	put_sample(f, ms,
		   (struct sample_spec){ .pid = (uint32_t)getpid(),
					 .weight = ms,
					 .event = ms / 1000 & 1,
					 .kernel = { KERNEL + 0x500, KERNEL + 0x401 },
					 .user = { (uintptr_t)pipeline_burn | WIRE_FRAME_EXACT } });
	put_leaf(f, ms, PID_A);
}

/* Ten samples a second of two processes, written every second. */
static char *record_seconds(struct fixture *f, unsigned int seconds)
{
	open_pipeline(f);
	put_process(f, 1, PID_A, "program", "[one]");
	for (unsigned int s = 0; s < seconds; s++) {
		for (unsigned int i = 0; i < 10; i++)
			put_own(f, 1000 * s + 100 * i + 2);
		if (s == 1)
			profile_add_counter(&f->pipeline.profile, "test.counter", "twice", 2);
		run_until(f, 1000 * (s + 1));
		flush(f);
	}
	finish(f);
	return xstrdup(samples_of(f, &f->read));
}

/* One that is over loses what it knew; numbers in the tables begin anew. */
static void chunks_change_nothing(void **state)
{
	struct fixture *f = *state;
	struct fixture *chunked;
	_cleanup_free_ char *whole = NULL, *in_chunks = NULL, *quality = NULL;

	whole = record_seconds(f, 6);
	assert_int_equal(f->read.samples.len, 120);
	assert_non_null(strstr(whole, "pipeline_burn k:400 k:500\n"));
	quality = xstrdup(quality_of(f, &f->read));
	setup((void **)&chunked);
	chunked->start_ns = clock_now_ns();
	chunked->chunk_ns = NSEC_PER_SEC;
	in_chunks = record_seconds(chunked, 6);
	assert_string_equal(in_chunks, whole);
	assert_string_equal(quality_of(chunked, &chunked->read), quality);
	assert_int_equal(counter_of(&chunked->read, "test.counter"), 2);
	assert_int_equal(chunked->read.start_ns, chunked->start_ns);
	assert_int_equal(chunked->read.start_wall_ns - chunked->read.start_ns,
			 1000000 * NSEC_PER_SEC);
	teardown((void **)&chunked);
}

static unsigned int chunks_in(const struct fixture *f)
{
	unsigned int count = 0;
	uint64_t at = 0, size;

	for (; pread(f->fd, &size, 8, (off_t)(at + 8)) == 8; at += __builtin_bswap64(size))
		count++;
	return count;
}

static void chunks_end_at_their_limits(void **state)
{
	struct fixture *f = *state;

	f->chunk_ns = 2 * NSEC_PER_SEC;
	free(record_seconds(f, 6)); /* 0 to 3, 3 to 6, and the end */
	assert_int_equal(chunks_in(f), 3);
}

static void chunks_end_when_they_are_large(void **state)
{
	struct fixture *f = *state;

	f->chunk_bytes = 100;
	free(record_seconds(f, 5));
	assert_int_equal(chunks_in(f), 3); /* one that is full ends with the next flush */
}

/* By default, with the next flush. */
static void a_chunk_of_a_minute(void **state)
{
	struct fixture *f = *state;

	open_pipeline(f);
	for (unsigned int s = 1; s <= 130; s++) {
		run_until(f, 1000 * s);
		flush(f);
	}
	finish(f);
	assert_int_equal(chunks_in(f), 3);
}

/* A process that is gone is written off with its chunk, and its figures are not written twice. */
static void the_gone_leave_the_ledger(void **state)
{
	struct fixture *f = *state;

	f->chunk_ns = NSEC_PER_SEC;
	open_pipeline(f);
	put_process(f, 10, PID_A, "first", "[one]");
	put_process(f, 10, PID_B, "second", "[two]");
	put_leaf(f, 20, PID_A);
	put_leaf(f, 20, PID_B);
	put_side(f, 30, (struct side_event){ .kind = SIDE_EXIT, .pid = PID_A });
	run_until(f, 1000);
	flush(f); /* it may have samples yet */
	assert_int_equal(f->pipeline.ledger.entries.len, 2);
	run_until(f, 4000);
	flush(f);
	flush(f);
	assert_int_equal(f->pipeline.ledger.entries.len, 1);
	put_leaf(f, 4000, PID_B);
	run_until(f, 4000 + HELD_MS);
	finish(f);
	assert_string_equal(quality_of(f, &f->read), "first.1 cpu 1 1 100 0 0\n"
						     "second.2 cpu 2 2 200 0 0\n");
	assert_int_equal(f->pipeline.ledger.processes, 2);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(chunks_change_nothing),	      TEST(chunks_end_at_their_limits),
		TEST(chunks_end_when_they_are_large), TEST(a_chunk_of_a_minute),
		TEST(the_gone_leave_the_ledger),
	};

	return cmocka_run_group_tests_name("pipeline_chunks", tests, NULL, NULL);
}
