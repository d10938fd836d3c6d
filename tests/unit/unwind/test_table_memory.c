// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <errno.h>

#include "heap_tables.h"
#include "unwind/tables/table_memory.h"

static void test_pages(void **state)
{
	struct table_memory *memory = table_memory_new_heap(3, 5, 7);
	struct wire_page_key a = { 1, 2 }, b = { 2, 1 };
	struct wire_page page = { 2, 9 };

	(void)state;
	assert_int_equal(memory->block_count, 3);
	assert_int_equal(memory->rule_count, 5);
	assert_int_equal(memory->range_count, 7);
	assert_int_equal(memory->rules[0].kind, WIRE_RULE_NONE);
	memory->page_limit = 1;
	assert_int_equal(memory->set_page(&a, NULL, memory->data), -ENOENT);
	assert_int_equal(memory->set_page(&a, &page, memory->data), 0);
	assert_int_equal(memory->set_page(&b, &page, memory->data), -E2BIG);
	assert_int_equal(memory->set_page(&a, &page, memory->data), 0);
	assert_int_equal(memory->set_page(&a, NULL, memory->data), 0);
	assert_int_equal(memory->set_page(&b, &page, memory->data), 0);
	table_memory_free_heap(memory);
}

static void test_spaces(void **state)
{
	struct table_memory *memory = table_memory_new_heap(1, 1, 1);
	struct wire_space space = { .start_ns = 4, .strays = 3 }, other = {};

	(void)state;
	memory->space_limit = 1;
	assert_int_equal(memory->get_space(7, &other, memory->data), -ENOENT);
	assert_int_equal(memory->set_space(7, NULL, memory->data), -ENOENT);
	assert_int_equal(memory->set_space(7, &space, memory->data), 0);
	assert_int_equal(memory->set_space(8, &space, memory->data), -E2BIG);
	space.strays = 5;
	assert_int_equal(memory->set_space(7, &space, memory->data), 0);
	assert_int_equal(memory->get_space(7, &other, memory->data), 0);
	assert_memory_equal(&other, &space, sizeof(space));
	assert_int_equal(memory->set_space(7, NULL, memory->data), 0);
	assert_int_equal(memory->get_space(7, &other, memory->data), -ENOENT);
	table_memory_free_heap(memory);
	table_memory_free_heap(NULL);
}

/* One is replaced or taken away, others stay. */
static void test_jvms(void **state)
{
	struct table_memory *memory = table_memory_new_heap(1, 1, 1);
	struct wire_jvm one = { .serial = 1, .code_start = 11 }, two = { .serial = 2 };

	(void)state;
	assert_null(table_memory_heap_jvm(memory, 1));
	assert_int_equal(memory->set_jvm(1, &one, memory->data), 0);
	assert_int_equal(memory->set_jvm(2, &two, memory->data), 0);
	assert_memory_equal(table_memory_heap_jvm(memory, 1), &one, sizeof(one));
	assert_memory_equal(table_memory_heap_jvm(memory, 2), &two, sizeof(two));
	one.code_start = 12;
	assert_int_equal(memory->set_jvm(1, &one, memory->data), 0);
	assert_memory_equal(table_memory_heap_jvm(memory, 1), &one, sizeof(one));
	assert_int_equal(memory->set_jvm(1, NULL, memory->data), 0);
	assert_null(table_memory_heap_jvm(memory, 1));
	assert_non_null(table_memory_heap_jvm(memory, 2));
	table_memory_free_heap(memory);
}

static void test_far_blobs(void **state)
{
	struct table_memory *memory = table_memory_new_heap(1, 1, 1);
	struct wire_far_key one = { .segment = 0x1000 }, other = { .segment = 0x2000 };

	(void)state;
	assert_true(table_memory_heap_far_blob(memory, &one) == 0);
	assert_int_equal(memory->set_far_blob(&one, 77, memory->data), 0);
	assert_true(table_memory_heap_far_blob(memory, &one) == 77);
	assert_true(table_memory_heap_far_blob(memory, &other) == 0);
	table_memory_free_heap(memory);
}

static void test_limits(void **state)
{
	struct table_memory *memory = table_memory_new_heap(3, 5, 7);

	(void)state;
	assert_int_equal(memory->page_limit, 6);
	assert_int_equal(memory->space_limit, 7);
	table_memory_free_heap(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),  cmocka_unit_test(test_spaces),
		cmocka_unit_test(test_jvms),   cmocka_unit_test(test_far_blobs),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
