/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of tests/data/stacks: what tests/tools/record_stack.py and the differential test write. A
 * recording that has ranges is walked by its rows, another one by frame pointers alone.
 */
#ifndef HOSTPROF_TESTS_RECORDED_STACK_H
#define HOSTPROF_TESTS_RECORDED_STACK_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "heap_tables.h"
#include "unwind/tables/row_store.h"
#include "unwind/walk.h"
#include "walk_copy.h"

#define RECORDED_MAX	4096
#define RECORDED_SERIAL 7
/* What memory holds that the walk did not read when it was recorded: no address, not aligned. */
#define RECORDED_POISON 0xdb

struct recorded_row {
	struct wire_page_key key;
	struct cfi_row row;
};

struct recorded_stack {
	struct walk_request request;
	uint64_t frames[RECORDED_MAX]; /* another unwinder's, leaf first */
	size_t frame_count;
	uint8_t bytes[RECORDED_MAX][32];
	struct walk_piece lines[RECORDED_MAX]; /* rising addresses */
	size_t line_count;
	struct wire_range ranges[RECORDED_MAX];
	struct recorded_row rows[RECORDED_MAX]; /* by file, page, offset */
	size_t row_count;
	bool word_by_word; /* refuse to read in bulk, as beside a page that is not there */

	struct table_memory *memory;
	struct row_store *store;
	struct unwind_tables tables;
	struct wire_hot hots[WIRE_HOT_ENTRIES];
};

/* --- reading ---------------------------------------------------------------------------------- */

static inline void recorded_hex(const char *hex, uint8_t *bytes, size_t *ret_len)
{
	size_t n = 0;

	for (; n < 32 && sscanf(hex + 2 * n, "%2hhx", &bytes[n]) == 1; n++)
		;
	*ret_len = n;
}

static inline bool recorded_register(struct recorded_stack *s, const char *line)
{
	static const struct {
		const char *name;
		int number;
	} old[] = { { "sp", DWARF_RSP }, { "fp", DWARF_RBP }, { "r13", DWARF_R13 } };

	char name[8];
	uint64_t value;
	unsigned int number;

	if (sscanf(line, "reg %u 0x%" SCNx64, &number, &value) == 2 && number < 16) {
		s->request.regs[number] = value;
		return true;
	}
	if (sscanf(line, "%7s 0x%" SCNx64, name, &value) != 2)
		return false;
	for (size_t i = 0; i < 3; i++)
		if (strcmp(name, old[i].name) == 0)
			s->request.regs[old[i].number] = value;
	if (strcmp(name, "pc") == 0)
		s->request.pc = value;
	if (strcmp(name, "top") == 0)
		s->request.stack_top = value;
	return false;
}

/* row FILE PAGE OFFSET  KIND CFA-REGISTER CFA-OFFSET CFA-ADD RA RBX RBP R13 R15 CFA-INDEX HOME */
static inline bool recorded_row(struct recorded_stack *s, const char *line)
{
	struct recorded_row *r = &s->rows[s->row_count];
	struct wire_rule *rule = &r->row.rule;

	if (s->row_count == RECORDED_MAX)
		return false;
	memset(r, 0, sizeof(*r));
	if (sscanf(line,
		   "row %" SCNu32 " %" SCNx32 " %" SCNx16
		   " %hhu %hhu %d %hd %hhu %hhu %hu %hhu %hhu %hhu %hhu",
		   &r->key.file, &r->key.page, &r->row.offset, &rule->kind, &rule->cfa_reg,
		   &rule->cfa_offset, &rule->cfa_add, &rule->ra_slot, &rule->rbx_slot,
		   &rule->rbp_slot, &rule->r13_slot, &rule->r15_slot, &rule->cfa_index,
		   &rule->home_reg) != 14)
		return false;
	s->row_count++;
	return true;
}

static inline bool recorded_range(struct recorded_stack *s, const char *line)
{
	struct wire_range *r = &s->ranges[s->request.count];

	if (s->request.count == RECORDED_MAX ||
	    sscanf(line, "range %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNu32, &r->start, &r->end,
		   &r->bias, &r->file) != 4)
		return false;
	r->serial = RECORDED_SERIAL;
	s->request.count++;
	return true;
}

