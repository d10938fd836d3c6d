// SPDX-License-Identifier: Apache-2.0
/* The limit on walks that are handed to userspace. */
#include "test.h"

#include "sample/bucket.h"

#define START_NS 5000000000ULL

static unsigned int take_all(struct bucket *bucket, uint64_t now_ns)
{
	unsigned int n = 0;

	while (n < 1000000 && bucket_take(bucket, BUCKET_BURST, now_ns))
		n++;
	return n;
}

static void test_burst(void **state)
{
	struct bucket bucket = { 0 };

	(void)state;
	assert_int_equal(take_all(&bucket, START_NS), BUCKET_BURST);
	assert_int_equal(take_all(&bucket, START_NS), 0);
	/* However long nothing was taken, it is never more than full. */
	assert_int_equal(take_all(&bucket, START_NS * 1000), BUCKET_BURST);
}

static void test_refill(void **state)
{
	struct bucket bucket = { 0 };

	(void)state;
	take_all(&bucket, START_NS);
	assert_int_equal(take_all(&bucket, START_NS + BUCKET_INTERVAL_NS - 1), 0);
	assert_int_equal(take_all(&bucket, START_NS + BUCKET_INTERVAL_NS), 1);
	assert_int_equal(take_all(&bucket, START_NS + 11 * BUCKET_INTERVAL_NS), 10);
	/* Parts of an interval are not lost. */
	assert_int_equal(take_all(&bucket, START_NS + 11 * BUCKET_INTERVAL_NS + 600000), 0);
	assert_int_equal(take_all(&bucket, START_NS + 12 * BUCKET_INTERVAL_NS + 200000), 1);
	assert_int_equal(take_all(&bucket, START_NS + 13 * BUCKET_INTERVAL_NS), 1);
}

/* Every sample of a cpu at 997 Hz for an hour misses: none is refused. */
static void test_clock_is_never_refused(void **state)
{
	struct bucket bucket = { 0 };
	uint64_t now_ns = START_NS;

	(void)state;
	for (unsigned int i = 0; i < 997 * 3600; i++, now_ns += 1000000000ULL / 997)
		assert_true(bucket_take(&bucket, BUCKET_BURST, now_ns));
}

/* An event every 10 us: bounded by the burst and the refill. */
static void test_flood(void **state)
{
	struct bucket bucket = { 0 };
	unsigned int taken = 0;

	(void)state;
	for (uint64_t at = 0; at < 1000000000; at += 10000)
		taken += (unsigned int)bucket_take(&bucket, BUCKET_BURST, START_NS + at);
	assert_in_range(taken, 1000, 1000 + BUCKET_BURST);
}

/* What takes long has taken several, but none that is not there. */
static void test_what_takes_long(void **state)
{
	struct bucket bucket = { 0 };

	(void)state;
	assert_true(bucket_take(&bucket, BUCKET_BURST, START_NS));
	bucket_pay(&bucket, BUCKET_WORTH_NS - 1);
	assert_int_equal(bucket.tokens, BUCKET_BURST - 1);
	bucket_pay(&bucket, 4 * BUCKET_WORTH_NS);
	assert_int_equal(bucket.tokens, BUCKET_BURST - 5);
	bucket_pay(&bucket, (BUCKET_BURST - 4) * BUCKET_WORTH_NS);
	assert_int_equal(bucket.tokens, 0);
	bucket_pay(&bucket, BUCKET_WORTH_NS);
	assert_int_equal(take_all(&bucket, START_NS + BUCKET_INTERVAL_NS), 1);
}

static void test_clock_goes_back(void **state)
{
	struct bucket bucket = { 0 };

	(void)state;
	take_all(&bucket, START_NS);
	assert_int_equal(take_all(&bucket, START_NS - 100 * BUCKET_INTERVAL_NS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_burst),  cmocka_unit_test(test_what_takes_long),
		cmocka_unit_test(test_refill), cmocka_unit_test(test_clock_is_never_refused),
		cmocka_unit_test(test_flood),  cmocka_unit_test(test_clock_goes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
