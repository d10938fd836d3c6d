/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names, lines and inlined calls of Go's tables that somebody made. The first byte chooses a sound program of one of the forms, the second
 * what is changed: its bytes from the tables on (offset, 2 bytes; how many, 1; those bytes), or the numbers of a table that was found,
 * as they come back from who keeps them (which, 1 byte; 8 bytes), before its bytes. Or the second byte is 255, and the third chooses a function
 * of the runtime, whose instructions follow.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Before fixtures. */
#include "fuzz_asserts.h"

#include "elf/cfi/cfi_gopcln.h"
#include "elf/go/go_switch.h"
#include "go_tables.h"

#define MAX_CHANGE   32
#define MAX_NUMBERS  4
#define STEP	     7
#define INSTRUCTIONS 255

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Made once; each run works on a copy of its bytes. */
static const struct made_go *shape_of(uint8_t choice)
{
	static struct made_go made[GO_FORMS * 4];
	struct made_go *go = &made[choice % ARRAY_SIZE(made)];

	if (go->elf.bytes.len)
		return go;
	go->form = (enum go_form)(choice % GO_FORMS);
	/* Older ones hold addresses, which linkers put there. */
	go->relocated = choice / GO_FORMS % 2 && go->form >= GO_1_18;
	go->among_data = go->relocated;
	go->module = go->relocated || choice / GO_FORMS % 4 < 2;
	made_go_table(go);
	made_go_program(go);
	return go;
}

static void change(const struct made_go *go, uint8_t *bytes, const uint8_t *data, size_t size)
{
	while (size > 3) {
		size_t at = go->inlined_at + (data[0] | (size_t)data[1] << 8);
		size_t len = MIN((size_t)data[2] % MAX_CHANGE, size - 3);

		data += 3;
		size -= 3;
		if (at < go->elf.bytes.len)
			memcpy(bytes + at, data, MIN(len, go->elf.bytes.len - at));
		data += len;
		size -= len;
	}
}

static void check_frames(const struct go_frames *frames, uint64_t address)
{
	assert_true(go_frames_are_sound(frames, go_frames_bytes(frames)));
	assert_true(frames->start <= address);
	for (uint32_t i = 0; i < frames->count; i++)
		assert_true(frames->text[frames->frame[i].name]);
}

static void check_rows(struct go_table *table, uint64_t page)
{
	struct cfi_rows rows = { VEC_INIT };

	cfi_gopcln_rows(table, page, &rows);
	for (size_t i = 0; i < rows.v.len; i++)
		assert_true(rows.v.items[i].offset < WIRE_PAGE_BYTES &&
			    rows.v.items[i].rule.kind < WIRE_RULE_KIND_COUNT &&
			    (!i || rows.v.items[i].offset > rows.v.items[i - 1].offset));
	vec_release(&rows.v);
}

static void look(struct go_table *table)
{
	static struct go_frames frames;

	for (uint64_t at = 0; at < (MADE_GO_FUNCTIONS + 1) * MADE_GO_FUNCTION_BYTES; at += STEP)
		if (go_frames_find(table, CFI_TEXT + at, &frames))
			check_frames(&frames, CFI_TEXT + at);
	if (go_frames_find(table, table->at.first, &frames))
		check_frames(&frames, table->at.first);
	check_rows(table, CFI_TEXT);
}

/* What is left of DATA. */
static size_t change_numbers(struct go_place *place, const uint8_t *data, size_t size)
{
	size_t used = 0;

	for (int i = 0; i < MAX_NUMBERS && size - used >= 9; i++, used += 9)
		memcpy((char *)place + data[used] % (sizeof(*place) / 8) * 8, data + used + 1, 8);
	return used;
}

static void look_into(const uint8_t *bytes, size_t len)
{
	struct elf_file *file;
	struct cfi_reader reader;
	struct go_table table = { 0 };
	struct err err;

	if (elf_file_open_memory(bytes, len, &file, &err) < 0)
		return;
	cfi_reader_init_memory(&reader, bytes, len);
	if (go_place_open(&table, &reader, file) == 0)
		look(&table);
	elf_file_close(file);
	cfi_reader_release(&reader);
}

/* What was found in the sound program is kept by somebody else meanwhile. */
static void resume(const struct made_go *go, uint8_t *bytes, const uint8_t *data, size_t size)
{
	size_t len = go->elf.bytes.len, used;
	struct elf_file *file;
	struct cfi_reader reader;
	struct go_table table = { 0 };
	struct go_place place;
	struct err err;

	assert_int_equal(elf_file_open_memory(bytes, len, &file, &err), 0);
	cfi_reader_init_memory(&reader, bytes, len);
	assert_int_equal(go_place_open(&table, &reader, file), 0);
	elf_file_close(file);
	place = table.at;
	used = change_numbers(&place, data, size);
	cfi_reader_release(&reader);
	change(go, bytes, data + used, size - used);
	cfi_reader_init_memory(&reader, bytes, len);
	if (go_table_resume(&table, &reader, &place))
		look(&table);
	cfi_reader_release(&reader);
}

/* None of it lies elsewhere. */
static void check_switch(const struct go_switch *s, uint64_t end)
{
	const struct go_code codes[] = { s->systemstack, s->mcall,     s->asmcgocall,
					 s->nosave,	 s->morestack, s->thread };

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		assert_true(!codes[i].end ||
			    (codes[i].start >= CFI_TEXT && codes[i].start <= codes[i].end &&
			     codes[i].end <= end));
	assert_true(s->curg < 4096 && s->nosave_at < 0x80);
}

static void look_at_function(uint8_t choice, const uint8_t *bytes, size_t len)
{
	static const char *const names[] = { "runtime.systemstack", "runtime.mcall",
					     "runtime.asmcgocall", "runtime.morestack",
					     "runtime.clone" };
	const struct go_function function = { .start = CFI_TEXT, .end = CFI_TEXT + len };
	struct go_switch found = { 0 };
	struct cfi_reader reader;
	struct go_table table = { .reader = &reader, .at = { .code = -CFI_TEXT } };

	cfi_reader_init_memory(&reader, bytes, len);
	(void)go_switch_look(&found, &table, &function, names[choice % ARRAY_SIZE(names)]);
	cfi_reader_release(&reader);
	check_switch(&found, CFI_TEXT + len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct made_go *go;
	uint8_t *bytes;

	if (size < 3)
		return 0;
	if (data[1] == INSTRUCTIONS) {
		look_at_function(data[2], data + 3, size - 3);
		return 0;
	}
	go = shape_of(data[0]);
	bytes = malloc(go->elf.bytes.len);
	assert_true(bytes);
	memcpy(bytes, go->elf.bytes.buf, go->elf.bytes.len);
	if (data[1] % 2) {
		resume(go, bytes, data + 2, size - 2);
	} else {
		change(go, bytes, data + 2, size - 2);
		look_into(bytes, go->elf.bytes.len);
	}
	free(bytes);
	return 0;
}
