/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <fcntl.h>
#include <string.h>

#include "elf/cfi/cfi_linkage.h"

static const struct wire_rule *rule_at(const struct cfi_rows *rows, uint32_t offset)
{
	const struct wire_rule *rule = NULL;

	for (size_t i = 0; i < rows->v.len && rows->v.items[i].offset <= offset; i++)
		rule = &rows->v.items[i].rule;
	return rule;
}

static int32_t cfa_at(const struct cfi_rows *rows, uint64_t address)
{
	const struct wire_rule *rule = rule_at(rows, address & (WIRE_PAGE_BYTES - 1));

	assert_non_null(rule);
	if (!rule || rule->kind == WIRE_RULE_NONE)
		return 0;
	assert_int_equal(rule->kind, WIRE_RULE_CFA);
	assert_int_equal(rule->cfa_reg, 7);
	assert_int_equal(rule->ra_slot, 1);
	return rule->cfa_offset;
}

/* This program's, as its C library made them. */
static void test_own_file(void **state)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	_cleanup_(elf_file_closep) struct elf_file *elf = NULL;
	struct cfi_linkage linkage = { 0 };
	struct cfi_rows rows = { VEC_INIT };
	const struct cfi_row none = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(elf_file_open(fd, &elf, &err), 0);
	cfi_linkage_find(&linkage, elf);
	for (size_t i = 0; i < 2; i++) {
		const struct cfi_linkage_part *part = &linkage.parts[i];

		assert_true(part->start < part->pushed && part->pushed < part->popped);
		assert_int_equal(part->popped + 1, part->end);
		rows.v.len = 0;
		vec_push(&rows.v, none);
		cfi_linkage_apply(&linkage, part->start & ~4095ULL, &rows);
		assert_int_equal(rows.v.items[0].offset, 0);
		assert_int_equal(cfa_at(&rows, part->start), 8);
		assert_int_equal(cfa_at(&rows, part->pushed - 1), 8);
		assert_int_equal(cfa_at(&rows, part->pushed), 16);
		assert_int_equal(cfa_at(&rows, part->popped - 1), 16);
		assert_int_equal(cfa_at(&rows, part->popped), 8);
		assert_int_equal(cfa_at(&rows, part->end), 0);
	}
	vec_release(&rows.v);
}

/* Across a page's end, and beside it. */
static void test_pages(void **state)
{
	const struct cfi_linkage linkage = { { { 0x1ffc, 0x2000, 0x2010, 0x2011, false } }, 1 };
	struct cfi_rows rows = { VEC_INIT };
	const struct cfi_row none = { 0 };

	(void)state;
	vec_push(&rows.v, none);
	cfi_linkage_apply(&linkage, 0x3000, &rows);
	assert_int_equal(rows.v.len, 1);
	cfi_linkage_apply(&linkage, 0x1000, &rows);
	assert_int_equal(rows.v.len, 2);
	assert_int_equal(cfa_at(&rows, 0x1ffb), 0);
	assert_int_equal(cfa_at(&rows, 0x1ffc), 8);
	rows.v.len = 1;
	cfi_linkage_apply(&linkage, 0x2000, &rows);
	assert_int_equal(cfa_at(&rows, 0x2000), 16);
	assert_int_equal(cfa_at(&rows, 0x2010), 8);
	assert_int_equal(cfa_at(&rows, 0x2011), 0);
	vec_release(&rows.v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_file),
		cmocka_unit_test(test_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
