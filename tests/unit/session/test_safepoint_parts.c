// SPDX-License-Identifier: Apache-2.0
/* What becomes of a safepoint's sample. */
#include "test.h"

#include "session/safepoints/safepoint_parts.h"

static struct profile p;

static void add(uint64_t weight, uint64_t reaching, uint64_t leaving)
{
	const struct wire_sample sample = { .weight = weight,
					    .alloc_interval = reaching,
					    .alloc_object = leaving };
	const struct profile_sample whole = { .time_ns = 10000,
					      .weight = weight,
					      .count = 1,
					      .chance = 1,
					      .reason = profile_string(&p, "Cleanup") };

	profile_release(&p);
	profile_init(&p);
	safepoint_parts_add(&p, &sample, &whole);
}

static void expect(size_t number, uint64_t time_ns, uint64_t weight, uint64_t count)
{
	const struct profile_sample *row = &p.samples.items[number];

	assert_true(number < p.samples.len);
	assert_int_equal(row->time_ns, time_ns);
	assert_int_equal(row->weight, weight);
	assert_int_equal(row->count, count);
	assert_int_equal(row->chance, 1);
}

static void three_parts(void **state)
{
	(void)state;
	add(1000, 200, 50);
	assert_int_equal(p.samples.len, 3);
	expect(0, 10000 - 800, 200, 0);
	expect(1, 10000 - 50, 750, 1);
	expect(2, 10000, 50, 0);
	assert_string_equal(profile_get_string(&p, p.samples.items[0].reason),
			    "reaching safepoint");
	assert_string_equal(profile_get_string(&p, p.samples.items[2].reason), "leaving safepoint");
}

static void parts_that_are_not_there(void **state)
{
	(void)state;
	add(1000, 0, 0);
	assert_int_equal(p.samples.len, 1);
	expect(0, 10000, 1000, 1);
	add(1000, 0, 10);
	assert_int_equal(p.samples.len, 2);
	expect(0, 9990, 990, 1);
	expect(1, 10000, 10, 0);
}

/* The sum is the weight, whatever the parts are. */
static void parts_that_are_too_long(void **state)
{
	(void)state;
	add(1000, 700, UINT64_MAX);
	assert_int_equal(p.samples.len, 3);
	expect(0, 9700, 700, 0);
	expect(1, 9700, 0, 1);
	expect(2, 10000, 300, 0);
	add(1000, UINT64_MAX, UINT64_MAX);
	assert_int_equal(p.samples.len, 2);
	expect(0, 10000, 1000, 0);
	expect(1, 10000, 0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_parts),
		cmocka_unit_test(parts_that_are_not_there),
		cmocka_unit_test(parts_that_are_too_long),
	};

	profile_init(&p);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
