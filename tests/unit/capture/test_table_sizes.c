// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "capture/table_sizes.h"
#include "wire.h"

/* What the kernel takes: struct htab_elem (kernel/bpf/hashtab.c) and a bucket of 16 bytes. */
#define HASH_EXTRA (48 + 16)

#define CPUS 4

static uint64_t bytes_of(const struct table_sizes *s)
{
	return s->blocks * sizeof(struct wire_block) + s->rules * sizeof(struct wire_rule) +
	       s->ranges * sizeof(struct wire_range) +
	       s->pages * (sizeof(struct wire_page_key) + sizeof(struct wire_page) + HASH_EXTRA) +
	       s->spaces * (8 + sizeof(struct wire_space) + HASH_EXTRA);
}

static void test_default(void **state)
{
	struct table_sizes sizes, same;

	(void)state;
	table_sizes_choose(0, CPUS, &sizes);
	assert_true(bytes_of(&sizes) <= TABLE_SIZES_DEFAULT_BYTES);
	assert_true(bytes_of(&sizes) >= TABLE_SIZES_DEFAULT_BYTES * 3 / 4);
	table_sizes_choose(TABLE_SIZES_DEFAULT_BYTES, CPUS, &same);
	assert_memory_equal(&sizes, &same, sizeof(sizes));
}

static void test_scaled(void **state)
{
	struct table_sizes usual, half;

	(void)state;
	table_sizes_choose(0, CPUS, &usual);
	table_sizes_choose(TABLE_SIZES_DEFAULT_BYTES / 2, CPUS, &half);
	assert_int_equal(half.blocks, usual.blocks / 2);
	assert_int_equal(half.rules, usual.rules / 2);
	assert_int_equal(half.ranges, usual.ranges / 2);
	assert_int_equal(half.pages, usual.pages / 2);
	assert_int_equal(half.spaces, usual.spaces / 2);
}

/* One process with a hundred files can still be walked; a rule's index has 16 bits. */
static void test_bounds(void **state)
{
	struct table_sizes sizes;

	(void)state;
	table_sizes_choose(1, CPUS, &sizes);
	assert_true(sizes.blocks >= 512 && sizes.rules >= 2048 && sizes.ranges >= 4096);
	assert_true(sizes.pages >= sizes.blocks && sizes.spaces >= 256);
	assert_true(bytes_of(&sizes) < 1 << 20);
	table_sizes_choose(UINT64_MAX, CPUS, &sizes);
	assert_int_equal(sizes.rules, 65536);
	assert_int_equal(sizes.blocks, 1 << 22);
	assert_int_equal(sizes.ranges, 1 << 22);
	assert_int_equal(sizes.pages, 1 << 22);
	assert_int_equal(sizes.spaces, 1 << 22);
}

static uint32_t hot_codes(uint64_t table_bytes, uint32_t cpus)
{
	struct table_sizes sizes;

	table_sizes_choose(table_bytes, cpus, &sizes);
	return sizes.hot_codes;
}

/* A quarter of the tables' memory, as long as each cpu has what it needs. */
static void test_hot_codes(void **state)
{
	(void)state;
	assert_int_equal(hot_codes(12 << 20, 2), WIRE_MAX_HOT_CODES);
	assert_int_equal(hot_codes(12 << 20, 12), WIRE_MAX_HOT_CODES);
	assert_int_equal(hot_codes(12 << 20, 13), WIRE_MAX_HOT_CODES / 2);
	assert_int_equal(hot_codes(6 << 20, 12), WIRE_MAX_HOT_CODES / 2);
	assert_int_equal(hot_codes(12 << 20, 1024), WIRE_HOT_CODES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default),
		cmocka_unit_test(test_scaled),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_hot_codes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
