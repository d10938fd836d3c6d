// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <errno.h>

#include "unwind/tables/rule_set.h"
#include "unwind/tables/table_memory.h"

#define RULES 8

static struct wire_rule table[RULES];

static int ref_rule(struct rule_set *set, int32_t number, uint64_t now_ns, uint16_t *ret_index)
{
	struct wire_rule rule = { .kind = WIRE_RULE_CFA, .cfa_offset = number };
	int ret = rule_set_ref(set, &rule, now_ns, ret_index);

	if (ret == 0)
		assert_int_equal(table[*ret_index].cfa_offset, number);
	return ret;
}

static void test_counted(void **state)
{
	struct rule_set set;
	uint16_t a, b, c;

	(void)state;
	rule_set_init(&set, table, RULES);
	assert_int_equal(ref_rule(&set, 10, 0, &a), 0);
	assert_int_equal(ref_rule(&set, 20, 0, &b), 0);
	assert_int_equal(ref_rule(&set, 10, 0, &c), 0);
	assert_int_equal(a, c);
	assert_int_not_equal(a, b);
	assert_int_not_equal(a, 0);
	assert_int_equal(set.used, 2);
	assert_int_equal(rule_set_free(&set), RULES - 1 - 2);
	rule_set_unref(&set, a, 5);
	assert_int_equal(set.used, 2);
	rule_set_unref(&set, a, 6);
	assert_int_equal(set.used, 1);
	assert_int_equal(set.idle, 1);
	assert_int_equal(rule_set_idle_since(&set), 6);
	/* It comes back under its index, and goes idle anew. */
	assert_int_equal(ref_rule(&set, 10, 7, &c), 0);
	assert_int_equal(a, c);
	assert_int_equal(set.idle, 0);
	rule_set_unref(&set, 0, 8);
	assert_int_equal(set.used, 2);
	rule_set_release(&set);
}

/* An index is written again no sooner than readers are through, oldest first. */
static void test_indexes_rest(void **state)
{
	struct rule_set set;
	uint16_t index[RULES], other;

	(void)state;
	rule_set_init(&set, table, RULES);
	for (int i = 1; i < RULES; i++)
		assert_int_equal(ref_rule(&set, i * 100, 0, &index[i]), 0);
	assert_int_equal(ref_rule(&set, 1, 0, &other), -EAGAIN);
	rule_set_unref(&set, index[5], 1000);
	rule_set_unref(&set, index[2], 2000);
	rule_set_unref(&set, index[7], 3000);
	assert_int_equal(ref_rule(&set, 1, 999 + READERS_NS, &other), -EAGAIN);
	assert_int_equal(table[index[5]].cfa_offset, 500);
	/* The middle one of the idle ones is wanted again. */
	assert_int_equal(ref_rule(&set, 200, 4000, &other), 0);
	assert_int_equal(other, index[2]);
	assert_int_equal(ref_rule(&set, 1, 1000 + READERS_NS, &other), 0);
	assert_int_equal(other, index[5]);
	assert_int_equal(ref_rule(&set, 2, 1000 + READERS_NS, &other), -EAGAIN);
	assert_int_equal(ref_rule(&set, 2, 3000 + READERS_NS, &other), 0);
	assert_int_equal(other, index[7]);
	assert_int_equal(set.idle, 0);
	/* What was overwritten is a new rule now. */
	assert_int_equal(ref_rule(&set, 500, UINT64_MAX, &other), -EAGAIN);
	rule_set_release(&set);
}

static void test_no_table(void **state)
{
	struct rule_set set;
	struct wire_rule none = { .kind = WIRE_RULE_NONE, .cfa_offset = 5 };
	uint16_t index = 7;

	(void)state;
	rule_set_init(&set, table, 1);
	assert_int_equal(rule_set_free(&set), 0);
	assert_int_equal(rule_set_ref(&set, &none, 0, &index), 0);
	assert_int_equal(index, 0);
	assert_int_equal(ref_rule(&set, 1, 0, &index), -EAGAIN);
	rule_set_release(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counted),
		cmocka_unit_test(test_indexes_rest),
		cmocka_unit_test(test_no_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
