// SPDX-License-Identifier: Apache-2.0
/* Go's own tables, as a stripped program has them. */
#include "test.h"

#include "cfi_frames.h"

enum { HEADER = 72, NAMES = HEADER, PCTAB = 256, FUNCTAB = 512, FUNC = 44, FLAGS = 41 };

static const struct {
	const char *name;
	uint32_t start;
	uint8_t flags;
	/* how much the stack grows, zigzag, from -1; over how many bytes */
	uint8_t steps[16];
} functions[] = {
	/* push %rbp at 1, 32 more at 8, gone at 0x30; up to 0x40 */
	{ "main.main", 0x0, 0, { 2, 2, 16, 7, 64, 0x27, 79, 0x10, 0 } },
	{ "main.leaf", 0x40, 0, { 2, 0x20, 0 } }, /* its last half is padding */
	{ "runtime.goexit", 0x80, 5, { 2, 0x20, 0 } },
	{ "runtime.systemstack", 0xa0, 6, { 2, 1, 16, 0x1f, 0 } },
	{ "runtime.mstart", 0xc0, 0, { 2, 0x20, 0 } }, /* of that name, but not assembly */
	{ "runtime.morestack", 0xe0, 6, { 2, 0x40, 0 } },
	{ "runtime.mcall", 0x120, 6, { 2, 1, 16, 0x1f, 0 } },
	{ "main.long", 0x140, 0, { 2, 2, 16, 0xfe, 0x1f, 15, 0x10, 0 } },
};

static const uint32_t text_end = 0x1220;

static void set_number(struct strbuf *sb, size_t at, uint64_t value, size_t bytes)
{
	memcpy(sb->buf + at, &value, bytes);
}

static void make_table(struct strbuf *sb)
{
	size_t name_at = 0, steps_at = 1, func_at = (ARRAY_SIZE(functions) + 1) * 8;

	strbuf_grow(sb, 2048);
	memset(sb->buf, 0, 2048);
	sb->len = 2048;
	set_number(sb, 0, 0xfffffff1, 4);
	set_number(sb, 6, 0x0801, 2);
	set_number(sb, 8, ARRAY_SIZE(functions), 8);
	set_number(sb, 32, NAMES, 8);
	set_number(sb, 56, PCTAB, 8);
	set_number(sb, 64, FUNCTAB, 8);
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++, func_at += FUNC) {
		set_number(sb, FUNCTAB + 8 * i, functions[i].start, 4);
		set_number(sb, FUNCTAB + 8 * i + 4, func_at, 4);
		set_number(sb, FUNCTAB + func_at + 4, name_at, 4);
		set_number(sb, FUNCTAB + func_at + 16, steps_at, 4);
		sb->buf[FUNCTAB + func_at + FLAGS] = (char)functions[i].flags;
		strcpy(sb->buf + NAMES + name_at, functions[i].name);
		memcpy(sb->buf + PCTAB + steps_at, functions[i].steps, 16);
		name_at += strlen(functions[i].name) + 1;
		steps_at += 16;
	}
	set_number(sb, FUNCTAB + 8 * ARRAY_SIZE(functions), text_end, 4);
}

/* With push %rbp where the tables say so, or without. */
static void open_table(struct frames *f, const struct strbuf *table, uint8_t text)
{
	struct cfi_parts parts = { .section = ".gopclntab",
				   .section_data = table->buf,
				   .section_len = table->len,
				   .text = text };
	struct err err;

	cfi_elf_build(&parts, &f->elf);
	assert_int_equal(cfi_file_open_memory(f->elf.buf, f->elf.len, &f->file, &err), 0);
}

static void assert_frame(struct wire_rule rule, int cfa, int rbp_slot)
{
	assert_int_equal(rule.kind, WIRE_RULE_CFA);
	assert_int_equal(rule.cfa_reg, 7);
	assert_int_equal(rule.cfa_offset, cfa);
	assert_int_equal(rule.ra_slot, 1);
	assert_int_equal(rule.rbp_slot, rbp_slot);
}

