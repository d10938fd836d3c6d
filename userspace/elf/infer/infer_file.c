// SPDX-License-Identifier: Apache-2.0
#include "elf/infer/infer_file.h"

#include <stdlib.h>

#include "base/clock.h"
#include "elf/elf_file_private.h"
#include "elf/infer/infer_addresses.h"
#include "elf/infer/infer_epilogue.h"
#include "elf/infer/infer_gaps.h"

#define CHUNK_BYTES (16U << 10)
/* Beside a chunk so much is looked at: functions that reach into it. With both the chunk is a third of what is looked at, and who runs in one page pays for no more. */
#define BESIDE_BYTES (16U << 10)
/* Of these, so much where it is known where functions begin: what a chunk's own ones go on in, or call, lies close by. */
#define NEAR_BYTES (4U << 10)
/* Honest files have two to five sections of code. */
#define MAX_SECTIONS 64
/* The largest files of code have a tenth of it; all of a section's call frame information is looked for. */
#define MAX_CODE_BYTES	 (4ULL << 30)
#define MAX_ADDRESS	 (1ULL << 56)
#define MAX_SYMBOLS_READ (1U << 18)
/* Of a file's code, as one in so many: what no call frame information describes is more than some assembler. */
#define LARGE_GAPS 8
/* All chunks of one file together. */
#define MAX_SPENT_NS (2 * NSEC_PER_SEC)

/* --- opening ---------------------------------------------------------------------------------- */

static bool is_code(const GElf_Shdr *header)
{
	return header->sh_type == SHT_PROGBITS && (header->sh_flags & SHF_EXECINSTR) &&
	       header->sh_addr && header->sh_addr < MAX_ADDRESS && header->sh_size &&
	       header->sh_size <= MAX_CODE_BYTES;
}

static void find_code(struct infer_file *infer, struct elf_file *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf->elf, section)) && infer->code.len < MAX_SECTIONS)
		if (gelf_getshdr(section, &header) && is_code(&header))
			vec_push(&infer->code,
				 ((struct infer_section){ header.sh_addr, header.sh_offset,
							  header.sh_size }));
}

static void find_table(struct elf_file *elf, uint32_t type, struct infer_section *ret_table)
{
	GElf_Shdr header;

	if (elf_file_find_table(elf, type, &header))
		*ret_table = (struct infer_section){ 0, header.sh_offset, header.sh_size };
}

void infer_file_open(struct infer_file *infer, struct cfi_reader *reader, struct elf_file *elf,
		     struct cfi_layer *eh_frame, struct cfi_layer *debug_frame, uint64_t main)
{
	infer->reader = reader;
	infer->layers[0] = eh_frame;
	infer->layers[1] = debug_frame;
	if (main)
		vec_push(&infer->begins, main);
	find_code(infer, elf);
	infer_pointers_find(&infer->pointers, elf);
	find_table(elf, SHT_SYMTAB, &infer->tables[0]);
	find_table(elf, SHT_DYNSYM, &infer->tables[1]);
}

void infer_file_release(struct infer_file *infer)
{
	for (size_t i = 0; i < INFER_CHUNKS; i++)
		vec_release(&infer->chunks[i].rows.v);
	vec_release(&infer->code);
	vec_release(&infer->gaps);
	vec_release(&infer->begins);
	infer_pointers_release(&infer->pointers);
}

size_t infer_file_bytes(const struct infer_file *infer)
{
	size_t bytes = infer->code.cap * sizeof(infer->code.items[0]) +
		       infer->gaps.cap * sizeof(infer->gaps.items[0]) +
		       infer->begins.cap * sizeof(infer->begins.items[0]) +
		       infer_pointers_bytes(&infer->pointers);

	for (size_t i = 0; i < INFER_CHUNKS; i++)
		bytes += infer->chunks[i].rows.v.cap * sizeof(struct infer_row);
	return bytes;
}

/* --- symbols ---------------------------------------------------------------------------------- */

