/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What walks read and went by, as lines of a recording (tests/data/stacks, tests/data/java): memory,
 * ranges and rows. tests/unit/recorded_stack.h and recorded_jvm.h read them.
 */
#ifndef HOSTPROF_TESTS_RECORDED_WALK_H
#define HOSTPROF_TESTS_RECORDED_WALK_H

#include "base/strbuf.h"
#include "base/vec.h"
#include "elf/cfi/cfi_file.h"

struct recorded_byte {
	uint64_t address;
	uint8_t value;
};

/* May hold an address more than once. */
struct recorded_bytes {
	VEC(struct recorded_byte) v;
};

void recorded_bytes_add(struct recorded_bytes *bytes, uint64_t address, uint8_t value);
/* Sorts them; at most 32 to a line. */
void recorded_bytes_print(struct recorded_bytes *bytes, struct strbuf *text);

struct recorded_row {
	uint32_t file, page;
	struct cfi_row row;
};

/* Each range and row once. */
struct recorded_tables {
	VEC(struct wire_range) ranges;
	VEC(struct recorded_row) rows;
};

void recorded_tables_release(struct recorded_tables *tables);
void recorded_tables_keep_range(struct recorded_tables *tables, const struct wire_range *range);

/*
 * ROWS: those of the page of OFFSET, an address of FILE. Kept are the page's first, that of OFFSET
 * and its neighbours: what goes wrong by one row is to show.
 */
void recorded_tables_keep_rows(struct recorded_tables *tables, uint32_t file, uint64_t offset,
			       const struct cfi_rows *rows);
/* Sorts them. */
void recorded_tables_print(struct recorded_tables *tables, struct strbuf *text);

#endif
