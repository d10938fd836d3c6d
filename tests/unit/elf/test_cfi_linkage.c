/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <fcntl.h>
#include <string.h>

#include "elf/cfi/cfi_linkage.h"
#include "made_elf.h"

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

/* By the rows of the page that holds it: where the linker puts these sections they may cross the end of one. */
static uint32_t cfa_in_page(const struct cfi_linkage *linkage, uint64_t address)
{
	const struct cfi_row none = { 0 };
	struct cfi_rows rows = { VEC_INIT };
	uint32_t offset;

	vec_push(&rows.v, none);
	cfi_linkage_apply(linkage, address & ~4095ULL, &rows);
	assert_int_equal(rows.v.items[0].offset, 0);
	offset = (uint32_t)cfa_at(&rows, address);
	vec_release(&rows.v);
	return offset;
}

/* This program's, as its C library made them. */
static void test_own_file(void **state)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	_cleanup_(elf_file_closep) struct elf_file *elf = NULL;
	struct cfi_linkage linkage = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(elf_file_open(fd, &elf, &err), 0);
	cfi_linkage_find(&linkage, elf);
	for (size_t i = 0; i < 2; i++) {
		const struct cfi_linkage_part *part = &linkage.parts[i];

		assert_true(part->start < part->pushed && part->pushed < part->popped);
		assert_int_equal(part->popped + 1, part->end);
		assert_int_equal(cfa_in_page(&linkage, part->start), 8);
		assert_int_equal(cfa_in_page(&linkage, part->pushed - 1), 8);
		assert_int_equal(cfa_in_page(&linkage, part->pushed), 16);
		assert_int_equal(cfa_in_page(&linkage, part->popped - 1), 16);
		assert_int_equal(cfa_in_page(&linkage, part->popped), 8);
		assert_int_equal(cfa_in_page(&linkage, part->end), 0);
	}
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

/* How many parts there are in a file whose .init has these bytes; what is behind the push. */
static size_t part_of(const void *code, size_t len, uint64_t address, uint64_t *ret_pushed)
{
	struct cfi_linkage linkage = { 0 };
	struct elf_file *file;
	struct cfi_elf elf;
	unsigned int at;

	made_begin(&elf);
	at = made_section(&elf, ".init", SHT_PROGBITS, code, len);
	elf.sections[at].sh_addr = address;
	file = made_open(&elf, 0);
	cfi_linkage_find(&linkage, file);
	made_close(&elf, file);
	*ret_pushed = linkage.parts[0].pushed;
	if (linkage.count) {
		assert_int_equal(linkage.parts[0].start, address);
		assert_int_equal(linkage.parts[0].popped, address + len - 1);
		assert_int_equal(linkage.parts[0].end, address + len);
		assert_false(linkage.parts[0].rbp);
	}
	return linkage.count;
}

#define PART(at, ...)                                                                           \
	part_of((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }), at, \
		&pushed)

