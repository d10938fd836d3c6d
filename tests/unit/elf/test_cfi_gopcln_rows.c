// SPDX-License-Identifier: Apache-2.0
/* Go's tables function by function: how many are read, which base fits, what each step says. */
#include "test.h"

#include <errno.h>

#include "cfi_frames.h"
#include "elf/cfi/cfi_gopcln.h"
#include "elf/cfi/cfi_layer.h"
#include "elf/cfi/cfi_roots.h"
#include "elf/go/go_place.h"
#include "made_elf.h"

enum {
	NAMES = 72,
	PCTAB = 256,
	FUNCTAB = 1024,
	FUNC = 44,
	FLAGS = 41,
	SIZE = 16,
	MODULE_WORDS = 41
};

enum { NAME_F = 0, NAME_GOEXIT = 8 };

/* Steps of the usual function: push %rbp ends at 2; how the stack grows is zigzag from -1. */
enum { USUAL = 1, OTHER = 32 };

struct go {
	struct strbuf table;
	struct cfi_elf elf;
	struct elf_file *file;
	struct cfi_reader reader;
	struct go_table table_of;
	struct cfi_rows rows;
	struct cfi_roots roots;
	size_t count;
	uint64_t base; /* of the first function; what the tables say is from here */
	uint64_t stated, module;
	size_t wrong;	 /* so many do not begin by push %rbp, */
	size_t wrong_at; /* nor does this one, if it is not the first */
};

static void set_number(struct strbuf *sb, size_t at, uint64_t value, size_t bytes)
{
	memcpy(sb->buf + at, &value, bytes);
}

static size_t func_at(const struct go *go, size_t i)
{
	return FUNCTAB + (go->count + 1) * 8 + i * FUNC;
}

/* COUNT functions of 16 bytes each. */
static void make_table(struct go *go)
{
	static const uint8_t usual[] = { 2, 2, 16, SIZE - 2, 0 };
	struct strbuf *sb = &go->table;

	sb->len = func_at(go, go->count);
	strbuf_grow(sb, sb->len);
	memset(sb->buf, 0, sb->len);
	set_number(sb, 0, 0xfffffff1, 4);
	set_number(sb, 6, 0x0801, 2);
	set_number(sb, 8, go->count, 8);
	set_number(sb, 24, go->stated, 8);
	set_number(sb, 32, NAMES, 8);
	set_number(sb, 56, PCTAB, 8);
	set_number(sb, 64, FUNCTAB, 8);
	strcpy(sb->buf + NAMES + NAME_F, "main.f");
	strcpy(sb->buf + NAMES + NAME_GOEXIT, "runtime.goexit");
	memcpy(sb->buf + PCTAB + USUAL, usual, sizeof(usual));
	for (size_t i = 0; i <= go->count; i++) {
		set_number(sb, FUNCTAB + 8 * i, SIZE * i, 4);
		if (i == go->count)
			break;
		set_number(sb, FUNCTAB + 8 * i + 4, func_at(go, i) - FUNCTAB, 4);
		set_number(sb, func_at(go, i) + 4, NAME_F, 4);
		set_number(sb, func_at(go, i) + 16, USUAL, 4);
	}
}

/* moduledata: a pointer, six slices, three words, text. */
static void make_module(const struct go *go, uint64_t *words, uint64_t table_at)
{
	const uint64_t parts[] = { NAMES, 0, 0, PCTAB, FUNCTAB, FUNCTAB };

	words[0] = table_at;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		words[1 + 3 * i] = table_at + parts[i];
	words[17] = go->count + 1;
	words[22] = go->module;
}

