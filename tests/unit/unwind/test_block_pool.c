// SPDX-License-Identifier: Apache-2.0
/* Free blocks: fresh ones first, then those given up, oldest first, once no reader can hold them. */
#include "test.h"

#include "unwind/tables/block_pool.h"
#include "unwind/tables/quarantine.h"

#define NOW 1000000000ULL

static struct block_pool pool;

static int tear_down(void **state)
{
	(void)state;
	block_pool_release(&pool);
	return 0;
}

/* Block 0 is none. */
static void fresh_blocks(void **state)
{
	(void)state;
	block_pool_init(&pool, 4);
	assert_int_equal(pool.total, 3);
	for (uint32_t i = 1; i <= 3; i++) {
		assert_int_equal(pool.free, 4 - i);
		assert_int_equal(block_pool_take(&pool, NOW), i);
	}
	assert_int_equal(pool.free, 0);
	assert_int_equal(block_pool_take(&pool, NOW), 0);
	assert_int_equal(pool.free, 0);
}

static void a_pool_of_none(void **state)
{
	(void)state;
	for (uint32_t count = 0; count < 2; count++) {
		block_pool_init(&pool, count);
		assert_int_equal(pool.total, 0);
		assert_int_equal(pool.free, 0);
		assert_int_equal(block_pool_take(&pool, NOW), 0);
		block_pool_release(&pool);
	}
}

static void blocks_that_were_given_up(void **state)
{
	(void)state;
	block_pool_init(&pool, 5);
	for (uint32_t i = 1; i <= 4; i++)
		block_pool_take(&pool, NOW);
	block_pool_give(&pool, 3, NOW);
	block_pool_give(&pool, 1, NOW + 10);
	block_pool_give(&pool, 2, NOW + 20);
	assert_int_equal(pool.free, 3);
	assert_int_equal(block_pool_oldest_ns(&pool), NOW);
	/* Readers may have the first one, and so all of them. */
	assert_int_equal(block_pool_take(&pool, NOW + READERS_NS - 1), 0);
	assert_int_equal(pool.free, 3);
	assert_int_equal(block_pool_take(&pool, NOW + READERS_NS), 3);
	assert_int_equal(pool.free, 2);
	assert_int_equal(block_pool_oldest_ns(&pool), NOW + 10);
	assert_int_equal(block_pool_take(&pool, NOW + READERS_NS), 0);
	assert_int_equal(block_pool_take(&pool, NOW + READERS_NS + 20), 1);
	assert_int_equal(block_pool_take(&pool, NOW + READERS_NS + 20), 2);
	assert_int_equal(pool.free, 0);
	assert_int_equal(block_pool_take(&pool, NOW + 2 * READERS_NS), 0);
	/* From the beginning, when the last one was taken. */
	block_pool_give(&pool, 4, NOW);
	block_pool_give(&pool, 2, NOW);
	assert_int_equal(block_pool_take(&pool, NOW + READERS_NS), 4);
	assert_int_equal(block_pool_take(&pool, NOW + READERS_NS), 2);
	assert_int_equal(block_pool_take(&pool, NOW + READERS_NS), 0);
}

static void a_fresh_one_goes_first(void **state)
{
	(void)state;
	block_pool_init(&pool, 3);
	assert_int_equal(block_pool_take(&pool, NOW), 1);
	block_pool_give(&pool, 1, NOW);
	assert_int_equal(block_pool_take(&pool, NOW + READERS_NS), 2);
	assert_int_equal(block_pool_take(&pool, NOW + READERS_NS), 1);
}

/* --- the time that readers have --------------------------------------------------------------- */

static void when_it_begins(void **state)
{
	uint64_t before = clock_now_ns(), begin = quarantine_begin(0), after = clock_now_ns();

	(void)state;
	/* A caller's time may be old, and is not believed then; one that is ahead is. */
	assert_in_range(begin, before, after);
	assert_true(quarantine_begin(UINT64_MAX - 1) == UINT64_MAX - 1);
}

static void when_it_is_over(void **state)
{
	uint64_t before;

	(void)state;
	assert_false(quarantine_is_over(NOW, NOW + READERS_NS - 1));
	assert_true(quarantine_is_over(NOW, NOW + READERS_NS));
	assert_int_equal(quarantine_wait(NOW, NOW + READERS_NS + 5), NOW + READERS_NS + 5);
	assert_int_equal(quarantine_wait(NOW, NOW + READERS_NS), NOW + READERS_NS);
	/* It sleeps for what is left. */
	before = clock_now_ns();
	assert_int_equal(quarantine_wait(NOW, NOW + READERS_NS - 3000000), NOW + READERS_NS);
	assert_true(clock_now_ns() - before >= 3000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(fresh_blocks, tear_down),
		cmocka_unit_test_teardown(a_pool_of_none, tear_down),
		cmocka_unit_test_teardown(blocks_that_were_given_up, tear_down),
		cmocka_unit_test_teardown(a_fresh_one_goes_first, tear_down),
		cmocka_unit_test(when_it_begins),
		cmocka_unit_test(when_it_is_over),
	};

	return cmocka_run_group_tests_name("block_pool", tests, NULL, NULL);
}