static void frames_of_a_stripped_program(void **state)
{
	_cleanup_strbuf_ struct strbuf table = STRBUF_INIT;
	_cleanup_frames_ struct frames f = { 0 };

	(void)state;
	make_table(&table);
	open_table(&f, &table, 0x55);
	assert_frame(frames_at(&f, CFI_TEXT), 8, 0);
	assert_frame(frames_at(&f, CFI_TEXT + 1), 8, 0);
	assert_frame(frames_at(&f, CFI_TEXT + 2), 16, 2);
	assert_frame(frames_at(&f, CFI_TEXT + 9), 48, 2);
	assert_frame(frames_at(&f, CFI_TEXT + 0x2f), 48, 2);
	assert_frame(frames_at(&f, CFI_TEXT + 0x30), 8, 0);
	assert_frame(frames_at(&f, CFI_TEXT + 0x5f), 8, 0);
	assert_int_equal(frames_at(&f, CFI_TEXT + 0x60).kind, WIRE_RULE_NONE);
	assert_int_equal(frames_at(&f, CFI_TEXT + 0x7f).kind, WIRE_RULE_NONE);
	/* the same function in the next page */
	assert_frame(frames_at(&f, CFI_TEXT + 0x113f), 16, 2);
	assert_frame(frames_at(&f, CFI_TEXT + 0x1140), 8, 0);
	assert_int_equal(frames_at(&f, CFI_TEXT + 0x1150).kind, WIRE_RULE_NONE);
	assert_int_equal(frames_at(&f, CFI_TEXT + 0x2000).kind, WIRE_RULE_NONE);
}

static void roots_of_a_stripped_program(void **state)
{
	_cleanup_strbuf_ struct strbuf table = STRBUF_INIT;
	_cleanup_frames_ struct frames f = { 0 };

	(void)state;
	make_table(&table);
	open_table(&f, &table, 0x55);
	assert_int_equal(frames_at(&f, CFI_TEXT + 0x80).kind, WIRE_RULE_END);
	assert_int_equal(frames_at(&f, CFI_TEXT + 0x9f).kind, WIRE_RULE_END);
	assert_frame(frames_at(&f, CFI_TEXT + 0xa3), 16, 2);
	assert_int_equal(frames_at(&f, CFI_TEXT + 0xa4).kind, WIRE_RULE_FP);
	assert_int_equal(frames_at(&f, CFI_TEXT + 0xbf).kind, WIRE_RULE_FP);
	assert_frame(frames_at(&f, CFI_TEXT + 0xc0), 8, 0);
}

/* Its code, that it may be changed before reopen(). */
static uint8_t *open_code(struct frames *f)
{
	static const uint8_t text[32] = { [0 ... 31] = 0x55 };
	_cleanup_strbuf_ struct strbuf table = STRBUF_INIT;
	uint8_t *code;

	make_table(&table);
	open_table(f, &table, 0x55);
	code = memmem(f->elf.buf, f->elf.len, text, sizeof(text));
	assert_non_null(code);
	return code;
}

static void reopen(struct frames *f)
{
	cfi_file_close(f->file);
	assert_int_equal(cfi_file_open_memory(f->elf.buf, f->elf.len, &f->file, &(struct err){ 0 }),
			 0);
}

/* Go before 1.21 saves no frame pointer where it goes to another stack: mov %rbx,%rsp at LOAD, call *%rdi at CALL. */
static void open_switch(struct frames *f, bool saves, uint32_t load, uint32_t call)
{
	uint8_t *code = open_code(f);

	if (saves)
		memcpy(code + 0xa0, "\x55\x48\x89\xe5", 4);
	memcpy(code + load, "\x48\x89\xdc", 3);
	memcpy(code + call, "\xff\xd7", 2);
	reopen(f);
}

static void a_switch_without_a_frame(void **state)
{
	(void)state;
	for (int saves = 0; saves < 2; saves++) {
		_cleanup_frames_ struct frames f = { 0 };

		open_switch(&f, saves, 0xa8, 0xb0);
		assert_int_equal(frames_at(&f, CFI_TEXT + 0xaa).cfa_add, 0);
		assert_int_equal(frames_at(&f, CFI_TEXT + 0xab).cfa_add, !saves);
		assert_int_equal(frames_at(&f, CFI_TEXT + 0xb1).cfa_add, !saves);
		assert_int_equal(frames_at(&f, CFI_TEXT + 0xb1).kind, WIRE_RULE_FP);
		assert_int_equal(frames_at(&f, CFI_TEXT + 0xb2).cfa_add, 0);
	}
}