static bool add_symbol(const void *record, void *data)
{
	const Elf64_Sym *symbol = record;
	struct infer_file *infer = data;
	int type = ELF64_ST_TYPE(symbol->st_info);

	if ((type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF &&
	    symbol->st_value)
		vec_push(&infer->begins, symbol->st_value);
	return false;
}

static void read_table(struct infer_file *infer, const struct infer_section *table)
{
	uint64_t count = MIN(table->size / sizeof(Elf64_Sym), (uint64_t)MAX_SYMBOLS_READ);

	cfi_reader_each(infer->reader, table->offset, count, sizeof(Elf64_Sym), add_symbol, infer);
}

/* Once: it takes a look at every record of call frame information. */
static void find_gaps(struct infer_file *infer)
{
	struct infer_gaps found = { VEC_INIT };
	const struct infer_section *section;
	const struct infer_gap *gap;

	if (infer->gaps_found)
		return;
	infer->gaps_found = true;
	vec_for_each (section, &infer->code) {
		infer_gaps_find(infer->layers, ARRAY_SIZE(infer->layers), section->address,
				section->address + section->size, &found);
		vec_for_each (gap, &found.v)
			vec_push(&infer->gaps,
				 ((struct infer_section){ gap->start,
							  section->offset +
								  (gap->start - section->address),
							  gap->end - gap->start }));
	}
	vec_release(&found.v);
}

void infer_file_for_each_gap(struct infer_file *infer,
			     void (*fn)(uint64_t offset, uint64_t len, void *data), void *data)
{
	const struct infer_section *gap;

	find_gaps(infer);
	vec_for_each (gap, &infer->gaps)
		fn(gap->offset, gap->size, data);
}

/* Of a section so large that a look at each record of it takes long so many parts of so many bytes, at equal distances, stand for all of it. */
#define PARTS	   32
#define PART_BYTES (16U << 10)

static uint64_t gap_bytes(const struct infer_file *infer, uint64_t start, uint64_t end)
{
	struct infer_gaps gaps = { VEC_INIT };
	const struct infer_gap *gap;
	uint64_t bytes = 0;

	infer_gaps_find(infer->layers, ARRAY_SIZE(infer->layers), start, end, &gaps);
	vec_for_each (gap, &gaps.v)
		bytes += gap->end - gap->start;
	vec_release(&gaps.v);
	return bytes;
}

/* Of its bytes. */
static double gap_share(const struct infer_file *infer, const struct infer_section *section)
{
	const uint64_t stride = section->size / PARTS;
	uint64_t bytes = 0;

	if (stride <= PART_BYTES)
		return (double)gap_bytes(infer, section->address,
					 section->address + section->size) /
		       (double)section->size;
	for (uint64_t i = 0; i < PARTS; i++) {
		uint64_t start = section->address + i * stride;

		bytes += gap_bytes(infer, start, start + PART_BYTES);
	}
	return (double)bytes / (PARTS * PART_BYTES);
}

/* Are gaps a part of the code that is worth a look through all of the data? */
static bool has_large_gaps(const struct infer_file *infer)
{
	const struct infer_section *section;
	double code = 0, gaps = 0;

	vec_for_each (section, &infer->code) {
		code += (double)section->size;
		gaps += (double)section->size * gap_share(infer, section);
	}
	return gaps > code / LARGE_GAPS;
}

void infer_file_read_places(struct infer_file *infer)
{
	if (infer->places_read)
		return;
	infer->places_read = true;
	for (size_t i = 0; i < ARRAY_SIZE(infer->tables); i++)
		read_table(infer, &infer->tables[i]);
	infer_addresses_sort(infer->begins.items, infer->begins.len);
	if (has_large_gaps(infer))
		infer_pointers_read(&infer->pointers, infer->reader, infer->code.items,
				    infer->code.len);
}

/* --- chunks ----------------------------------------------------------------------------------- */

/* How long this thread has run. */
static uint64_t own_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

struct places {
	VEC(uint32_t) v;
};

struct making {
	struct infer_file *infer;
	struct infer_chunk *chunk;
	uint8_t *bytes; /* owned */
	uint64_t left;	/* bytes that may be looked at: sections may lie over one another */
	struct infer_rows_found found;
	struct places entries, pointed;
};

/* From ADDRESS on, as far as that is in the chunk; in order. */
static void put_row(struct infer_chunk *chunk, uint64_t address, const struct wire_rule *rule)
{
	uint32_t at = address > chunk->start ? (uint32_t)(address - chunk->start) : 0;

	if (address >= chunk->start + CHUNK_BYTES)
		return;
	/* Of sections that lie over one another the first has said what is there. */
	if (chunk->rows.v.len && chunk->rows.v.items[chunk->rows.v.len - 1].at > at)
		return;
	if (chunk->rows.v.len && chunk->rows.v.items[chunk->rows.v.len - 1].at == at)
		chunk->rows.v.len--;
	vec_push(&chunk->rows.v, ((struct infer_row){ at, *rule }));
}

/* The addresses of a rising list that are in the gap, as offsets. */
static void take_places(const struct infer_gap *gap, const uint64_t *addresses, size_t count,
			struct places *ret)
{
	ret->v.len = 0;
	for (size_t i = infer_addresses_find(addresses, count, gap->start);
	     i < count && addresses[i] < gap->end; i++)
		vec_push(&ret->v, (uint32_t)(addresses[i] - gap->start));
}

/* What compilers and linkers put between functions, and no code. */
static bool is_padding(const uint8_t *bytes, size_t len)
{
	static const uint8_t fillers[] = { 0xcc, 0x90, 0x00 };

	return len && memchr(fillers, bytes[0], sizeof(fillers)) &&
	       memcmp(bytes, bytes + 1, len - 1) == 0;
}

static void make_gap(struct making *making, const struct infer_section *section,
		     const struct infer_gap *gap, bool begins)
{
	const struct wire_rule none = { .kind = WIRE_RULE_NONE };
	const struct infer_file *infer = making->infer;
	struct infer_piece piece = { .bytes = making->bytes,
				     .begins = begins,
				     .address = gap->start };
	const struct infer_row *row;

	if (gap->end - gap->start > making->left)
		return;
	making->left -= gap->end - gap->start;
	take_places(gap, infer->begins.items, infer->begins.len, &making->entries);
	take_places(gap, infer->pointers.v.items, infer->pointers.v.len, &making->pointed);
	piece.entries = making->entries.v.items;
	piece.entry_count = making->entries.v.len;
	piece.pointed = making->pointed.v.items;
	piece.pointed_count = making->pointed.v.len;
	piece.len =
		cfi_reader_copy(infer->reader, section->offset + (gap->start - section->address),
				making->bytes, gap->end - gap->start);
	if (is_padding(making->bytes, piece.len))
		return;
	infer_flow_rows(&piece, &making->found);
	vec_for_each (row, &making->found.v)
		put_row(making->chunk, gap->start + row->at, &row->rule);
	put_row(making->chunk, gap->end, &none);
}

/* The last function that begins NEAR_BYTES before START; none is known: BESIDE_BYTES before. */
static uint64_t look_from(const struct infer_file *infer, uint64_t start)
{
	uint64_t low = start > BESIDE_BYTES ? start - BESIDE_BYTES : 0;
	size_t next = start < NEAR_BYTES
			      ? 0
			      : infer_addresses_find(infer->begins.items, infer->begins.len,
						     start - NEAR_BYTES + 1);

	return next ? MAX(low, infer->begins.items[next - 1]) : low;
}

/* The first one that begins so far behind END. */
static uint64_t look_until(const struct infer_file *infer, uint64_t end)
{
	size_t first =
		infer_addresses_find(infer->begins.items, infer->begins.len, end + NEAR_BYTES);
	uint64_t high = end + BESIDE_BYTES;

	return first < infer->begins.len ? MIN(high, infer->begins.items[first]) : high;
}

/* The window around the chunk: what is beside it is looked at, too. */
static void make_section(struct making *making, const struct infer_section *section)
{
	uint64_t start = making->chunk->start, end = start + CHUNK_BYTES;
	struct infer_gaps gaps = { VEC_INIT };
	const struct infer_gap *gap;
	uint64_t low = MAX(section->address, look_from(making->infer, start));
	uint64_t high = MIN(section->address + section->size, look_until(making->infer, end));

	if (section->address >= end || section->address + section->size <= start)
		return;
	infer_gaps_find(making->infer->layers, ARRAY_SIZE(making->infer->layers), low, high, &gaps);
	vec_for_each (gap, &gaps.v)
		if (gap->end > start && gap->start < end)
			make_gap(making, section, gap, gap->start > low || low == section->address);
	vec_release(&gaps.v);
}

static void make_chunk(struct infer_file *infer, struct infer_chunk *chunk, uint64_t start)
{
	struct making making = { .infer = infer, .chunk = chunk };
	const struct infer_section *section;
	const uint64_t begin_ns = own_time_ns();

	chunk->start = start;
	chunk->rows.v.len = 0;
	if (infer->spent_ns > MAX_SPENT_NS)
		return;
	infer_file_read_places(infer);
	making.left = CHUNK_BYTES + 2 * BESIDE_BYTES;
	making.bytes = xmalloc(making.left);
	vec_for_each (section, &infer->code)
		make_section(&making, section);
	free(making.bytes);
	vec_release(&making.found.v);
	vec_release(&making.entries.v);
	vec_release(&making.pointed.v);
	infer->spent_ns += own_time_ns() - begin_ns;
}

static const struct infer_chunk *get_chunk(struct infer_file *infer, uint64_t start)
{
	struct infer_chunk *chunk = &infer->chunks[0];

	for (size_t i = 0; i < INFER_CHUNKS; i++) {
		if (infer->chunks[i].used && infer->chunks[i].start == start) {
			infer->chunks[i].used = ++infer->uses;
			return &infer->chunks[i];
		}
		if (infer->chunks[i].used < chunk->used)
			chunk = &infer->chunks[i];
	}
	make_chunk(infer, chunk, start);
	chunk->used = ++infer->uses;
	return chunk;
}

/* --- pages ------------------------------------------------------------------------------------ */

/* A page's bytes, as far as they are a section's. */
struct page_code {
	uint64_t start, end;
	uint8_t bytes[WIRE_PAGE_BYTES];
};

static void read_page_code(const struct infer_file *infer, const struct infer_section *section,
			   uint64_t page, struct page_code *code)
{
	code->start = MAX(page, section->address);
	code->end = MAX(MIN(page + WIRE_PAGE_BYTES, section->address + section->size), code->start);
	if (code->end - code->start < INFER_LEAST_GAP) {
		code->end = code->start;
		return;
	}
	code->end =
		code->start + cfi_reader_copy(infer->reader,
					      section->offset + (code->start - section->address),
					      code->bytes, code->end - code->start);
}

/* Is there more than padding from START to END? */
static bool has_code(const struct page_code *code, uint64_t start, uint64_t end)
{
	uint64_t low = MAX(start, code->start), high = MIN(end, code->end);

	return high > low && high - low >= INFER_LEAST_GAP &&
	       !is_padding(code->bytes + (low - code->start), high - low);
}

static bool has_gap_of(const struct page_code *code, uint64_t page, const struct cfi_rows *rows)
{
	for (size_t i = 0; i < rows->v.len; i++) {
		const struct cfi_row *row = &rows->v.items[i];
		uint32_t end = i + 1 < rows->v.len ? row[1].offset : WIRE_PAGE_BYTES;

		if (row->rule.kind == WIRE_RULE_NONE &&
		    has_code(code, page + row->offset, page + end))
			return true;
	}
	return false;
}

/* Making a chunk takes milliseconds, and most pages have nothing to be found. True: this one has. */
static bool look_at_page(const struct infer_file *infer, uint64_t page, struct cfi_rows *rows)
{
	const struct infer_section *section;
	struct page_code code;
	bool has_gap = false;

	vec_for_each (section, &infer->code) {
		read_page_code(infer, section, page, &code);
		has_gap = has_gap || has_gap_of(&code, page, rows);
		infer_epilogues(rows, (uint32_t)(code.start - page), code.bytes,
				code.end - code.start);
	}
	return has_gap;
}

void infer_file_fill(struct infer_file *infer, uint64_t page, struct cfi_rows *rows)
{
	const uint64_t start = page & ~(uint64_t)(CHUNK_BYTES - 1);
	struct cfi_rows found = { VEC_INIT };
	const struct infer_chunk *chunk;
	const struct infer_row *row;

	if (!infer->reader || page + WIRE_PAGE_BYTES < page || !look_at_page(infer, page, rows))
		return;
	chunk = get_chunk(infer, start);
	cfi_rows_put(&found, 0, &(struct wire_rule){ .kind = WIRE_RULE_NONE });
	vec_for_each (row, &chunk->rows.v) {
		if (start + row->at >= page + WIRE_PAGE_BYTES)
			break;
		cfi_rows_put(&found, (uint32_t)(MAX(start + row->at, page) - page), &row->rule);
	}
	cfi_rows_fill(rows, &found);
	vec_release(&found.v);
}
