/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go's own tables (.gopclntab), which a stripped program keeps too: of each function where it begins, its name, and of
 * each pc how far the stack has grown, file, line, and what was inlined there.
 * Layouts: Go 1.2 to 1.26, runtime/symtab.go (pcHeader, functab, moduledata), runtime/runtime2.go (_func),
 * debug/gosym/pclntab.go (those before 1.18), cmd/link/internal/ld/pcln.go.
 *
 * All of it is somebody else's: each count and offset is checked against the tables' size before it is used, so that numbers
 * (struct go_place) may also come from who is not trusted.
 */
#ifndef HOSTPROF_ELF_GO_GO_TABLE_H
#define HOSTPROF_ELF_GO_GO_TABLE_H

#include "elf/cfi/cfi_bytes.h"
#include "elf/cfi/cfi_reader.h"
#include "elf/go/go_form.h"

/* Where things are: numbers only. */
struct go_place {
	uint64_t offset, size;			      /* of the tables in the file; size 0: none */
	uint64_t address;			      /* of the tables */
	uint64_t text;				      /* that addresses of functions count from */
	uint64_t count;				      /* of functions */
	uint64_t names, units, files, pctab, functab; /* from `offset` on */
	uint64_t first, end;			      /* of the functions */
	uint64_t code; /* what is added to an address in the text for its place in the file */
	uint64_t
		inlined; /* go.func.*, in the file; 0: not known, and nothing is told of inlining */
	uint64_t inlined_size;
	uint32_t form; /* enum go_form */
};

struct go_table {
	struct cfi_reader *reader; /* borrowed; NULL: the file has no such tables */
	struct go_place at;
};

/* Of tables at `offset`, `size` bytes at most; *RET_TEXT may be 0. False: it is none that we know. */
bool go_table_read_header(struct go_table *table, uint64_t *ret_text);

/* The same by what is known of it: NULL without a table. */
bool go_table_resume(struct go_table *table, struct cfi_reader *reader, const struct go_place *at);

#define GO_MAX_ENTRIES 256 /* that are read in one piece */

struct go_entry {
	uint64_t start, func;
};

/* Up to MAX entries from the AT-th on, the end behind the last function included. */
size_t go_table_entries(const struct go_table *table, uint64_t at, struct go_entry *entries,
			size_t max);

#define GO_FLAG_ASSEMBLY 4

struct go_function {
	uint64_t start, end;
	uint32_t name, pcsp, pcfile, pcline, pcdata_count, unit;
	uint64_t pcdata; /* where its list is */
	uint8_t flags, funcdata_count;
};

/* The function of the first of two ENTRIES. */
bool go_table_function(const struct go_table *table, const struct go_entry *entries,
		       struct go_function *ret);
bool go_table_function_at(const struct go_table *table, uint64_t at, struct go_function *ret);

/* The last function that begins at or below ADDRESS, or the first. */
uint64_t go_table_find(const struct go_table *table, uint64_t address);

/* LEN bytes of the tables; bad when they are not all there. Good until the next call. */
struct cfi_bytes go_table_bytes(const struct go_table *table, uint64_t at, uint64_t len);

/*
 * Pairs of how much a value changes and over how many bytes of code it holds, from -1 and START on; 0 ends them
 * (runtime/symtab.go, step()).
 */
struct go_steps {
	struct cfi_bytes bytes;
	uint64_t start, pc, end; /* VALUE holds from PC to END */
	int32_t value;
};

/* Of the pairs at PCTAB + OFFSET, as many as lie in LEN bytes; false: there are none. */
bool go_steps_begin(struct go_steps *steps, const struct go_table *table, uint32_t offset,
		    uint64_t start, uint64_t len);
/* The next one; false: no more, or (bytes.bad) cut. */
bool go_steps_next(struct go_steps *steps);

/* Most lists are short; one that is cut is read again, longer. */
#define GO_STEPS_SHORT 1024
#define GO_STEPS_LONG  CFI_READER_MAX_BYTES

/* The value at ADDRESS of FUNCTION's list at OFFSET. */
bool go_table_value(const struct go_table *table, const struct go_function *function,
		    uint32_t offset, uint64_t address, int32_t *ret_value);

/* A text at offset AT of a part of the tables (names, files), as much as fits; false: there is none. */
bool go_table_text(const struct go_table *table, uint64_t part, uint64_t at, char *ret_text,
		   size_t size);

/* Bytes of the code at ADDRESS. */
size_t go_table_code(const struct go_table *table, uint64_t address, void *buf, size_t size);

#endif
