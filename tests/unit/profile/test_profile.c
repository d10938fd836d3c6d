/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "profile/profile.h"

static void test_strings(void **state)
{
	struct profile p;

	(void)state;
	profile_init(&p);
	assert_int_equal(profile_string(&p, ""), 0);
	assert_int_equal(profile_string(&p, NULL), 0);
	assert_int_equal(profile_string(&p, "abc"), 1);
	assert_int_equal(profile_strn(&p, "abcdef", 3), 1);
	assert_string_equal(profile_get_string(&p, 0), "");
	assert_string_equal(profile_get_string(&p, 1), "abc");
	profile_release(&p);
}

static void test_tables(void **state)
{
	struct profile p;
	struct profile_mapping m = { .path = 1, .start = 4096, .limit = 8192, .offset = 512 };
	struct profile_frame f = { .name = 1, .mapping = 0, .address = 0x40, .bci = -1, .into = 9 };
	struct profile_process proc = { .pid = 7, .exec_count = 1, .name = 1 };
	struct profile_thread t = { .tid = 8, .name = 1 };
	struct profile_event e = { .name = 1, .unit = 1, .period = 10 };

	(void)state;
	profile_init(&p);
	profile_string(&p, "x");
	assert_int_equal(profile_mapping(&p, &m), 0);
	assert_int_equal(profile_mapping(&p, &m), 0);
	assert_int_equal(profile_get_mapping(&p, 0)->limit, 8192);
	assert_int_equal(profile_frame(&p, &f), 0);
	assert_int_equal(profile_frame(&p, &f), 0);
	f.into = 0;
	assert_int_equal(profile_frame(&p, &f), 1);
	assert_int_equal(profile_get_frame(&p, 0)->into, 9);
	f.line = 3;
	assert_int_equal(profile_frame(&p, &f), 2);
	assert_int_equal(profile_get_frame(&p, 2)->line, 3);
	assert_int_equal(profile_process(&p, &proc), 0);
	proc.exec_count = 2;
	assert_int_equal(profile_process(&p, &proc), 1);
	assert_int_equal(profile_get_process(&p, 0)->exec_count, 1);
	assert_int_equal(profile_thread(&p, &t), 0);
	assert_int_equal(profile_get_thread(&p, 0)->tid, 8);
	assert_int_equal(profile_event(&p, &e), 0);
	assert_int_equal(profile_get_event(&p, 0)->period, 10);
	profile_release(&p);
}

static void test_stacks(void **state)
{
	static const uint32_t frames[] = { 3, 2, 1 };
	struct profile p;

	(void)state;
	profile_init(&p);
	assert_int_equal(profile_stack(&p, frames, 3), 0);
	assert_int_equal(profile_stack(&p, frames, 2), 1);
	assert_int_equal(profile_stack(&p, NULL, 0), 2);
	assert_int_equal(profile_stack(&p, frames, 0), 2);
	assert_int_equal(profile_stack(&p, frames, 3), 0);
	assert_int_equal(profile_get_stack(&p, 0).len, 3);
	assert_memory_equal(profile_get_stack(&p, 0).frames, frames, sizeof(frames));
	assert_int_equal(profile_get_stack(&p, 2).len, 0);
	profile_release(&p);
}

static void test_add_merged(void **state)
{
	struct profile_sample s = { .time_ns = 50, .weight = 10, .count = 1, .stack = 4 };
	struct profile p;

	(void)state;
	profile_init(&p);
	profile_add_batch(&p, &s, 1);
	s.time_ns = 40;
	profile_add_batch(&p, &s, 1);
	s.state = STATE_SLEEPING;
	profile_add_batch(&p, &s, 1);
	assert_int_equal(p.samples.len, 2);
	assert_int_equal(p.samples.items[0].weight, 20);
	assert_int_equal(p.samples.items[0].count, 2);
	assert_int_equal(p.samples.items[0].time_ns, 40);
	assert_int_equal(p.samples.items[1].weight, 10);
	profile_clear_samples(&p);
	profile_add_batch(&p, &s, 1);
	assert_int_equal(p.samples.len, 1);
	assert_int_equal(p.samples.items[0].weight, 10);
	profile_add(&p, &s);
	assert_int_equal(p.samples.len, 2);
	profile_release(&p);
}

/* A batch that has equal samples in itself, from an empty profile through every growth. */
static void test_add_batch(void **state)
{
	struct profile one, many;

	(void)state;
	profile_init(&one);
	profile_init(&many);
	for (uint32_t round = 0; round < 200; round++) {
		struct profile_sample batch[PROFILE_BATCH];

		for (uint32_t i = 0; i < PROFILE_BATCH; i++) {
			batch[i] = (struct profile_sample){ .time_ns = 1000 - i,
							    .weight = round + 1,
							    .count = 1,
							    .stack = round * 7 + i / 2,
							    .thread = i % 4 };
			profile_add_batch(&one, &batch[i], 1);
		}
		profile_add_batch(&many, batch, round % 2 ? PROFILE_BATCH : 5);
		if (round % 2 == 0)
			profile_add_batch(&many, batch + 5, PROFILE_BATCH - 5);
		profile_add_batch(&many, batch, 0);
	}
	assert_int_equal(many.samples.len, one.samples.len);
	assert_memory_equal(many.samples.items, one.samples.items,
			    one.samples.len * sizeof(*one.samples.items));
	profile_release(&one);
	profile_release(&many);
}

static void test_quality_and_counters(void **state)
{
	struct profile_quality q = { 1, 2, 10, 9, 100, 1, 10 };
	struct profile p;

	(void)state;
	profile_init(&p);
	profile_add_quality(&p, &q);
	profile_add_quality(&p, &q);
	q.event = 3;
	profile_add_quality(&p, &q);
	assert_int_equal(p.quality.len, 2);
	assert_int_equal(p.quality.items[0].samples, 20);
	assert_int_equal(p.quality.items[0].complete, 18);
	assert_int_equal(p.quality.items[0].weight, 200);
	assert_int_equal(p.quality.items[0].lost, 2);
	assert_int_equal(p.quality.items[0].lost_weight, 20);
	profile_add_counter(&p, "a", "x", 3);
	profile_add_counter(&p, "a", NULL, 4);
	profile_add_counter(&p, "a", "x", 5);
	assert_int_equal(p.counters.len, 2);
	assert_int_equal(p.counters.items[0].value, 8);
	assert_string_equal(profile_get_string(&p, p.counters.items[0].detail), "x");
	assert_int_equal(p.counters.items[1].value, 4);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strings),	  cmocka_unit_test(test_tables),
		cmocka_unit_test(test_stacks),	  cmocka_unit_test(test_add_merged),
		cmocka_unit_test(test_add_batch), cmocka_unit_test(test_quality_and_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
