// SPDX-License-Identifier: Apache-2.0
/* A sample and its length find each other, whichever comes first. */
#include "test.h"

#include <string.h>

#include "base/alloc.h"
#include "session/offcpu/spans.h"

#define WORDS 10

static struct wire_sample *sample_of(uint32_t tid, uint64_t time_ns)
{
	uint32_t size = sizeof(struct wire_sample) + WORDS * 8;
	struct wire_sample *sample = xcalloc(1, size);

	*sample = (struct wire_sample){ .size = size,
					.kind = WIRE_SAMPLE,
					.time_ns = time_ns,
					.tid = tid,
					.kernel_frames = 2,
					.user_words = WORDS - 2,
					.user_frames = WORDS - 2 };
	return sample;
}

static struct wire_miss *miss_of(void)
{
	struct wire_miss *miss = xcalloc(1, sizeof(*miss));

	miss->size = sizeof(*miss);
	return miss;
}

static struct wire_span span_of(uint32_t tid, uint64_t time_ns, uint64_t length_ns)
{
	return (struct wire_span){ .time_ns = time_ns, .length_ns = length_ns, .tid = tid };
}

static struct spans fresh(void)
{
	return (struct spans){ .limit_bytes = 1 << 20 };
}

static void test_in_order(void **state)
{
	struct spans spans = fresh();
	struct wire_span span = span_of(7, 100, 5);
	struct span_wait *wait;
	size_t at;

	(void)state;
	assert_null(spans_open(&spans, sample_of(7, 100), miss_of(), 1));
	assert_true(spans.bytes ==
		    sizeof(struct wire_sample) + WORDS * 8 + sizeof(struct wire_miss));
	wait = spans_close(&spans, &span, 2);
	assert_non_null(wait);
	assert_int_equal(wait->sample->tid, 7);
	assert_non_null(wait->miss);
	assert_int_equal(wait->span.length_ns, 5);
	assert_int_equal(spans.bytes, 0);
	span_wait_free(wait);
	at = 0;
	assert_null(spans_take_open(&spans, &at));
	spans_release(&spans);
}

static void test_length_first(void **state)
{
	struct spans spans = fresh();
	struct wire_span span = span_of(7, 100, 5);
	struct span_wait *wait;
	size_t at = 0;

	(void)state;
	assert_null(spans_close(&spans, &span, 1));
	assert_int_equal(spans.lonely, 1);
	assert_null(spans_take_open(&spans, &at));
	wait = spans_open(&spans, sample_of(7, 100), NULL, 2);
	assert_non_null(wait);
	assert_int_equal(wait->span.length_ns, 5);
	assert_int_equal(wait->sample->time_ns, 100);
	assert_int_equal(spans.lonely, 0);
	span_wait_free(wait);
	spans_release(&spans);
}

/* Neither another thread's of the same time, nor the same thread's of another. */
static void test_whose(void **state)
{
	struct spans spans = fresh();
	struct wire_span other_thread = span_of(8, 100, 5), other_time = span_of(7, 101, 6);
	struct wire_span right = span_of(7, 100, 9);
	struct span_wait *wait;

	(void)state;
	assert_null(spans_open(&spans, sample_of(7, 100), NULL, 1));
	assert_null(spans_close(&spans, &other_thread, 1));
	assert_null(spans_close(&spans, &other_time, 1));
	/* It left again, on another cpu, before its first length was drained. */
	wait = spans_open(&spans, sample_of(7, 101), NULL, 1);
	assert_int_equal(wait->span.length_ns, 6);
	span_wait_free(wait);
	wait = spans_close(&spans, &right, 1);
	assert_int_equal(wait->span.length_ns, 9);
	span_wait_free(wait);
	spans_release(&spans);
}

