// SPDX-License-Identifier: Apache-2.0
/* What waits of -e nativelock stand for where one in many is walked, and takes longer for that. */
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include "sample/offcpu.h"

#define USEC 1000ULL

static void averages(void **state)
{
	struct wire_offcpu_site site = { 0 };

	(void)state;
	/* Of none that was not walked nothing is known. */
	assert_int_equal(wire_offcpu_typical_weight(&site, 5000, 3), 8 * 5000);
	offcpu_skip(&site, 1000);
	assert_int_equal(site.skipped >> WIRE_OFFCPU_SKIPPED_SHIFT, 1000);
	offcpu_skip(&site, 2000);
	assert_int_equal(site.skipped >> WIRE_OFFCPU_SKIPPED_SHIFT, 1500);
	assert_int_equal(wire_offcpu_typical_weight(&site, 5000, 0), 5000);
	assert_int_equal(wire_offcpu_typical_weight(&site, 5000, 3), 5000 + 7 * 1500);
	/* One that is too short itself. */
	assert_int_equal(wire_offcpu_typical_weight(&site, 0, 1), 1500);
	for (int i = 0; i < 5000; i++)
		offcpu_skip(&site, 8000);
	assert_in_range(site.skipped >> WIRE_OFFCPU_SKIPPED_SHIFT, 7990, 8000);
	assert_int_equal(site.skips, 1 << OFFCPU_LEARN_SHIFT);
	offcpu_skip(&site, 0);
	assert_in_range(site.skipped >> WIRE_OFFCPU_SKIPPED_SHIFT, 7950, 7980);
}

/* Another place knows nothing of the one before. */
static void places(void **state)
{
	struct wire_offcpu thread = { 0 };

	(void)state;
	offcpu_skip(&thread.sites[offcpu_site(&thread, 11, OFFCPU_STEP_NS)], 3000);
	assert_int_equal(thread.sites[0].skips, 1);
	for (wire_u32 key = 21; key < 29; key += 2)
		assert_int_equal(thread.sites[offcpu_site(&thread, key, OFFCPU_STEP_NS)].skips, 0);
	assert_int_equal(thread.sites[0].skipped, 0);
}

static void parts_of_a_queue(void **state)
{
	(void)state;
	assert_int_equal(offcpu_typical_queued(0, 5000, 5000), 0);
	assert_int_equal(offcpu_typical_queued(2500, 5000, 5000), 2500);
	assert_int_equal(offcpu_typical_queued(2500, 5000, 1000), 500);
	assert_int_equal(offcpu_typical_queued(5000, 5000, 90000), 5000);
	assert_int_equal(offcpu_typical_queued(7, 0, 5), 0);
}

static double uniform(void)
{
	return ((double)random() + 1) / ((double)RAND_MAX + 2);
}

/* The sum of COUNT waits at a place, a hundredth of them LONG_NS, of which one in 2^halved is walked, and takes WALK_NS more; by what they stand for. */
static double estimate(int count, wire_u32 halved, wire_u64 long_ns, wire_u64 walk_ns,
		       wire_u64 least_ns)
{
	struct wire_offcpu_site site = { 0 };
	double truth = 0, sum = 0;

	for (int i = 0; i < count; i++) {
		wire_u64 length_ns = (wire_u64)(-8.0 * USEC * log(uniform())) + 1;
		bool is_walked = draw_is_taken(halved, (wire_u32)random());

		if (random() % 100 == 0)
			length_ns = long_ns;
		truth += length_ns >= least_ns ? (double)length_ns : 0;
		if (is_walked)
			length_ns += walk_ns;
		length_ns = length_ns >= least_ns ? length_ns : 0;
		if (is_walked)
			sum += (double)wire_offcpu_typical_weight(&site, length_ns, halved);
		else
			offcpu_skip(&site, length_ns);
	}
	return sum / truth;
}

static void sums_stay(void **state)
{
	(void)state;
	srandom(5);
	for (wire_u32 halved = 4; halved < 8; halved++) {
		double all = estimate(2000000, halved, 200 * USEC, 12 * USEC, 0);
		double most = estimate(2000000, halved, 200 * USEC, 12 * USEC, 100 * USEC);

		assert_true(all > 0.95 && all < 1.15);
		assert_true(most > 0.93 && most < 1.07);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(averages),
		cmocka_unit_test(places),
		cmocka_unit_test(parts_of_a_queue),
		cmocka_unit_test(sums_stay),
	};

	return cmocka_run_group_tests_name("offcpu_typical", tests, NULL, NULL);
}
