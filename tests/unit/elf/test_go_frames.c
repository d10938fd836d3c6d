// SPDX-License-Identifier: Apache-2.0
/* Names, files, lines and inlined calls of Go's tables in each of their forms; and of tables that somebody made to hurt. */
#include "test.h"

#include <errno.h>

#include "elf/cfi/cfi_gopcln.h"
#include "go_tables.h"

struct opened {
	struct elf_file *file;
	struct cfi_reader reader;
	struct go_table table;
	int r;
};

static void open_made(struct made_go *go, struct opened *it)
{
	struct err err;

	*it = (struct opened){ 0 };
	assert_int_equal(
		elf_file_open_memory(go->elf.bytes.buf, go->elf.bytes.len, &it->file, &err), 0);
	cfi_reader_init_memory(&it->reader, go->elf.bytes.buf, go->elf.bytes.len);
	it->r = go_place_open(&it->table, &it->reader, it->file);
}

static void close_made(struct opened *it)
{
	elf_file_close(it->file);
	cfi_reader_release(&it->reader);
}

/* "name file:line", innermost first. */
static const char *frames_at(const struct opened *it, uint64_t address)
{
	static struct go_frames frames;
	static char text[512];
	size_t at = 0;

	if (!go_frames_find(&it->table, address, &frames))
		return "nothing";
	assert_true(go_frames_are_sound(&frames, go_frames_bytes(&frames)));
	text[0] = '\0';
	for (uint32_t i = 0; i < frames.count; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s %s:%d", i ? ", " : "",
				       frames.text + frames.frame[i].name,
				       frames.text + frames.frame[i].file, frames.frame[i].line);
	return text;
}

static void make(struct made_go *go)
{
	made_go_table(go);
	made_go_program(go);
}

static void expect_lines(const struct opened *it)
{
	assert_int_equal(it->r, 0);
	assert_string_equal(frames_at(it, CFI_TEXT), "main.run main.go:10");
	assert_string_equal(frames_at(it, CFI_TEXT + 15), "main.run main.go:10");
	assert_string_equal(frames_at(it, CFI_TEXT + 48), "main.run main.go:11");
	assert_string_equal(frames_at(it, CFI_TEXT + 64), "main.more main.go:10");
	assert_string_equal(frames_at(it, CFI_TEXT + 64 * 16 - 1), "main.more main.go:11");
	assert_string_equal(frames_at(it, CFI_TEXT + 64 * 16), "nothing");
	assert_string_equal(frames_at(it, CFI_TEXT - 1), "nothing");
}

static void expect_inlined(const struct opened *it)
{
	assert_string_equal(frames_at(it, CFI_TEXT + 16),
			    "main.middle main.go:20, main.run main.go:10");
	assert_string_equal(frames_at(it, CFI_TEXT + 31),
			    "main.middle main.go:21, main.run main.go:10");
	assert_string_equal(
		frames_at(it, CFI_TEXT + 32),
		"main.inner[...] inner.go:30, main.middle main.go:21, main.run main.go:10");
}

static void every_form(void **state)
{
	(void)state;
	for (enum go_form form = GO_1_2; form < GO_FORMS; form++) {
		_cleanup_made_go_ struct made_go go = { .form = form, .module = true };
		struct opened it;

		make(&go);
		open_made(&go, &it);
		assert_int_equal(it.table.at.form, form);
		expect_lines(&it);
		if (form >= GO_1_18)
			expect_inlined(&it);
		else
			assert_string_equal(frames_at(&it, CFI_TEXT + 32), "main.run inner.go:30");
		close_made(&it);
	}
}

/* Where frames grew before %rbp was saved: up to Go 1.20. */
static void old_prologues(void **state)
{
	_cleanup_made_go_ struct made_go go = { .form = GO_1_18,
						.old_prologue = true,
						.module = true };

	/* grown at 4, saved by the five bytes there, gone at 60 */
	static const struct {
		int offset, cfa, rbp_slot;
	} expected[] = { { 0, 8, 0 }, { 4, 24, 0 }, { 9, 24, 2 }, { 60, 8, 0 }, { 68, 24, 0 } };
	struct cfi_rows rows = { VEC_INIT };
	struct opened it;

	(void)state;
	make(&go);
	open_made(&go, &it);
	expect_lines(&it);
	cfi_gopcln_rows(&it.table, CFI_TEXT, &rows);
	for (size_t i = 0; i < rows.v.len && i < ARRAY_SIZE(expected); i++) {
		assert_int_equal(rows.v.items[i].offset, expected[i].offset);
		assert_int_equal(rows.v.items[i].rule.cfa_offset, expected[i].cfa);
		assert_int_equal(rows.v.items[i].rule.rbp_slot, expected[i].rbp_slot);
	}
	assert_true(rows.v.len > ARRAY_SIZE(expected));
	vec_release(&rows.v);
	close_made(&it);
}

