// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "capture/cpu_list.h"

static void expect(const char *text, unsigned int size, const char *bits)
{
	_cleanup_(cpu_list_release) struct cpu_list list = { 0 };

	assert_int_equal(cpu_list_parse(text, strlen(text), &list), 0);
	assert_int_equal(list.size, size);
	for (unsigned int cpu = 0; cpu < size; cpu++)
		assert_int_equal(list.has[cpu], bits[cpu] == '1');
}

static void test_lists(void **state)
{
	(void)state;
	expect("0\n", 1, "1");
	expect("0-3\n", 4, "1111");
	expect("1,3-4,7", 8, "01011001");
	expect("5,0", 6, "100001");
}

static void test_malformed(void **state)
{
	static const char *const texts[] = { "", "\n", ",", "0,", "-1", "3-1", "0-", "a", "0 1" };
	struct cpu_list list = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_int_equal(cpu_list_parse(texts[i], strlen(texts[i]), &list), -EBADMSG);
	assert_int_equal(cpu_list_parse("0-8192", 6, &list), -E2BIG);
	assert_int_equal(cpu_list_parse("99999999999", 11, &list), -E2BIG);
	assert_null(list.has);
}

static void test_this_machine(void **state)
{
	_cleanup_(cpu_list_release) struct cpu_list online = { 0 };
	_cleanup_(cpu_list_release) struct cpu_list possible = { 0 };

	(void)state;
	assert_int_equal(cpu_list_read_online(&online), 0);
	assert_int_equal(cpu_list_read_possible(&possible), 0);
	assert_true(online.size >= 1 && possible.size >= online.size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