/* What systemstack says of curg, and morestack, where %rsp is loaded at LOAD (0: nowhere). */
static void open_morestack(struct frames *f, uint32_t load, bool has_curg)
{
	uint8_t *code = open_code(f);

	if (has_curg)
		memcpy(code + 0xa8, "\x48\x8b\x58\x30\x48\x8b\x83\xb8\0\0\0", 11);
	memcpy(code + 0xe0, "\x64\x48\x8b\x3c\x25\xf8\xff\xff\xff", 9);
	memcpy(code + 0xf0, "\x48\x89\x6f\x60", 4);
	if (load)
		memcpy(code + 0xe0 + load, "\x48\x8b\x63\x38", 4);
	reopen(f);
}

/* The code again, where %rsp is loaded at 0x20 of morestack. */
static uint8_t *code_with_morestack(const struct frames *f)
{
	uint8_t *load = memmem(f->elf.buf, f->elf.len, "\x48\x8b\x63\x38", 4);

	assert_non_null(load);
	return load - 0x100;
}

static void a_goroutine_that_grows(void **state)
{
	_cleanup_frames_ struct frames f = { 0 };
	struct wire_rule rule;

	(void)state;
	open_morestack(&f, 0x20, true);
	/* On the goroutine's stack it is any function without a frame. */
	assert_frame(frames_at(&f, CFI_TEXT + 0xe0), 8, 0);
	assert_frame(frames_at(&f, CFI_TEXT + 0x103), 8, 0);
	rule = frames_at(&f, CFI_TEXT + 0x104);
	assert_int_equal(rule.kind, WIRE_RULE_GOROUTINE);
	assert_int_equal(rule.cfa_offset, 0xb8);
	assert_int_equal(rule.ra_slot, 1);
	assert_int_equal(rule.rbp_slot, 12);
	assert_int_equal(frames_at(&f, CFI_TEXT + 0x11f).kind, WIRE_RULE_GOROUTINE);
	assert_int_equal(frames_at(&f, CFI_TEXT + 0x120).kind, WIRE_RULE_CFA);
}

/* What else leaves a goroutine's stack, before 1.21. */
static void a_goroutine_that_was_left(void **state)
{
	_cleanup_frames_ struct frames f = { 0 };
	struct wire_rule rule;
	uint8_t *code;

	(void)state;
	open_morestack(&f, 0x20, true);
	code = code_with_morestack(&f);
	memcpy(code + 0xb4, "\x48\x89\xdc\xff\xd7", 5);
	reopen(&f);
	rule = frames_at(&f, CFI_TEXT + 0xb7);
	assert_int_equal(rule.kind, WIRE_RULE_GOROUTINE);
	assert_int_equal(rule.cfa_add, WIRE_LEFT_BY_SYSTEMSTACK);
	assert_int_equal(rule.cfa_offset, 0xb8);
	assert_int_equal(frames_at(&f, CFI_TEXT + 0x104).cfa_add, WIRE_LEFT_BY_MORESTACK);
}

/* mcall has a frame there from 1.21 on, which is nobody's when the goroutine runs elsewhere. */
static void a_goroutine_that_let_another_run(void **state)
{
	(void)state;
	for (int curg = 0; curg < 2; curg++)
		for (int frame = 0; frame < 2; frame++) {
			_cleanup_frames_ struct frames f = { 0 };
			struct wire_rule rule;
			uint8_t *code;

			open_morestack(&f, 0x20, curg);
			code = code_with_morestack(&f);
			if (frame)
				memcpy(code + 0x120, "\x55\x48\x89\xe5", 4);
			memcpy(code + 0x128, "\x49\x8b\x66\x38\x50\x41\xff\xd4", 8);
			reopen(&f);
			rule = frames_at(&f, CFI_TEXT + 0x12f);
			assert_int_equal(rule.kind, curg ? WIRE_RULE_GOROUTINE : WIRE_RULE_FP);
			if (curg)
				assert_int_equal(rule.cfa_add, frame ? WIRE_LEFT_BY_MCALL_FRAMED
								     : WIRE_LEFT_BY_MCALL);
			else
				assert_int_equal(rule.cfa_add, !frame);
			assert_int_equal(frames_at(&f, CFI_TEXT + 0x12b).kind, WIRE_RULE_FP);
			assert_int_equal(frames_at(&f, CFI_TEXT + 0x130).kind, WIRE_RULE_FP);
		}
}