static int open_table(struct go *go)
{
	uint64_t module[MODULE_WORDS] = { 0 }, table_at;
	struct elf_file *file;
	unsigned int at;
	int r;

	made_begin(&go->elf);
	cfi_elf_pad(&go->elf, CFI_TEXT + CFI_TEXT_SIZE);
	memset(go->elf.bytes.buf + CFI_TEXT, 0x90, CFI_TEXT_SIZE);
	for (size_t i = go->wrong; i < go->count; i++)
		if (!go->wrong_at || i != go->wrong_at)
			go->elf.bytes.buf[go->base + SIZE * i + 1] = 0x55;
	at = made_section(&go->elf, ".text", SHT_PROGBITS, NULL, 0);
	go->elf.sections[at].sh_addr = CFI_TEXT;
	cfi_elf_segment(&go->elf, PT_LOAD, PF_R, CFI_TEXT, CFI_TEXT_SIZE);
	cfi_elf_segment(&go->elf, PT_LOAD, PF_R | PF_X, CFI_TEXT, CFI_TEXT_SIZE);
	go->elf.segments[0].p_vaddr = 0;
	at = made_section(&go->elf, ".gopclntab", SHT_PROGBITS, go->table.buf, go->table.len);
	table_at = go->elf.sections[at].sh_addr = go->elf.sections[at].sh_offset;
	if (go->module) {
		make_module(go, module, table_at);
		at = made_section(&go->elf, ".go.module", SHT_PROGBITS, module, sizeof(module));
		go->elf.sections[at].sh_addr = go->elf.sections[at].sh_offset;
	}
	cfi_elf_segment(&go->elf, PT_LOAD, PF_R | PF_W, table_at, go->elf.bytes.len - table_at);
	file = made_open(&go->elf, 0);
	cfi_reader_init_memory(&go->reader, go->elf.bytes.buf, go->elf.bytes.len);
	r = go_place_open(&go->table_of, &go->reader, file);
	assert_true(r < 0 ||
		    (go->table_of.at.offset == table_at && go->table_of.at.text == go->base));
	elf_file_close(file);
	return r;
}

static void release(struct go *go)
{
	cfi_reader_release(&go->reader);
	strbuf_release(&go->elf.bytes);
	strbuf_release(&go->table);
	vec_release(&go->rows.v);
	vec_release(&go->roots.v);
}

#define _cleanup_go_ _cleanup_(release)

static struct wire_rule at(struct go *go, uint64_t address)
{
	cfi_gopcln_rows(&go->table_of, address & ~4095ULL, &go->rows);
	return frames_rule(&go->rows, address);
}

static void expect_usual(struct go *go, size_t i)
{
	uint64_t start = go->base + SIZE * i;

	assert_int_equal(at(go, start).cfa_offset, 8);
	assert_int_equal(at(go, start + 1).cfa_offset, 8);
	assert_int_equal(at(go, start + 1).rbp_slot, 0);
	assert_int_equal(at(go, start + 2).cfa_offset, 16);
	assert_int_equal(at(go, start + 2).rbp_slot, 2);
	assert_int_equal(at(go, start + SIZE - 1).cfa_offset, 16);
}

/* More than are read in one piece, and than there are in a page. */
static void many_functions(void **state)
{
	static const size_t assembly[] = { 0, 1, 254, 255, 256, 510, 511, 599 };
	_cleanup_go_ struct go go = { .count = 600, .base = CFI_TEXT };

	(void)state;
	make_table(&go);
	for (size_t i = 0; i < ARRAY_SIZE(assembly); i++) {
		set_number(&go.table, func_at(&go, assembly[i]) + 4, NAME_GOEXIT, 4);
		go.table.buf[func_at(&go, assembly[i]) + FLAGS] = 4;
	}
	/* Of that name, but not written in assembly. */
	set_number(&go.table, func_at(&go, 7) + 4, NAME_GOEXIT, 4);
	go.table.buf[func_at(&go, 7) + FLAGS] = 3;
	assert_int_equal(open_table(&go), 0);
	for (size_t i = 0; i < go.count; i += 7)
		expect_usual(&go, i);
	expect_usual(&go, 599);
	assert_int_equal(at(&go, CFI_TEXT + 600 * SIZE).kind, WIRE_RULE_NONE);
	assert_int_equal(at(&go, CFI_TEXT - 1).kind, WIRE_RULE_NONE);
	cfi_gopcln_add_roots(&go.table_of, &go.roots);
	assert_int_equal(go.roots.v.len, ARRAY_SIZE(assembly));
	for (size_t i = 0; i < ARRAY_SIZE(assembly); i++) {
		assert_int_equal(go.roots.v.items[i].start, CFI_TEXT + SIZE * assembly[i]);
		assert_int_equal(go.roots.v.items[i].end, CFI_TEXT + SIZE * (assembly[i] + 1));
	}
}