/* Nothing says where trees are: names and lines. */
static void without_module_data(void **state)
{
	_cleanup_made_go_ struct made_go go = { .form = GO_1_20 };
	struct opened it;

	(void)state;
	make(&go);
	open_made(&go, &it);
	expect_lines(&it);
	assert_int_equal(it.table.at.inlined, 0);
	assert_string_equal(frames_at(&it, CFI_TEXT + 32), "main.run inner.go:30");
	close_made(&it);
}

/* As Debian's docker is: no section, no text in the header, and the words of moduledata in relocations. */
static void another_linker(void **state)
{
	(void)state;
	for (enum go_form form = GO_1_18; form < GO_FORMS; form++) {
		_cleanup_made_go_ struct made_go go = {
			.form = form, .module = true, .relocated = true, .among_data = true
		};
		struct opened it;

		make(&go);
		open_made(&go, &it);
		expect_lines(&it);
		expect_inlined(&it);
		close_made(&it);
	}
}

/* One word that says another thing: it is not the moduledata of these tables. */
static void module_data_is_proven(void **state)
{
	static const size_t words[] = { 0, 1, 4, 7, 10, 13, 16, 17 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		_cleanup_made_go_ struct made_go go = { .form = GO_1_20, .module = true };
		struct opened it;

		make(&go);
		go.elf.bytes.buf[go.module_at + 8 * words[i]] ^= 8;
		open_made(&go, &it);
		assert_int_equal(it.r, 0); /* the header has the text, too */
		assert_int_equal(it.table.at.inlined, 0);
		close_made(&it);
	}
}

static void damage_tree(struct made_go *go, size_t at, uint32_t value)
{
	memcpy(go->elf.bytes.buf + go->inlined_at + 8 + at, &value, sizeof(value));
}