/* glibc's and musl's, with endbr64 or without; a byte of them is another, or missing. */
static void test_forms(void **state)
{
	uint64_t pushed;

	(void)state;
	assert_int_equal(PART(0x1000, 0x48, 0x83, 0xec, 8, 0x48, 0x83, 0xc4, 8, 0xc3), 1);
	assert_int_equal(pushed, 0x1004);
	assert_int_equal(PART(0x1000, 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 8, 0x90, 0x48, 0x83,
			      0xc4, 8, 0xc3),
			 1);
	assert_int_equal(pushed, 0x1008);
	assert_int_equal(PART(0x1000, 0x50, 0x58, 0xc3), 1);
	assert_int_equal(pushed, 0x1001);
	assert_int_equal(PART(0x1000, 0xf3, 0x0f, 0x1e, 0xfa, 0x50, 0x90, 0x58, 0xc3), 1);
	assert_int_equal(pushed, 0x1005);
	/* either end with either beginning */
	assert_int_equal(PART(0x1000, 0x50, 0x48, 0x83, 0xc4, 8, 0xc3), 1);
	assert_int_equal(PART(0x1000, 0x48, 0x83, 0xec, 8, 0x58, 0xc3), 1);
	/* the beginning is part of no end, nor the other way round */
	assert_int_equal(PART(0x1000, 0x50, 0xc3), 0);
	assert_int_equal(PART(0x1000, 0x50), 0);
	assert_int_equal(PART(0x1000, 0x48, 0x83, 0xec, 8), 0);
	assert_int_equal(PART(0x1000, 0x48, 0x83, 0xec, 8, 0xc3), 0);
	assert_int_equal(PART(0x1000, 0x48, 0x83, 0xec, 8, 0x83, 0xc4, 8, 0xc3), 0);
	assert_int_equal(PART(0x1000, 0xf3, 0x0f, 0x1e, 0xfa), 0);
	assert_int_equal(PART(0x1000, 0xf3, 0x0f, 0x1e, 0xfa, 0x58, 0xc3), 0);
	assert_int_equal(PART(0x1000, 0xf3, 0x0f, 0x1e, 0xfb, 0x50, 0x58, 0xc3), 0);
	assert_int_equal(PART(0x1000, 0x48, 0x83, 0xec, 16, 0x48, 0x83, 0xc4, 16, 0xc3), 0);
	assert_int_equal(PART(0x1000, 0x51, 0x58, 0xc3), 0);
	assert_int_equal(PART(0x1000, 0x50, 0x58, 0xc2), 0);
	assert_int_equal(PART(0x1000, 0x50, 0x59, 0xc3), 0);
}

/* Old compilers' are longer, up to a page; it has an address, and does not wrap. */
static void test_sizes_and_addresses(void **state)
{
	static uint8_t code[4097];
	uint64_t pushed;

	(void)state;
	memset(code, 0x90, sizeof(code));
	code[0] = 0x50;
	memcpy(code + 4094, "\x58\xc3", 2);
	assert_int_equal(part_of(code, 4096, 0x1000, &pushed), 1);
	memcpy(code + 4095, "\x58\xc3", 2);
	assert_int_equal(part_of(code, 4097, 0x1000, &pushed), 0);
	assert_int_equal(PART(0, 0x50, 0x58, 0xc3), 0);
	assert_int_equal(PART(1, 0x50, 0x58, 0xc3), 1);
	assert_int_equal(PART(UINT64_MAX - 4096, 0x50, 0x58, 0xc3), 1);
	assert_int_equal(PART(UINT64_MAX - 4095, 0x50, 0x58, 0xc3), 0);
}

/* A part that lies in one page only, and touches its ends. */
static void test_touching_pages(void **state)
{
	const struct cfi_linkage linkage = { { { 0x1000, 0x1001, 0x1fff, 0x2000, true } }, 1 };
	struct cfi_rows rows = { VEC_INIT };
	const struct cfi_row none = { 0 };

	(void)state;
	for (uint64_t page = 0; page <= 0x2000; page += 0x2000) {
		rows.v.len = 0;
		vec_push(&rows.v, none);
		cfi_linkage_apply(&linkage, page, &rows);
		assert_int_equal(rows.v.len, 1);
		assert_int_equal(rows.v.items[0].rule.kind, WIRE_RULE_NONE);
	}
	cfi_linkage_apply(&linkage, 0x1000, &rows);
	assert_int_equal(rows.v.len, 3);
	assert_int_equal(cfa_at(&rows, 0x1000), 8);
	assert_int_equal(rows.v.items[0].rule.rbp_slot, WIRE_SLOT_SAME);
	assert_int_equal(cfa_at(&rows, 0x1001), 16);
	assert_int_equal(rows.v.items[1].rule.rbp_slot, 2);
	assert_int_equal(cfa_at(&rows, 0x1fff), 8);
	vec_release(&rows.v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_file),       cmocka_unit_test(test_pages),
		cmocka_unit_test(test_forms),	       cmocka_unit_test(test_sizes_and_addresses),
		cmocka_unit_test(test_touching_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