static void test_lonely_lengths(void **state)
{
	struct spans spans = fresh();
	struct wire_span span = span_of(7, 100, 5);
	struct span_wait *wait;
	size_t at = 0;

	(void)state;
	spans_open(&spans, sample_of(9, 100), NULL, 1);
	spans_close(&spans, &span, 10);
	spans_expire(&spans, 10);
	wait = spans_open(&spans, sample_of(7, 100), NULL, 10);
	assert_non_null(wait);
	span_wait_free(wait);
	spans_close(&spans, &span, 10);
	spans_expire(&spans, 11);
	assert_null(spans_open(&spans, sample_of(7, 100), NULL, 12));
	/* Samples are never too old. */
	spans_expire(&spans, 1000);
	for (int i = 0; i < 2; i++) {
		wait = spans_take_open(&spans, &at);
		assert_non_null(wait);
		span_wait_free(wait);
	}
	assert_null(spans_take_open(&spans, &at));
	assert_int_equal(spans.lonely, 0);
	assert_int_equal(spans.bytes, 0);
	spans_release(&spans);
}

/* As a thread that was off the cpus before is, of which there is no room for a book. */
static void test_told_again(void **state)
{
	struct spans spans = fresh();
	struct wire_span span = span_of(7, 100, 5), again = span_of(7, 100, 6);
	struct span_wait *wait;

	(void)state;
	assert_null(spans_open(&spans, sample_of(7, 100), miss_of(), 1));
	assert_null(spans_open(&spans, sample_of(7, 100), NULL, 2));
	assert_int_equal(spans.bytes, sizeof(struct wire_sample) + WORDS * 8);
	wait = spans_close(&spans, &span, 3);
	assert_int_equal(wait->since_ns, 2);
	span_wait_free(wait);
	assert_null(spans_close(&spans, &span, 4));
	assert_null(spans_close(&spans, &again, 5));
	assert_int_equal(spans.lonely, 1);
	wait = spans_open(&spans, sample_of(7, 100), NULL, 6);
	assert_int_equal(wait->span.length_ns, 6);
	span_wait_free(wait);
	spans_release(&spans);
}

/* Over the limit the stack goes, and what the sample stands for stays. */
static void test_limit(void **state)
{
	struct spans spans = { .limit_bytes = sizeof(struct wire_sample) + WORDS * 8 };
	struct wire_span span = span_of(2, 100, 5);
	struct span_wait *wait;

	(void)state;
	spans_open(&spans, sample_of(1, 100), NULL, 1);
	assert_int_equal(spans.cut, 0);
	spans_open(&spans, sample_of(2, 100), miss_of(), 1);
	assert_int_equal(spans.cut, 1);
	wait = spans_close(&spans, &span, 1);
	assert_non_null(wait);
	assert_null(wait->miss);
	assert_int_equal(wait->sample->size, sizeof(struct wire_sample));
	assert_int_equal(wait->sample->kernel_frames + wait->sample->user_words, 0);
	assert_int_equal(wait->sample->reason, UNWIND_BUDGET);
	assert_int_equal(wait->sample->tid, 2);
	span_wait_free(wait);
	spans_release(&spans);
}

/* Those that came first go first, and one that has its sample is none any more. */
static void test_lonely_lengths_of_several_ages(void **state)
{
	struct spans spans = fresh();
	struct span_wait *wait;

	(void)state;
	for (uint32_t tid = 1; tid <= 4; tid++) {
		struct wire_span span = span_of(tid, 100, 5);

		spans_close(&spans, &span, tid * 10);
	}
	wait = spans_open(&spans, sample_of(1, 100), NULL, 41);
	assert_non_null(wait);
	span_wait_free(wait);
	spans_expire(&spans, 20);
	assert_int_equal(spans.lonely, 3);
	spans_expire(&spans, 31);
	assert_int_equal(spans.lonely, 1);
	spans_expire(&spans, 40);
	assert_int_equal(spans.lonely, 1);
	/* Another one, which came before it. */
	spans_close(&spans, &(struct wire_span){ .tid = 5, .time_ns = 100, .length_ns = 5 }, 35);
	spans_expire(&spans, 36);
	assert_int_equal(spans.lonely, 1);
	spans_expire(&spans, 41);
	assert_int_equal(spans.lonely, 0);
	spans_release(&spans);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_order),
		cmocka_unit_test(test_length_first),
		cmocka_unit_test(test_whose),
		cmocka_unit_test(test_lonely_lengths),
		cmocka_unit_test(test_lonely_lengths_of_several_ages),
		cmocka_unit_test(test_told_again),
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
