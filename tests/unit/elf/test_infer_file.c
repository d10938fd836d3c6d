// SPDX-License-Identifier: Apache-2.0
/* Which code of a file rows are inferred from: what its call frame information leaves out. */
#include "test.h"

#include "cfi_frames.h"
#include "elf/cfi/cfi_file_private.h"
#include "elf/infer/infer_file.h"
#include "infer_fixture.h"

/* Two functions: the first calls one that does not return, so that without a symbol it would go on as the second. */
INFER_CASE(two, "push %rbx\n mov %rdi,%rbx\n call *%rax\n"
		".Lsecond: sub $24,%rsp\n call *%rax\n add $24,%rsp\n ret");
#define SECOND 6

INFER_CASE(
	one,
	"push %rbx\n mov %rdi,%rbx\n call *%rax\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n pop %rbx\n ret");

struct world {
	struct frames f;
	struct cfi_parts parts;
	struct cfi_symbol symbols[2];
};

/* Its text is all int3, but for what is put there. */
static void set_up(struct world *world)
{
	*world = (struct world){ .parts = { .text = 0xcc, .symbols = world->symbols } };
	frames_usual_cie(&world->f);
}

static void add_symbol(struct world *world, uint64_t address)
{
	world->symbols[world->parts.symbol_count++] = (struct cfi_symbol){ "function", address, 4 };
}

static void put_code(struct world *world, uint64_t address, const uint8_t *begin,
		     const uint8_t *end)
{
	memcpy(world->f.elf.buf + address, begin, (size_t)(end - begin));
}

/* The first word of the rule's text. */
static void expect_rule(struct world *world, uint64_t address, const char *wanted)
{
	const struct wire_rule rule = frames_at(&world->f, address);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	infer_add_rule(&text, &rule);
	assert_string_equal(strbuf_str(&text), wanted);
}

static void tear_down(struct world *world)
{
	frames_release(&world->f);
}

static void between_two_that_are_described(void **state)
{
	struct world w;

	(void)state;
	set_up(&w);
	frames_fde(&w.f, 0x1100, 0x100, PROGRAM(DW_CFA_def_cfa_offset, 64));
	frames_fde(&w.f, 0x1240, 0x100, PROGRAM(DW_CFA_def_cfa_offset, 64));
	frames_open(&w.f, &w.parts, true);
	put_code(&w, 0x1180, one_begin, one_end);
	put_code(&w, 0x1200, one_begin, one_end);
	assert_int_equal(frames_at(&w.f, 0x1181).cfa_offset, 64);
	assert_int_equal(frames_at(&w.f, 0x1181).cfa_index, 0);
	expect_rule(&w, 0x1200, "rsp+8");
	expect_rule(&w, 0x1201, "rsp+16 rbx 2");
	expect_rule(&w, 0x1200 + (uint64_t)(one_end - one_begin), "none");
	assert_int_equal(frames_at(&w.f, 0x1240).cfa_offset, 64);
	tear_down(&w);
}

/* By the file's record the frame is there to the last instruction. */
static void a_return_without_a_record(void **state)
{
	struct world w;

	(void)state;
	set_up(&w);
	frames_fde(&w.f, 0x1100, 0x100, PROGRAM(DW_CFA_def_cfa, 6, 16));
	frames_open(&w.f, &w.parts, true);
	memcpy(w.f.elf.buf + 0x1180, "\xc9\xc3", 2);
	assert_int_equal(frames_at(&w.f, 0x1180).cfa_reg, DWARF_RBP);
	expect_rule(&w, 0x1181, "rsp+8");
	assert_int_equal(frames_at(&w.f, 0x1182).cfa_reg, DWARF_RBP);
	tear_down(&w);
}

/* Padding is no function, however it looks. */
static void short_gaps_are_left_alone(void **state)
{
	struct world w;

	(void)state;
	set_up(&w);
	frames_fde(&w.f, 0x1000, 0x200, PROGRAM(DW_CFA_nop));
	frames_fde(&w.f, 0x120f, 0xf1, PROGRAM(DW_CFA_nop));
	frames_fde(&w.f, 0x1320, 0x3ce0, PROGRAM(DW_CFA_nop));
	frames_open(&w.f, &w.parts, true);
	memcpy(w.f.elf.buf + 0x1200, "\x53\x5b\xc3", 3);
	memcpy(w.f.elf.buf + 0x1300, "\x53\x5b\xc3", 3);
	expect_rule(&w, 0x1200, "none");
	expect_rule(&w, 0x1300, "rsp+8");
	tear_down(&w);
}

/* What is but one filler is no code, whatever a symbol says; a page of such gaps costs nothing. */
static void padding_is_not_looked_at(void **state)
{
	static const uint8_t fillers[] = { 0xcc, 0x90, 0x00, 0x90 };
	struct world w;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fillers); i++) {
		bool has_code = i == 3;

		set_up(&w);
		w.parts.text = fillers[i];
		add_symbol(&w, 0x1240);
		frames_fde(&w.f, 0x1000, 0x200, PROGRAM(DW_CFA_nop));
		frames_fde(&w.f, 0x1300, 0x3d00, PROGRAM(DW_CFA_nop));
		frames_open(&w.f, &w.parts, true);
		if (has_code)
			memcpy(w.f.elf.buf + 0x1250, "\xc3", 1);
		expect_rule(&w, 0x1240, has_code ? "rsp+8" : "none");
		tear_down(&w);
	}
}

