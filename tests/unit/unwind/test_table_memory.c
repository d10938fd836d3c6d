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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_spaces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
