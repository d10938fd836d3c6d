// SPDX-License-Identifier: Apache-2.0
/* Returns that call frame information says nothing of: behind leave and pop %rbp, where it has the frame by %rbp yet. */
#include "test.h"

#include "elf/infer/infer_epilogue.h"
#include "infer_fixture.h"

static const struct wire_rule framed = { .kind = WIRE_RULE_CFA,
					 .cfa_reg = DWARF_RBP,
					 .cfa_offset = 16,
					 .ra_slot = 1,
					 .rbp_slot = 2,
					 .rbx_slot = 3 };
static const struct wire_rule by_rsp = {
	.kind = WIRE_RULE_CFA, .cfa_reg = DWARF_RSP, .cfa_offset = 16, .ra_slot = 1
};

/* Offsets of the rows that it adds, of which each first one is a return's. */
static void expect_returns(const struct wire_rule *rule, uint32_t at, const uint8_t *code,
			   size_t len, const uint32_t *wanted, size_t count)
{
	struct cfi_rows rows = { VEC_INIT };
	size_t i = 1;

	cfi_rows_put(&rows, 0, rule);
	infer_epilogues(&rows, at, code, len);
	assert_int_equal(rows.v.len, 1 + 2 * count);
	assert_memory_equal(&rows.v.items[0].rule, rule, sizeof(*rule));
	for (size_t k = 0; k < count; k++, i += 2) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		infer_add_rule(&text, &rows.v.items[i].rule);
		assert_string_equal(strbuf_str(&text), "rsp+8");
		assert_int_equal(rows.v.items[i].offset, wanted[k]);
		assert_memory_equal(&rows.v.items[i + 1].rule, rule, sizeof(*rule));
		assert_int_equal(rows.v.items[i + 1].offset, wanted[k] + 1);
	}
	vec_release(&rows.v);
}

static void behind_what_restores_it(void **state)
{
	/* leave; ret; pop %rbp; ret; pop %rbx; ret; ret */
	static const uint8_t code[] = { 0xc9, 0xc3, 0x5d, 0xc3, 0x5b, 0xc3, 0xc3 };

	(void)state;
	expect_returns(&framed, 0x100, code, sizeof(code), (const uint32_t[]){ 0x101, 0x103 }, 2);
	expect_returns(&framed, 0, code, sizeof(code), (const uint32_t[]){ 1, 3 }, 2);
	/* What is before its code, or behind it, is not known. */
	expect_returns(&framed, 0x100, code + 1, 2, NULL, 0);
	expect_returns(&framed, 0x100, code, 1, NULL, 0);
	expect_returns(&framed, 0x100, code, 0, NULL, 0);
}

static void where_the_record_knows(void **state)
{
	static const uint8_t code[] = { 0xc9, 0xc3 };
	struct wire_rule other = framed;

	(void)state;
	expect_returns(&by_rsp, 0x100, code, sizeof(code), NULL, 0);
	other.cfa_offset = 32; /* %rbp is no frame pointer */
	expect_returns(&other, 0x100, code, sizeof(code), NULL, 0);
	other = framed;
	other.kind = WIRE_RULE_END;
	expect_returns(&other, 0x100, code, sizeof(code), NULL, 0);
}

/* Of several rows only those that have the frame by %rbp. */
static void rows_in_turn(void **state)
{
	static const uint8_t code[] = { 0xc9, 0xc3, 0x90, 0xc9, 0xc3, 0x90, 0xc9, 0xc3 };
	struct cfi_rows rows = { VEC_INIT };

	(void)state;
	cfi_rows_put(&rows, 0, &framed);
	cfi_rows_put(&rows, 3, &by_rsp);
	cfi_rows_put(&rows, 5, &framed);
	infer_epilogues(&rows, 0, code, sizeof(code));
	assert_int_equal(rows.v.len, 7);
	assert_int_equal(rows.v.items[1].offset, 1);
	assert_int_equal(rows.v.items[2].offset, 2);
	assert_int_equal(rows.v.items[3].offset, 3);
	assert_memory_equal(&rows.v.items[3].rule, &by_rsp, sizeof(by_rsp));
	assert_int_equal(rows.v.items[4].offset, 5);
	assert_int_equal(rows.v.items[5].offset, 7);
	vec_release(&rows.v);
}

/* No row begins behind the page. */
static void at_the_end_of_a_page(void **state)
{
	static const uint8_t code[] = { 0xc9, 0xc3 };
	struct cfi_rows rows = { VEC_INIT };

	(void)state;
	cfi_rows_put(&rows, 0, &framed);
	infer_epilogues(&rows, WIRE_PAGE_BYTES - sizeof(code), code, sizeof(code));
	assert_int_equal(rows.v.len, 2);
	assert_int_equal(rows.v.items[1].offset, WIRE_PAGE_BYTES - 1);
	vec_release(&rows.v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(behind_what_restores_it),
		cmocka_unit_test(where_the_record_knows),
		cmocka_unit_test(rows_in_turn),
		cmocka_unit_test(at_the_end_of_a_page),
	};

	return cmocka_run_group_tests_name("infer_epilogue", tests, NULL, NULL);
}