/* A tree whose calls lead in a circle, outside of the function, or to what is no name. */
static void trees_that_lie(void **state)
{
	static const struct {
		size_t at;
		uint32_t value;
		const char *frames;
	} cases[] = {
		{ 4, 1, "main.run main.go:21" }, /* the middle of a name */
		{ 4, UINT32_MAX, "main.run main.go:21" },
		{ 8, 64, "main.run main.go:21" }, /* behind the function */
		{ 8, UINT32_MAX, "main.run main.go:21" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_made_go_ struct made_go go = { .form = GO_1_20, .module = true };
		struct opened it;

		make(&go);
		damage_tree(&go, cases[i].at, cases[i].value);
		open_made(&go, &it);
		assert_string_equal(frames_at(&it, CFI_TEXT + 28), cases[i].frames);
		close_made(&it);
	}
}

static void a_circle_ends(void **state)
{
	_cleanup_made_go_ struct made_go go = { .form = GO_1_20, .module = true };
	static struct go_frames frames;
	struct opened it;

	(void)state;
	make(&go);
	damage_tree(&go, 8, 20); /* middle is called in middle */
	open_made(&go, &it);
	assert_true(go_frames_find(&it.table, CFI_TEXT + 20, &frames));
	assert_int_equal(frames.count, GO_MAX_FRAMES);
	assert_string_equal(frames.text + frames.frame[GO_MAX_FRAMES - 1].name, "main.run");
	assert_true(go_frames_are_sound(&frames, go_frames_bytes(&frames)));
	close_made(&it);
}

/* Every byte of tables, tree and module is another one, two ways: whatever is found lies within. */
static void every_byte(void **state)
{
	(void)state;
	for (enum go_form form = GO_1_2; form < GO_FORMS; form++) {
		_cleanup_made_go_ struct made_go go = { .form = form, .module = true };
		size_t end;

		make(&go);
		end = MAX(go.module_at + 41 * 8, go.table_at + go.table.len);
		for (size_t at = go.inlined_at; at < end; at++)
			for (int way = 0; way < 2; way++) {
				char was = go.elf.bytes.buf[at];
				struct opened it;

				go.elf.bytes.buf[at] = way ? '\377' : (char)(was ^ 0x80);
				open_made(&go, &it);
				for (uint64_t pc = 0; it.r == 0 && pc < 128; pc += 8)
					(void)frames_at(&it, CFI_TEXT + pc);
				close_made(&it);
				go.elf.bytes.buf[at] = was;
			}
	}
}

/* Cut at every length. */
static void every_length(void **state)
{
	_cleanup_made_go_ struct made_go whole = { .form = GO_1_20 };

	(void)state;
	made_go_table(&whole);
	for (size_t len = 0; len < whole.table.len; len += 3) {
		_cleanup_made_go_ struct made_go go = { .form = GO_1_20, .module = true };
		struct opened it;

		made_go_table(&go);
		go.table.len = len;
		made_go_program(&go);
		open_made(&go, &it);
		for (uint64_t pc = 0; it.r == 0 && pc < 128; pc += 8)
			(void)frames_at(&it, CFI_TEXT + pc);
		close_made(&it);
	}
}

/* Numbers that come back from who kept them are looked at again. */
static void numbers_that_come_back(void **state)
{
	_cleanup_made_go_ struct made_go go = { .form = GO_1_20, .module = true };
	struct go_table table;
	struct opened it;

	(void)state;
	make(&go);
	open_made(&go, &it);
	assert_true(go_table_resume(&table, &it.reader, &it.table.at));
	for (size_t i = 0; i < sizeof(struct go_place) / 8; i++) {
		static const uint64_t values[] = { 0, 1, UINT32_MAX, UINT64_MAX, 1ULL << 63 };

		for (size_t j = 0; j < ARRAY_SIZE(values); j++) {
			struct go_place place = it.table.at;

			memcpy((char *)&place + 8 * i, &values[j], 8);
			if (!go_table_resume(&table, &it.reader, &place))
				continue;
			it.table = table;
			it.table.at = place;
			for (uint64_t pc = 0; pc < 128; pc += 8)
				(void)frames_at(&it, CFI_TEXT + pc);
			it.table.at = (struct go_place){ 0 };
			assert_int_equal(go_place_open(&it.table, &it.reader, it.file), 0);
		}
	}
	close_made(&it);
}

/* What a reader may say. */
static void answers_are_looked_at(void **state)
{
	static struct go_frames frames;
	size_t bytes;

	(void)state;
	frames = (struct go_frames){ .count = 1, .text_bytes = 7, .frame = { { 0, 6, 1 } } };
	memcpy(frames.text, "main.f", 7);
	bytes = go_frames_bytes(&frames);
	assert_true(go_frames_are_sound(&frames, bytes));
	assert_false(go_frames_are_sound(&frames, bytes - 1));
	assert_false(go_frames_are_sound(&frames, bytes + 1));
	assert_false(go_frames_are_sound(&frames, 8));
	frames.frame[0].name = 7;
	assert_false(go_frames_are_sound(&frames, bytes));
	frames.frame[0] = (struct go_frame){ 0, 7, 1 };
	assert_false(go_frames_are_sound(&frames, bytes));
	frames.frame[0] = (struct go_frame){ 0, 6, -1 };
	assert_false(go_frames_are_sound(&frames, bytes));
	frames.frame[0] = (struct go_frame){ 0, 6, 1 };
	frames.text[6] = 'x';
	assert_false(go_frames_are_sound(&frames, bytes));
	frames.text[6] = '\0';
	frames.count = 0;
	assert_false(go_frames_are_sound(&frames, bytes));
	frames.count = GO_MAX_FRAMES + 1;
	assert_false(go_frames_are_sound(&frames, bytes));
	frames.count = 1;
	frames.text_bytes = GO_TEXT_BYTES + 1;
	assert_false(go_frames_are_sound(&frames, go_frames_bytes(&frames)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form),
		cmocka_unit_test(old_prologues),
		cmocka_unit_test(without_module_data),
		cmocka_unit_test(another_linker),
		cmocka_unit_test(module_data_is_proven),
		cmocka_unit_test(trees_that_lie),
		cmocka_unit_test(a_circle_ends),
		cmocka_unit_test(every_byte),
		cmocka_unit_test(every_length),
		cmocka_unit_test(numbers_that_come_back),
		cmocka_unit_test(answers_are_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
