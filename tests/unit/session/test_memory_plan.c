/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/macros.h"
#include "session/memory_plan.h"

#define MB (1ULL << 20)

static uint64_t sum(const struct memory_plan *plan)
{
	return plan->symbol_bytes + plan->parse_bytes + plan->queue_bytes + plan->file_bytes;
}

static void test_shares_fit(void **state)
{
	static const uint64_t limits[] = { 48 * MB, 64 * MB, 128 * MB, 1024 * MB };
	struct memory_plan plan;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		uint64_t maps;

		memory_plan_begin(&plan, limits[i]);
		maps = plan.table_bytes + plan.rings_bytes;
		memory_plan_share(&plan, maps, plan.table_bytes + 2 * plan.rings_bytes);
		assert_int_equal(plan.limit_bytes, limits[i]);
		/* resident memory counts what is mapped once more, rings twice */
		assert_true(sum(&plan) + 2 * maps + plan.rings_bytes < limits[i]);
		assert_true(plan.table_bytes >= 4 * MB);
		assert_true(plan.queue_bytes >= MB / 2);
		assert_true(plan.parse_bytes > plan.symbol_bytes);
	}
}

static void test_default(void **state)
{
	struct memory_plan plan;

	(void)state;
	memory_plan_begin(&plan, 0);
	assert_int_equal(plan.limit_bytes, 128 * MB);
	memory_plan_begin(&plan, 120 * MB);
	assert_int_equal(plan.table_bytes, 12 * MB);
	assert_int_equal(plan.rings_bytes, 10 * MB);
	/* 28 MB are the program's own, 7 the maps', of which 17 are mapped: rings twice. */
	memory_plan_share(&plan, 7 * MB, 17 * MB);
	assert_int_equal(plan.parse_bytes, (120 - 28 - 7 - 17) * MB * 40 / 100);
	assert_int_equal(plan.symbol_bytes, (120 - 28 - 7 - 17) * MB * 30 / 100);
	assert_int_equal(plan.queue_bytes, (120 - 28 - 7 - 17) * MB * 15 / 100);
	assert_int_equal(plan.file_bytes, (120 - 28 - 7 - 17) * MB * 10 / 100);
}

/* Objects that are followed have a fifth of what all others share, and no more than they can use. */
static void test_followed_objects(void **state)
{
	struct memory_plan plan;

	(void)state;
	memory_plan_begin(&plan, 120 * MB);
	memory_plan_share(&plan, 7 * MB, 17 * MB);
	assert_int_equal(plan.object_bytes, 0);
	plan.follows_objects = true;
	memory_plan_share(&plan, 24 * MB, 34 * MB);
	/* 120 - 28 - 24 - 34 = 34 MB are left. */
	assert_int_equal(plan.object_bytes, 34 * MB / 5);
	assert_int_equal(plan.parse_bytes, (34 * MB - 34 * MB / 5) * 40 / 100);
	assert_int_equal(plan.queue_bytes, (34 * MB - 34 * MB / 5) * 15 / 100);
	memory_plan_begin(&plan, 1024 * MB);
	plan.follows_objects = true;
	memory_plan_share(&plan, 24 * MB, 34 * MB);
	assert_int_equal(plan.object_bytes, 8 * MB);
}

/* Maps of a host with very many cpus: something is left for each even so. */
static void test_maps_too_large(void **state)
{
	struct memory_plan plan;

	(void)state;
	memory_plan_begin(&plan, 48 * MB);
	memory_plan_share(&plan, 60 * MB, 0);
	assert_true(plan.queue_bytes > 0 && plan.symbol_bytes > 0 && plan.file_bytes > 0);
	assert_true(sum(&plan) <= 6 * MB);
}

static void test_guard(void **state)
{
	struct memory_guard guard;
	uint64_t now_ns = 100 * NSEC_PER_SEC;
	char *block;

	(void)state;
	memory_guard_init(&guard, 4096 * MB, 20 * MB);
	assert_false(memory_guard_wants_room(&guard, now_ns));
	memory_guard_init(&guard, 64 * MB, 20 * MB);
	block = malloc(60 * MB);
	assert_non_null(block);
	memset(block, 1, 60 * MB);
	assert_true(memory_guard_wants_room(&guard, now_ns));
	assert_false(memory_guard_wants_room(&guard, now_ns + NSEC_PER_MSEC));
	assert_true(memory_guard_wants_room(&guard, now_ns + NSEC_PER_SEC));
	assert_int_equal(guard.sheds, 2);
	free(block);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares_fit),
		cmocka_unit_test(test_default),
		cmocka_unit_test(test_followed_objects),
		cmocka_unit_test(test_maps_too_large),
		cmocka_unit_test(test_guard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