static void a_goroutine_that_is_not_found(void **state)
{
	_cleanup_frames_ struct frames f = { 0 }, g = { 0 };

	(void)state;
	open_morestack(&f, 0x20, false);
	assert_frame(frames_at(&f, CFI_TEXT + 0x103), 8, 0);
	assert_int_equal(frames_at(&f, CFI_TEXT + 0x104).kind, WIRE_RULE_FP);
	/* Where the stack is left is not seen. */
	open_morestack(&g, 0, true);
	assert_int_equal(frames_at(&g, CFI_TEXT + 0xe0).kind, WIRE_RULE_FP);
	assert_int_equal(frames_at(&g, CFI_TEXT + 0x11f).kind, WIRE_RULE_FP);
}

/* The call comes before, or in the next function. */
static void a_switch_without_a_call(void **state)
{
	static const uint32_t calls[] = { 0xa4, 0xbf, 0xc4 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		_cleanup_frames_ struct frames f = { 0 };

		open_switch(&f, false, 0xa8, calls[i]);
		for (uint64_t at = 0xa0; at < 0xc0; at++)
			assert_int_equal(frames_at(&f, CFI_TEXT + at).cfa_add, 0);
	}
}

/* More than is read of a table at first: it is read again, and nothing of the first time stays. */
static void a_table_longer_than_most(void **state)
{
	enum { LONG = 2048, PAIRS = 700 };
	_cleanup_strbuf_ struct strbuf table = STRBUF_INIT;
	_cleanup_frames_ struct frames f = { 0 };
	size_t last = ARRAY_SIZE(functions) - 1, func_at = (last + 2) * 8 + last * FUNC;

	(void)state;
	make_table(&table);
	strbuf_grow(&table, 2 * PAIRS + 2);
	memset(table.buf + LONG, 0, 2 * PAIRS + 2);
	table.len = LONG + 2 * PAIRS + 2;
	set_number(&table, FUNCTAB + func_at + 16, LONG - PCTAB, 4);
	for (size_t i = 0; i < PAIRS; i++) { /* 8 more, 8 less, each for two bytes */
		table.buf[LONG + 2 * i] = i == 0 ? 2 : i % 2 ? 16 : 15;
		table.buf[LONG + 2 * i + 1] = 2;
	}
	open_table(&f, &table, 0x55);
	for (uint64_t i = 0; i < PAIRS; i++)
		assert_frame(frames_at(&f, CFI_TEXT + 0x140 + 2 * i), i % 2 ? 16 : 8,
			     i % 2 ? 2 : 0);
	assert_int_equal(frames_at(&f, CFI_TEXT + 0x140 + 2 * PAIRS).kind, WIRE_RULE_NONE);
	for (size_t i = 1; i < f.rows.v.len; i++)
		assert_true(f.rows.v.items[i].offset > f.rows.v.items[i - 1].offset);
}

/* Where the code does not look like it, the base is wrong: better nothing than nonsense. */
static void a_base_that_does_not_fit(void **state)
{
	_cleanup_strbuf_ struct strbuf table = STRBUF_INIT;
	_cleanup_frames_ struct frames f = { 0 };

	(void)state;
	make_table(&table);
	open_table(&f, &table, 0x90);
	assert_int_equal(frames_at(&f, CFI_TEXT + 2).kind, WIRE_RULE_NONE);
	assert_int_equal(f.rows.v.len, 1);
}

static void unknown_versions_are_left_alone(void **state)
{
	_cleanup_strbuf_ struct strbuf table = STRBUF_INIT;
	_cleanup_frames_ struct frames f = { 0 };

	(void)state;
	make_table(&table);
	set_number(&table, 0, 0xfffffff2, 4);
	open_table(&f, &table, 0x55);
	assert_int_equal(frames_at(&f, CFI_TEXT + 2).kind, WIRE_RULE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_a_stripped_program),
		cmocka_unit_test(roots_of_a_stripped_program),
		cmocka_unit_test(a_switch_without_a_frame),
		cmocka_unit_test(a_goroutine_that_grows),
		cmocka_unit_test(a_goroutine_that_was_left),
		cmocka_unit_test(a_goroutine_that_is_not_found),
		cmocka_unit_test(a_goroutine_that_let_another_run),
		cmocka_unit_test(a_switch_without_a_call),
		cmocka_unit_test(a_table_longer_than_most),
		cmocka_unit_test(a_base_that_does_not_fit),
		cmocka_unit_test(unknown_versions_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
