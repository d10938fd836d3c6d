// SPDX-License-Identifier: Apache-2.0
#include "recorded_walk.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- memory ----------------------------------------------------------------------------------- */

void recorded_bytes_add(struct recorded_bytes *bytes, uint64_t address, uint8_t value)
{
	struct recorded_byte byte = { address, value };

	vec_push(&bytes->v, byte);
}

static int compare_bytes(const void *a, const void *b)
{
	const struct recorded_byte *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

void recorded_bytes_print(struct recorded_bytes *bytes, struct strbuf *text)
{
	uint64_t next = 0;
	size_t run = 0;

	qsort(bytes->v.items, bytes->v.len, sizeof(bytes->v.items[0]), compare_bytes);
	for (size_t i = 0; i < bytes->v.len; i++) {
		const struct recorded_byte *byte = &bytes->v.items[i];

		if (i && byte->address == byte[-1].address)
			continue;
		if (!i || byte->address != next || run == 32) {
			strbuf_addf(text, "%smemory %#" PRIx64 " ", i ? "\n" : "", byte->address);
			run = 0;
		}
		strbuf_addf(text, "%02x", byte->value);
		next = byte->address + 1;
		run++;
	}
	if (bytes->v.len)
		strbuf_addch(text, '\n');
}

/* --- ranges and rows -------------------------------------------------------------------------- */

void recorded_tables_release(struct recorded_tables *tables)
{
	vec_release(&tables->ranges);
	vec_release(&tables->rows);
}

void recorded_tables_keep_range(struct recorded_tables *tables, const struct wire_range *range)
{
	const struct wire_range *kept;

	vec_for_each (kept, &tables->ranges)
		if (kept->start == range->start)
			return;
	vec_push(&tables->ranges, *range);
}

static void keep_row(struct recorded_tables *tables, uint32_t file, uint32_t page,
		     const struct cfi_row *row)
{
	struct recorded_row used = { file, page, *row };
	const struct recorded_row *kept;

	vec_for_each (kept, &tables->rows)
		if (kept->file == file && kept->page == page && kept->row.offset == row->offset)
			return;
	vec_push(&tables->rows, used);
}

void recorded_tables_keep_rows(struct recorded_tables *tables, uint32_t file, uint64_t offset,
			       const struct cfi_rows *rows)
{
	uint32_t page = (uint32_t)(offset >> WIRE_PAGE_SHIFT);
	size_t at = 0;

	if (!rows->v.len)
		return;
	while (at + 1 < rows->v.len &&
	       rows->v.items[at + 1].offset <= (offset & (WIRE_PAGE_BYTES - 1)))
		at++;
	keep_row(tables, file, page, &rows->v.items[0]);
	for (size_t i = at ? at - 1 : 0; i < rows->v.len && i <= at + 1; i++)
		keep_row(tables, file, page, &rows->v.items[i]);
}

static int compare_rows(const void *a, const void *b)
{
	const struct recorded_row *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->page != y->page)
		return x->page < y->page ? -1 : 1;
	return x->row.offset < y->row.offset ? -1 : x->row.offset > y->row.offset;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct wire_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

void recorded_tables_print(struct recorded_tables *tables, struct strbuf *text)
{
	const struct wire_range *range;
	const struct recorded_row *used;

	qsort(tables->ranges.items, tables->ranges.len, sizeof(*range), compare_ranges);
	qsort(tables->rows.items, tables->rows.len, sizeof(*used), compare_rows);
	vec_for_each (range, &tables->ranges)
		strbuf_addf(text, "range %#" PRIx64 " %#" PRIx64 " %#" PRIx64 " %u\n", range->start,
			    range->end, range->bias, range->file);
	vec_for_each (used, &tables->rows) {
		const struct wire_rule *rule = &used->row.rule;

		strbuf_addf(text, "row %u %#x %#x  %u %u %d %d %u %u %u %u %u %u %u\n", used->file,
			    used->page, used->row.offset, rule->kind, rule->cfa_reg,
			    rule->cfa_offset, rule->cfa_add, rule->ra_slot, rule->rbx_slot,
			    rule->rbp_slot, rule->r13_slot, rule->r15_slot, rule->cfa_index,
			    rule->home_reg);
	}
}