static inline void recorded_memory(struct recorded_stack *s, const char *line)
{
	struct walk_piece *piece = &s->lines[s->line_count];
	uint64_t address;
	char hex[80];

	if (s->line_count == RECORDED_MAX ||
	    sscanf(line, "memory 0x%" SCNx64 " %79s", &address, hex) != 2)
		return;
	piece->address = address;
	piece->data = s->bytes[s->line_count];
	recorded_hex(hex, s->bytes[s->line_count++], &piece->len);
}

static inline void recorded_line(struct recorded_stack *s, const char *line)
{
	uint64_t value;

	if (recorded_register(s, line) || recorded_row(s, line) || recorded_range(s, line))
		return;
	if (sscanf(line, "frame 0x%" SCNx64, &value) == 1 && s->frame_count < RECORDED_MAX)
		s->frames[s->frame_count++] = value;
	recorded_memory(s, line);
}

static inline int recorded_load(const char *path, struct recorded_stack *s)
{
	FILE *f = fopen(path, "r");
	char line[256];

	memset(s, 0, sizeof(*s));
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		recorded_line(s, line);
	fclose(f);
	s->request.exact = true;
	return 0;
}

/* --- memory ----------------------------------------------------------------------------------- */

static inline const uint8_t *recorded_byte(const struct recorded_stack *s, uint64_t address)
{
	for (size_t i = 0; i < s->line_count; i++)
		if (address - s->lines[i].address < s->lines[i].len)
			return &s->lines[i].data[address - s->lines[i].address];
	return NULL;
}

/* Bulk reads are of the stack, where more was than what was recorded. */
static inline bool recorded_bulk(const struct recorded_stack *s, uint64_t address, size_t len)
{
	const struct walk_piece *last;

	if (len <= 256 || s->word_by_word || !s->line_count)
		return false;
	last = &s->lines[s->line_count - 1];
	return address + WIRE_MISS_BELOW >= s->request.regs[DWARF_RSP] &&
	       address + len <= last->address + last->len;
}

/* Lines are 32 bytes; a read may span several, so that it is answered byte by byte. */
static inline int recorded_read(const void *data, uint64_t address, void *dst, size_t len)
{
	const struct recorded_stack *s = data;
	bool bulk = recorded_bulk(s, address, len);

	if (len > 256 && s->word_by_word)
		return -1;
	for (size_t done = 0; done < len; done++) {
		const uint8_t *byte = recorded_byte(s, address + done);

		if (!byte && !bulk)
			return -1;
		((uint8_t *)dst)[done] = byte ? *byte : RECORDED_POISON;
	}
	return 0;
}

/* --- tables ----------------------------------------------------------------------------------- */

static inline size_t recorded_page_rows(const struct recorded_stack *s, size_t at,
					struct cfi_row *rows)
{
	size_t n = 0;

	for (; at + n < s->row_count; n++) {
		if (memcmp(&s->rows[at + n].key, &s->rows[at].key, sizeof(s->rows[at].key)) != 0)
			break;
		rows[n] = s->rows[at + n].row;
	}
	return n;
}

/* Make the tables of the recording's ranges and rows; 0 or a negative errno. */
static inline int recorded_make_tables(struct recorded_stack *s)
{
	static struct cfi_row rows[RECORDED_MAX];

	s->memory = table_memory_new_heap(2 * RECORDED_MAX, 2 * RECORDED_MAX, 16);
	s->store = row_store_new(s->memory);
	for (size_t at = 0, n; at < s->row_count; at += n) {
		int ret;

		n = recorded_page_rows(s, at, rows);
		ret = row_store_put(s->store, &s->rows[at].key, rows, n, 0);
		if (ret < 0)
			return ret;
	}
	row_store_tables(s->store, &s->tables);
	s->tables.ranges = s->ranges;
	s->tables.range_count = s->request.count;
	s->tables.hots = s->hots;
	s->request.serial = RECORDED_SERIAL;
	s->request.listed = true;
	return 0;
}

static inline void recorded_release(struct recorded_stack *s)
{
	row_store_free(s->store);
	table_memory_free_heap(s->memory);
}

#endif