/* 256 functions of a page, the one that begins before it included: Go's have 16 bytes at least. */
static void a_page_of_functions(void **state)
{
	_cleanup_go_ struct go go = { .count = 600, .base = CFI_TEXT + 8, .stated = CFI_TEXT + 8 };

	(void)state;
	make_table(&go);
	assert_int_equal(open_table(&go), 0);
	assert_int_equal(at(&go, 0x2000).cfa_offset, 16);
	assert_int_equal(at(&go, 0x2ff7).cfa_offset, 16);
	assert_int_equal(at(&go, 0x2ff8).kind, WIRE_RULE_NONE);
	assert_int_equal(at(&go, 0x3008).cfa_offset, 8);
}

/* The header's base, the module's, the beginning of .text: the first that fits the code. */
static void bases(void **state)
{
	static const struct {
		uint64_t base, stated, module;
		bool good;
	} cases[] = {
		{ CFI_TEXT, 0, 0, true },
		{ CFI_TEXT + 0x123, CFI_TEXT + 0x123, 0, true },
		{ CFI_TEXT + 0x123, 0, CFI_TEXT + 0x123, true },
		{ CFI_TEXT + 0x123, CFI_TEXT + 0x124, CFI_TEXT + 0x123, true },
		{ CFI_TEXT, CFI_TEXT + 1, CFI_TEXT + 2, true },
		{ CFI_TEXT + 0x123, 0, 0, false },
		{ CFI_TEXT + 0x123, CFI_TEXT - 1, CFI_TEXT + CFI_TEXT_SIZE, false },
		{ CFI_TEXT + CFI_TEXT_SIZE - 20 * SIZE, CFI_TEXT + CFI_TEXT_SIZE - 20 * SIZE, 0,
		  true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_go_ struct go go = { .count = 20,
					      .base = cases[i].base,
					      .stated = cases[i].stated,
					      .module = cases[i].module };

		make_table(&go);
		assert_int_equal(open_table(&go), cases[i].good ? 0 : -ENODATA);
		if (cases[i].good)
			expect_usual(&go, 19);
	}
}

/* Of 64 functions 56 must begin as the tables say, of fewer as large a part. */
static void how_many_must_fit(void **state)
{
	static const struct {
		size_t count, wrong, wrong_at;
		bool good;
	} cases[] = {
		{ 64, 8, 0, true },
		{ 64, 9, 0, false },
		{ 100, 8, 0, true },
		{ 100, 9, 0, false },
		{ 8, 1, 0, true },
		{ 8, 2, 0, false },
		{ 7, 0, 0, true },
		{ 7, 1, 0, false },
		{ 1, 1, 0, false },
		/* the first 64 are looked at */
		{ 100, 8, 64, true },
		{ 100, 8, 63, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_go_ struct go go = { .count = cases[i].count,
					      .wrong = cases[i].wrong,
					      .wrong_at = cases[i].wrong_at,
					      .base = CFI_TEXT };

		make_table(&go);
		assert_int_equal(open_table(&go), cases[i].good ? 0 : -ENODATA);
	}
}

/* The last function's record ends behind the section: it is none. */
static void a_record_that_is_cut(void **state)
{
	_cleanup_go_ struct go go = { .count = 20, .base = CFI_TEXT };

	(void)state;
	make_table(&go);
	go.table.len--;
	assert_int_equal(open_table(&go), 0);
	expect_usual(&go, 18);
	assert_int_equal(at(&go, CFI_TEXT + 19 * SIZE).kind, WIRE_RULE_NONE);
}

/* Each word of the header that must be so. */
static void headers_that_are_refused(void **state)
{
	static const struct {
		size_t at;
		uint64_t value;
		size_t bytes;
	} changes[] = {
		{ 0, 0xfffffff2, 4 }, { 4, 1, 2 },	  { 6, 0x0802, 2 },
		{ 6, 0x0401, 2 },     { 8, 0, 8 },	  { 8, 1 << 21, 8 },
		{ 32, 1 << 20, 8 },   { 56, 1 << 20, 8 }, { 64, 1 << 20, 8 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		_cleanup_go_ struct go go = { .count = 20, .base = CFI_TEXT };

		make_table(&go);
		set_number(&go.table, changes[i].at, changes[i].value, changes[i].bytes);
		assert_int_equal(open_table(&go), -ENODATA);
	}
	for (size_t len = 0; len <= 72; len += 71) {
		_cleanup_go_ struct go go = { .count = 20, .base = CFI_TEXT };

		make_table(&go);
		go.table.len = len;
		assert_int_equal(open_table(&go), -ENODATA);
	}
}

/* The second of sixteen functions has these steps (and not their code); its rule at OFFSET. */
static struct wire_rule rule_of_steps(const uint8_t *steps, size_t len, uint64_t offset)
{
	_cleanup_go_ struct go go = { .count = 16, .base = CFI_TEXT };

	make_table(&go);
	if (len)
		memcpy(go.table.buf + PCTAB + OTHER, steps, len);
	set_number(&go.table, func_at(&go, 1) + 16, len ? OTHER : 0, 4);
	assert_int_equal(open_table(&go), 0);
	expect_usual(&go, 0);
	expect_usual(&go, 2);
	return at(&go, CFI_TEXT + SIZE + offset);
}

static void expect_steps(const uint8_t *steps, size_t len, uint64_t offset, int cfa, int rbp_slot)
{
	struct wire_rule rule = rule_of_steps(steps, len, offset);

	assert_int_equal(rule.kind, WIRE_RULE_CFA);
	assert_int_equal(rule.cfa_reg, 7);
	assert_int_equal(rule.ra_slot, 1);
	assert_int_equal(rule.cfa_offset, cfa);
	assert_int_equal(rule.rbp_slot, rbp_slot);
}

/* Every way that a function's table may go on and end. */
static void steps_of_a_function(void **state)
{
	(void)state;
	/* all of it with one depth; the return address popped; less than that is nonsense */
	expect_steps(PROGRAM(2, 16, 0), 15, 8, 0);
	expect_steps(PROGRAM(13, 16, 0), 15, 0, 0);
	assert_int_equal(rule_of_steps(PROGRAM(15, 16, 0), 15).kind, WIRE_RULE_BAD);
	assert_int_equal(rule_of_steps(PROGRAM(17, 16, 0), 15).kind, WIRE_RULE_BAD);
	/* %rbp is saved in frames of eight bytes and more */
	expect_steps(PROGRAM(16, 16, 0), 0, 15, 0);
	expect_steps(PROGRAM(18, 16, 0), 0, 16, 2);
	/* the deepest that a rule can say, and one more */
	expect_steps(PROGRAM(0xf0, 0xff, 0xff, 0xff, 0x0f, 16, 0), 0, INT32_MAX, 2);
	assert_int_equal(rule_of_steps(PROGRAM(0xf2, 0xff, 0xff, 0xff, 0x0f, 16, 0), 0).kind,
			 WIRE_RULE_BAD);
	/* up and down, each to its last byte */
	expect_steps(PROGRAM(2, 3, 32, 4, 31, 9, 0), 2, 8, 0);
	expect_steps(PROGRAM(2, 3, 32, 4, 31, 9, 0), 3, 24, 2);
	expect_steps(PROGRAM(2, 3, 32, 4, 31, 9, 0), 6, 24, 2);
	expect_steps(PROGRAM(2, 3, 32, 4, 31, 9, 0), 7, 8, 0);
	expect_steps(PROGRAM(2, 3, 32, 4, 31, 9, 0), 15, 8, 0);
	/* a first step of 0 is one; a later one, or a length of 0, is the end */
	assert_int_equal(rule_of_steps(PROGRAM(0, 4, 0, 4), 3).kind, WIRE_RULE_CFA);
	assert_int_equal(rule_of_steps(PROGRAM(2, 4, 0, 4), 4).kind, WIRE_RULE_NONE);
	assert_int_equal(rule_of_steps(PROGRAM(2, 4, 32, 0, 32, 4), 4).kind, WIRE_RULE_NONE);
	assert_int_equal(rule_of_steps(PROGRAM(2, 4, 0), 3).kind, WIRE_RULE_CFA);
	/* farther than the function */
	expect_steps(PROGRAM(2, 127, 0), 15, 8, 0);
	/* no table */
	assert_int_equal(rule_of_steps(NULL, 0, 0).kind, WIRE_RULE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_functions),
		cmocka_unit_test(a_page_of_functions),
		cmocka_unit_test(bases),
		cmocka_unit_test(how_many_must_fit),
		cmocka_unit_test(headers_that_are_refused),
		cmocka_unit_test(a_record_that_is_cut),
		cmocka_unit_test(steps_of_a_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
