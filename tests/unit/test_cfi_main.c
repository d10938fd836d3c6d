// SPDX-License-Identifier: Apache-2.0
/* The entry code of a Rust program that was built with -C panic=abort. */
#include "test.h"

#include "cfi_frames.h"
#include "elf/cfi_main.h"

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
	assert_int_equal(frames_at(&f, MAIN + 1).kind, WIRE_RULE_CFA);
	assert_int_equal(frames_at(&f, MAIN + 1).cfa_reg, 7);
	assert_int_equal(frames_at(&f, MAIN + 1).cfa_offset, 16);
	assert_int_equal(frames_at(&f, end - 2).cfa_offset, 16);
	assert_int_equal(frames_at(&f, end - 1).cfa_offset, 8);
	assert_int_equal(frames_at(&f, end).kind, WIRE_RULE_NONE);
	assert_int_equal(frames_at(&f, CFI_TEXT).kind, WIRE_RULE_END);
}

static void an_fde_has_the_word(void **state)
{
	_cleanup_frames_ struct frames f = { 0 };

	(void)state;
	open_program(&f, rust_main, sizeof(rust_main), true);
	assert_int_equal(frames_at(&f, MAIN + 1).cfa_offset, 64);
}

static void other_code_is_not_guessed_at(void **state)
{
	uint8_t code[sizeof(rust_main)];

	(void)state;
	for (size_t i = 0; i < sizeof(code); i++) {
		_cleanup_frames_ struct frames f = { 0 };

		/* of the distance in the call, and of what is loaded for it, nothing is expected */
		if (i != 0 && i != 7 && i != 8 && i < 13)
			continue;
		memcpy(code, rust_main, sizeof(code));
		code[i] ^= 1;
		open_program(&f, code, sizeof(code), false);
		assert_int_equal(frames_at(&f, MAIN + 1).kind, WIRE_RULE_NONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(main_without_an_fde),
		cmocka_unit_test(an_fde_has_the_word),
		cmocka_unit_test(other_code_is_not_guessed_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
