// SPDX-License-Identifier: Apache-2.0
#include "elf/cfi/fde_index.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

/* The header (LSB Core 5.0, 10.6.2): version, three encodings, pointer, count, table. */
#define HEADER_VERSION 1
#define HEADER_BYTES   12
#define TABLE_ENCODING (DW_EH_PE_datarel | DW_EH_PE_sdata4)
/* A static binary has some thousand FDEs; these are 16 MiB of index and 256 MiB of records. */
#define MAX_OWN_ENTRIES (2U << 20)
#define MAX_SCAN_BYTES	(256ULL << 20)
/* Small records and one CIE for each would cost minutes; an object file has one CIE, or two. */
#define MAX_SCAN_RECORDS (4U << 20)
#define MAX_SCAN_CIES	 (256U << 10)
/* So few entries are looked through in one piece. */
#define PIECE_ENTRIES 256

int fde_index_read_header(struct fde_index *index, struct cfi_reader *reader, uint64_t offset,
			  uint64_t hdr_address, uint64_t size, uint64_t *ret_eh_frame)
{
	uint8_t header[HEADER_BYTES];
	struct cfi_bytes b = { header, header + sizeof(header), false };
	uint8_t pointer_encoding, count_encoding, table_encoding;
	uint64_t count;

	if (size < sizeof(header) ||
	    cfi_reader_copy(reader, offset, header, sizeof(header)) != sizeof(header))
		return -EBADMSG;
	if (cfi_bytes_byte(&b) != HEADER_VERSION)
		return -EBADMSG;
	pointer_encoding = cfi_bytes_byte(&b);
	count_encoding = cfi_bytes_byte(&b);
	table_encoding = cfi_bytes_byte(&b);
	*ret_eh_frame = cfi_address(&b, pointer_encoding, hdr_address + 4, hdr_address);
	count = cfi_bytes_fixed(&b, 4);
	if (b.bad || (pointer_encoding & 0x0f) != DW_EH_PE_sdata4 ||
	    count_encoding != DW_EH_PE_udata4 || table_encoding != TABLE_ENCODING || count == 0)
		return -EBADMSG;
	index->table_offset = offset + HEADER_BYTES;
	index->table_count = MIN(count, (size - HEADER_BYTES) / FDE_INDEX_ENTRY_BYTES);
	index->table_base = hdr_address;
	return index->table_count ? 0 : -EBADMSG;
}

/* Up to MAX entries from the AT-th on; how many there are. */
static size_t read_table(struct fde_index *index, uint64_t at, struct fde_place *places, size_t max)
{
	const struct cfi_section *section = index->section;
	uint8_t bytes[PIECE_ENTRIES * FDE_INDEX_ENTRY_BYTES];
	size_t n = MIN(MIN(max, (size_t)PIECE_ENTRIES), index->table_count - at);
	struct cfi_bytes b = { bytes, bytes, false };

	n = cfi_reader_copy(section->reader, index->table_offset + at * FDE_INDEX_ENTRY_BYTES,
			    bytes, n * FDE_INDEX_ENTRY_BYTES) /
	    FDE_INDEX_ENTRY_BYTES;
	b.end = bytes + n * FDE_INDEX_ENTRY_BYTES;
	for (size_t i = 0; i < n; i++) {
		places[i].start = cfi_address(&b, TABLE_ENCODING, 0, index->table_base);
		places[i].offset =
			cfi_address(&b, TABLE_ENCODING, 0, index->table_base) - section->address;
	}
	return n;
}

static size_t read_own(struct fde_index *index, uint64_t at, struct fde_place *places, size_t max)
{
	size_t n = MIN(max, index->own.len - at);

	for (size_t i = 0; i < n; i++) {
		const struct fde_index_entry *entry = &index->own.items[at + i];

		places[i] = (struct fde_place){ index->base + entry->start, entry->offset };
	}
	return n;
}

static size_t read_entries(struct fde_index *index, uint64_t at, struct fde_place *places,
			   size_t max)
{
	if (index->table_offset)
		return read_table(index, at, places, max);
	return read_own(index, at, places, max);
}

/* The last entry that begins at or below ADDRESS; 0 when there is none. */
static uint64_t find_entry(struct fde_index *index, uint64_t count, uint64_t address)
{
	uint64_t low = 0, high = count, middle;
	struct fde_place place;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (read_entries(index, middle, &place, 1) != 1)
			return low;
		if (place.start <= address)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void fde_index_find(struct fde_index *index, uint64_t start, uint64_t end,
		    struct fde_places *places)
{
	uint64_t count = index->table_offset ? index->table_count : index->own.len;
	uint64_t at = find_entry(index, count, start);
	struct fde_place piece[PIECE_ENTRIES];
	size_t n;

	places->v.len = 0;
	/* Of a page few; the next pieces are as large. */
	while (at < count && (n = read_entries(index, at, piece, PIECE_ENTRIES)) > 0) {
		for (size_t i = 0; i < n; i++) {
			if (piece[i].start >= end || places->v.len >= FDE_INDEX_MAX_PLACES)
				return;
			if (places->v.len &&
			    piece[i].start < places->v.items[places->v.len - 1].start)
				return; /* not sorted */
			vec_push(&places->v, piece[i]);
		}
		at += n;
	}
}

/* --- an index of our own --- */

static int compare_entries(const void *a, const void *b)
{
	const struct fde_index_entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Addresses are kept as offsets of 32 bits above the first; text below it may come later. */
static void add_entry(struct fde_index *index, uint64_t start, uint64_t offset)
{
	if (index->own.len == 0)
		index->base = start > INT32_MAX ? start - INT32_MAX : 0;
	if (start < index->base || start - index->base > UINT32_MAX || offset > UINT32_MAX)
		return;
	vec_push(&index->own,
		 ((struct fde_index_entry){ (uint32_t)(start - index->base), (uint32_t)offset }));
}

static bool add_fde(const struct cfi_fde *fde, uint64_t offset, void *data)
{
	struct fde_index *index = data;

	add_entry(index, fde->start, offset);
	return index->own.len < MAX_OWN_ENTRIES;
}

void fde_index_for_each(struct cfi_section *section,
			bool (*fn)(const struct cfi_fde *fde, uint64_t offset, void *data),
			void *data)
{
	uint64_t offset = 0;
	uint32_t records = 0;
	struct cfi_fde fde;

	section->cies_read = 0;
	do {
		cfi_section_trim(section);
		/* The linker leaves FDEs of code that it dropped, at address 0. */
		if (cfi_section_fde(section, offset, &fde) == 0 && fde.start &&
		    !fn(&fde, offset, data))
			return;
		offset = cfi_section_next(section, offset);
	} while (offset && offset < MAX_SCAN_BYTES && ++records < MAX_SCAN_RECORDS &&
		 section->cies_read < MAX_SCAN_CIES);
}

void fde_index_scan(struct fde_index *index)
{
	index->table_offset = 0;
	index->own.len = 0;
	fde_index_for_each(index->section, add_fde, index);
	if (index->own.len == 0)
		return;
	qsort(index->own.items, index->own.len, sizeof(index->own.items[0]), compare_entries);
	index->own.items = xrealloc(index->own.items, index->own.len * sizeof(index->own.items[0]));
	index->own.cap = index->own.len;
}

void fde_index_release(struct fde_index *index)
{
	vec_release(&index->own);
	index->table_offset = 0;
}