static void symbols_say_where_functions_begin(void **state)
{
	struct world w;

	(void)state;
	for (int with = 0; with < 2; with++) {
		set_up(&w);
		if (with)
			add_symbol(&w, 0x1203 + SECOND);
		frames_open(&w.f, &w.parts, false);
		put_code(&w, 0x1203, two_begin, two_end);
		expect_rule(&w, 0x1203 + SECOND, with ? "rsp+8" : "none");
		expect_rule(&w, 0x1203 + SECOND + 5, with ? "rsp+32" : "none");
		tear_down(&w);
	}
}

/* Two that do not return: only data says where the second begins, and only that of a file most of whose code nobody describes is looked at. */
INFER_CASE(round_and_round,
	   "push %rbx\n mov %rdi,%rbx\n call *%rax\n"
	   "push %rbp\n push %rbx\n sub $8,%rsp\n .Lround: call *%rax\n jmp .Lround");
#define ROUND 6

static void data_says_where_functions_begin(void **state)
{
	const uint64_t word = 0x1203 + ROUND;
	struct world w;

	(void)state;
	for (int i = 0; i < 3; i++) {
		set_up(&w);
		add_symbol(&w, 0x1203);
		w.parts.section = ".data";
		w.parts.section_data = &word;
		w.parts.section_len = sizeof(word);
		w.parts.section_flags = i ? SHF_ALLOC | SHF_WRITE : 0;
		frames_fde(&w.f, 0x1400, i == 2 ? 0x3a00 : 0x3000, PROGRAM(DW_CFA_nop));
		frames_open(&w.f, &w.parts, true);
		put_code(&w, 0x1203, round_and_round_begin, round_and_round_end);
		expect_rule(&w, word, i == 1 ? "rsp+8" : "rsp+16 rbx 2");
		tear_down(&w);
	}
}

/* Over the end of a page, and over that of what is looked at in one piece. */
static void a_function_in_two_pages(void **state)
{
	struct world w;

	(void)state;
	set_up(&w);
	add_symbol(&w, 0x1ffe);
	frames_open(&w.f, &w.parts, false);
	put_code(&w, 0x1ffe, one_begin, one_end);
	expect_rule(&w, 0x1fff, "rsp+16 rbx 2");
	expect_rule(&w, 0x2000, "rsp+16 rbx 2");
	expect_rule(&w, 0x1ffe, "rsp+8");
	expect_rule(&w, 0x1ffe + (uint64_t)(one_end - one_begin) - 1, "rsp+8");
	tear_down(&w);
}

static struct cfi_digest digest_pointing(uint64_t changed, bool symbol, uint64_t word)
{
	struct cfi_digest digest;
	struct world w;

	set_up(&w);
	w.parts.section = ".data";
	w.parts.section_data = &word;
	w.parts.section_len = sizeof(word);
	w.parts.section_flags = SHF_ALLOC | SHF_WRITE;
	add_symbol(&w, symbol ? 0x1400 : 0x1410);
	frames_fde(&w.f, 0x1000, 0x200, PROGRAM(DW_CFA_nop));
	frames_open(&w.f, &w.parts, true);
	if (changed)
		w.f.elf.buf[changed] ^= 1;
	assert_int_equal(cfi_file_digest(w.f.file, &digest), 0);
	tear_down(&w);
	return digest;
}

static struct cfi_digest digest_with(uint64_t changed, bool symbol)
{
	return digest_pointing(changed, symbol, 0x1300);
}

/* What is not described counts, to the byte, and symbols do, and words that lead into it. */
static void digests_are_of_the_code(void **state)
{
	const struct cfi_digest plain = digest_with(0, true);
	struct cfi_digest other;

	(void)state;
	for (uint64_t at = 0x1200; at < 0x5000; at += 0x4dff - 0x1200 + 0x200) {
		other = digest_with(at, true);
		assert_memory_not_equal(&other, &plain, sizeof(plain));
	}
	other = digest_with(0x4fff, true);
	assert_memory_not_equal(&other, &plain, sizeof(plain));
	other = digest_with(0x11ff, true);
	assert_memory_equal(&other, &plain, sizeof(plain));
	other = digest_with(0, false);
	assert_memory_not_equal(&other, &plain, sizeof(plain));
	other = digest_pointing(0, true, 0x1301);
	assert_memory_not_equal(&other, &plain, sizeof(plain));
}

