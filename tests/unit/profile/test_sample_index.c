/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "profile/profile.h"

#define STACKS	7
#define THREADS 300

/* Every pair of stack and thread, three times round: the second and third time it is found. */
static void test_many_are_merged(void **state)
{
	struct profile p;

	(void)state;
	profile_init(&p);
	for (uint64_t i = 0; i < 3 * STACKS * THREADS; i++) {
		struct profile_sample s = { .stack = (uint32_t)(i % STACKS),
					    .thread = (uint32_t)(i % THREADS),
					    .time_ns = 10000 - i,
					    .weight = 10,
					    .objects = 4,
					    .count = 1 };

		profile_add_batch(&p, &s, 1);
	}
	assert_int_equal(p.samples.len, STACKS * THREADS);
	for (size_t i = 0; i < p.samples.len; i++) {
		assert_int_equal(p.samples.items[i].count, 3);
		assert_int_equal(p.samples.items[i].weight, 30);
		assert_int_equal(p.samples.items[i].objects, 12);
		assert_int_equal(p.samples.items[i].time_ns, 10000 - i - 2 * STACKS * THREADS);
	}
	profile_clear_samples(&p);
	profile_add_batch(&p, &(struct profile_sample){ .count = 5 }, 1);
	assert_int_equal(p.samples.len, 1);
	assert_int_equal(p.samples.items[0].count, 5);
	profile_release(&p);
}

static void test_what_differs_stays_apart(void **state)
{
	const struct profile_sample samples[] = {
		{ .count = 1 },
		{ .count = 1, .event = 1 },
		{ .count = 1, .stack = 1 },
		{ .count = 1, .thread = 1 },
		{ .count = 1, .state = 1 },
		{ .count = 1, .age = 1 },
	};
	struct profile p;

	(void)state;
	profile_init(&p);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		profile_add_batch(&p, &samples[i], 1);
	assert_int_equal(p.samples.len, ARRAY_SIZE(samples));
	profile_release(&p);
}

/* Of so many some have equal hashes of 32 bits: they are looked at in whole. */
static void test_equal_hashes(void **state)
{
	enum { MANY = 200000 };
	struct profile_sample sample;
	struct profile p;

	(void)state;
	for (int field = 0; field < 5; field++) {
		profile_init(&p);
		for (uint32_t i = 0; i < 2 * MANY; i++) {
			sample = (struct profile_sample){ .weight = 1, .count = 1 };
			*(field == 0   ? &sample.event
			  : field == 1 ? &sample.stack
			  : field == 2 ? &sample.thread
			  : field == 3 ? &sample.state
				       : &sample.age) = i % MANY;
			profile_add_batch(&p, &sample, 1);
		}
		assert_int_equal(p.samples.len, MANY);
		for (size_t i = 0; i < MANY; i++)
			assert_int_equal(p.samples.items[i].weight, 2);
		profile_release(&p);
	}
}

static void test_order_by_stack(void **state)
{
	const uint32_t stacks[] = { 2, 0, 1, 2, 0 }, expected[] = { 1, 4, 2, 0, 3 };
	_cleanup_free_ uint32_t *order = NULL;
	struct profile p;

	(void)state;
	profile_init(&p);
	for (uint32_t i = 0; i < 3; i++)
		profile_stack(&p, &i, 1);
	for (size_t i = 0; i < ARRAY_SIZE(stacks); i++)
		profile_add(&p, &(struct profile_sample){ .stack = stacks[i] });
	order = profile_order_by_stack(&p);
	assert_memory_equal(order, expected, sizeof(expected));
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_are_merged),
		cmocka_unit_test(test_what_differs_stays_apart),
		cmocka_unit_test(test_equal_hashes),
		cmocka_unit_test(test_order_by_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
