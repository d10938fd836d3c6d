// SPDX-License-Identifier: Apache-2.0
/* The entry code of a Rust program that was built with -C panic=abort. */
#include "test.h"

#include "cfi_frames.h"
#include "elf/cfi/cfi_main.h"

#define MAIN 0x1ff8UL /* over the end of a page */

static const uint8_t rust_main[] = {
	0x50,				    /* push %rax */
	0x48, 0x89, 0xf1,		    /* mov %rsi,%rcx */
	0x48, 0x89, 0xe7,		    /* mov %rsp,%rdi */
	0xff, 0x15, 0x53, 0x21, 0x04, 0x00, /* call *0x42153(%rip) */
	0x59,				    /* pop %rcx */
	0xc3,				    /* ret */
};

/* _start at 0x1000 with `lea main(%rip),%rdi`; it has an FDE, main none unless WITH_FDE. */
static void open_program(struct frames *f, const uint8_t *code, size_t len, bool with_fde)
{
	static const uint8_t lea[] = { 0x48, 0x8d, 0x3d };
	struct cfi_parts parts = { .entry = CFI_TEXT };
	int32_t distance = (int32_t)(MAIN - (CFI_TEXT + 4 + 7));
	struct err err;

	frames_usual_cie(f);
	frames_fde(f, CFI_TEXT, 0x20, PROGRAM(DW_CFA_undefined, 16));
	if (with_fde)
		frames_fde(f, MAIN, len, PROGRAM(DW_CFA_def_cfa_offset, 64));
	frames_number(&f->bytes, 0, 4);
	parts.eh_frame = f->bytes.buf;
	parts.eh_frame_len = f->bytes.len;
	cfi_elf_build(&parts, &f->elf);
	memcpy(f->elf.buf + CFI_TEXT + 4, lea, sizeof(lea));
	memcpy(f->elf.buf + CFI_TEXT + 7, &distance, sizeof(distance));
	memcpy(f->elf.buf + MAIN, code, len);
	assert_int_equal(cfi_file_open_memory(f->elf.buf, f->elf.len, &f->file, &err), 0);
}

static void main_without_an_fde(void **state)
{
	const uint64_t end = MAIN + sizeof(rust_main);
	_cleanup_frames_ struct frames f = { 0 };

	(void)state;
	open_program(&f, rust_main, sizeof(rust_main), false);
	assert_int_equal(frames_at(&f, MAIN - 1).kind, WIRE_RULE_NONE);
	assert_int_equal(frames_at(&f, MAIN).cfa_offset, 8);
	for (uint64_t at = MAIN; at < end; at++) {
		assert_int_equal(frames_at(&f, at).kind, WIRE_RULE_CFA);
		assert_int_equal(frames_at(&f, at).cfa_reg, 7);
		assert_int_equal(frames_at(&f, at).ra_slot, 1);
	}
	assert_int_equal(frames_at(&f, MAIN + 1).cfa_offset, 16);
	assert_int_equal(frames_at(&f, end - 2).cfa_offset, 16);
	assert_int_equal(frames_at(&f, end - 1).cfa_offset, 8);
	assert_int_equal(frames_at(&f, end).kind, WIRE_RULE_NONE);
	assert_int_equal(frames_at(&f, CFI_TEXT).kind, WIRE_RULE_END);
}

/* The instruction may be the last that was read, and one byte less is not enough. */
static void the_place_of_main(void **state)
{
	uint8_t code[64];

	(void)state;
	for (size_t at = 0; at + 7 <= sizeof(code); at++) {
		static const uint8_t lea[] = { 0x48, 0x8d, 0x3d, 0x10, 0, 0, 0 };
		static const uint8_t mov[] = { 0x48, 0xc7, 0xc7, 0x10, 0x20, 0x40, 0 };

		memset(code, 0x90, sizeof(code));
		memcpy(code + at, lea, sizeof(lea));
		assert_int_equal(cfi_main_address(code, at + 7, 0x1000), 0x1000 + at + 7 + 0x10);
		assert_int_equal(cfi_main_address(code, at + 6, 0x1000), 0);
		memcpy(code + at, mov, sizeof(mov));
		assert_int_equal(cfi_main_address(code, at + 7, 0x1000), 0x402010);
		assert_int_equal(cfi_main_address(code, at + 6, 0x1000), 0);
	}
}

/* Rust's main to its last byte, at any length that its call may have before it. */
static void the_end_of_main(void **state)
{
	uint8_t code[CFI_MAIN_MAX_BYTES + 8];
	struct cfi_main found;

	(void)state;
	for (size_t at = 1; at + 8 <= sizeof(code); at++) {
		memset(code, 0x90, sizeof(code));
		code[0] = 0x50;
		memcpy(code + at, rust_main + 7, 8);
		if (at + 8 > CFI_MAIN_MAX_BYTES) {
			assert_false(cfi_main_match(code, sizeof(code), MAIN, &found));
			continue;
		}
		assert_true(cfi_main_match(code, at + 8, MAIN, &found));
		assert_int_equal(found.start, MAIN);
		assert_int_equal(found.end, MAIN + at + 8);
		assert_false(cfi_main_match(code, at + 7, MAIN, &found));
		code[0] = 0x51;
		assert_false(cfi_main_match(code, at + 8, MAIN, &found));
	}
	assert_false(cfi_main_match(code, 0, MAIN, &found));
}

static void an_fde_has_the_word(void **state)
{
	_cleanup_frames_ struct frames f = { 0 };

	(void)state;
	open_program(&f, rust_main, sizeof(rust_main), true);
	assert_int_equal(frames_at(&f, MAIN + 1).cfa_offset, 64);
}

/* Nothing calls it, and it does not return: _start alone says that a function begins there. */
static void a_main_that_never_returns(void **state)
{
	_cleanup_frames_ struct frames f = { 0 };
	uint8_t code[] = { 0x53, 0x48, 0x89, 0xf3, 0xe8, 0, 0, 0, 0 };
	const int32_t distance = (int32_t)(CFI_TEXT - (MAIN + sizeof(code)));
	struct wire_rule rule;

	(void)state;
	memcpy(code + 5, &distance, sizeof(distance));
	open_program(&f, code, sizeof(code), false);
	rule = frames_at(&f, MAIN + sizeof(code) - 1);
	assert_int_equal(rule.kind, WIRE_RULE_CFA);
	assert_int_equal(rule.cfa_offset, 16);
	assert_int_equal(rule.rbx_slot, 2);
	assert_int_equal(rule.cfa_index, WIRE_INFERRED);
}

static void other_code_is_not_guessed_at(void **state)
{
	uint8_t code[sizeof(rust_main)];
	struct wire_rule rule;

	(void)state;
	for (size_t i = 0; i < sizeof(code); i++) {
		_cleanup_frames_ struct frames f = { 0 };

		/* of the distance in the call, and of what is loaded for it, nothing is expected */
		if (i != 0 && i != 7 && i != 8 && i < 13)
			continue;
		memcpy(code, rust_main, sizeof(code));
		code[i] ^= 1;
		open_program(&f, code, sizeof(code), false);
		rule = frames_at(&f, MAIN + 1);
		/* the code itself may tell (elf/infer/) */
		assert_true(rule.kind == WIRE_RULE_NONE || (rule.cfa_index & WIRE_INFERRED));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(main_without_an_fde),
		cmocka_unit_test(the_place_of_main),
		cmocka_unit_test(the_end_of_main),
		cmocka_unit_test(an_fde_has_the_word),
		cmocka_unit_test(a_main_that_never_returns),
		cmocka_unit_test(other_code_is_not_guessed_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