/* One that nobody could walk through, or that goes round the end of all addresses, is not code. */
static void sections_that_are_too_large(void **state)
{
	static const uint64_t claims[][2] = {
		{ 0x100000, (4ULL << 30) + 1 }, { 0x100000, 1ULL << 60 }, { -0x8000ULL, 0x7f00 },
		{ -0x8000ULL, 0x10000 },	{ 1ULL << 56, 64 },	  { 0x100000, 4ULL << 30 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(claims); i++) {
		struct cfi_digest digest;
		struct world w;

		set_up(&w);
		w.parts.section = ".more";
		w.parts.section_data = one_begin;
		w.parts.section_len = (size_t)(one_end - one_begin);
		w.parts.section_flags = SHF_ALLOC | SHF_EXECINSTR;
		w.parts.claimed_address = claims[i][0];
		w.parts.claimed_size = claims[i][1];
		frames_open(&w.f, &w.parts, false);
		assert_int_equal(w.f.file->infer.code.len, i == ARRAY_SIZE(claims) - 1 ? 2 : 1);
		put_code(&w, 0x1200, one_begin, one_end);
		expect_rule(&w, 0x1201, "rsp+16 rbx 2");
		assert_int_equal(cfi_file_digest(w.f.file, &digest), 0);
		tear_down(&w);
	}
}

/* Pages far from each other take turns: chunks are forgotten and made again. */
static void what_is_kept_has_an_end(void **state)
{
	struct infer_file infer = { 0 };
	_cleanup_(elf_file_closep) struct elf_file *elf = NULL;
	struct cfi_layer layers[2] = { 0 };
	struct cfi_rows rows = { VEC_INIT };
	static uint8_t text[16 << 16];
	struct cfi_reader reader;

	(void)state;
	/* cdq, and a ret in each 64 bytes */
	memset(text, 0x99, sizeof(text));
	for (size_t i = 63; i < sizeof(text); i += 64)
		text[i] = 0xc3;
	cfi_reader_init_memory(&reader, text, sizeof(text));
	for (int i = 0; i < 2; i++)
		cfi_layer_init(&layers[i], &reader);
	infer.reader = &reader;
	infer.layers[0] = &layers[0];
	infer.layers[1] = &layers[1];
	vec_push(&infer.code, ((struct infer_section){ 0x10000, 0, sizeof(text) }));
	for (uint64_t turn = 0; turn < 48; turn++) {
		rows.v.len = 0;
		cfi_rows_put(&rows, 0, &(struct wire_rule){ .kind = WIRE_RULE_NONE });
		infer_file_fill(&infer, 0x10000 + (turn * 5 % 32 << 15), &rows);
		assert_int_equal(rows.v.items[0].rule.cfa_offset, 8);
	}
	assert_true(infer_file_bytes(&infer) < 64 * 1024);
	infer.spent_ns = UINT64_MAX / 2;
	cfi_rows_put(&rows, 0, &(struct wire_rule){ .kind = WIRE_RULE_NONE });
	infer_file_fill(&infer, 0x10000 + (2ULL << 16), &rows);
	assert_int_equal(rows.v.items[0].rule.kind, WIRE_RULE_NONE);
	infer_file_release(&infer);
	vec_release(&rows.v);
	for (int i = 0; i < 2; i++)
		cfi_layer_release(&layers[i]);
	cfi_reader_release(&reader);
}

/* Of a large section parts stand for all of it. */
static void data_of_a_large_file(void **state)
{
	static uint8_t text[1 << 20];
	const uint64_t word = 0x10000 + 0x4321;
	struct infer_file infer = { 0 };
	struct cfi_layer layers[2] = { 0 };
	struct cfi_reader reader;

	(void)state;
	memset(text, 0x99, sizeof(text));
	memcpy(text + 0x800, &word, sizeof(word));
	cfi_reader_init_memory(&reader, text, sizeof(text));
	for (int i = 0; i < 2; i++) {
		cfi_layer_init(&layers[i], &reader);
		infer.layers[i] = &layers[i];
	}
	infer.reader = &reader;
	vec_push(&infer.code, ((struct infer_section){ 0x10000, 0, sizeof(text) }));
	vec_push(&infer.pointers.data, ((struct infer_section){ 0x10000, 0, 0x1000 }));
	infer_file_read_places(&infer);
	assert_int_equal(infer.pointers.v.len, 1);
	assert_true(infer.pointers.v.items[0] == word);
	infer_file_release(&infer);
	for (int i = 0; i < 2; i++)
		cfi_layer_release(&layers[i]);
	cfi_reader_release(&reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_return_without_a_record),
		cmocka_unit_test(between_two_that_are_described),
		cmocka_unit_test(short_gaps_are_left_alone),
		cmocka_unit_test(padding_is_not_looked_at),
		cmocka_unit_test(symbols_say_where_functions_begin),
		cmocka_unit_test(data_says_where_functions_begin),
		cmocka_unit_test(a_function_in_two_pages),
		cmocka_unit_test(digests_are_of_the_code),
		cmocka_unit_test(sections_that_are_too_large),
		cmocka_unit_test(what_is_kept_has_an_end),
		cmocka_unit_test(data_of_a_large_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
