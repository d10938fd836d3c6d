// SPDX-License-Identifier: Apache-2.0
#include "elf/cfi/cfi_gopcln.h"

#include <errno.h>
#include <string.h>

#include "elf/cfi/cfi_bytes.h"
#include "elf/cfi/cfi_layer.h"
#include "elf/elf_file_private.h"

#define MAGIC_GO_1_20 0xfffffff1U
#define HEADER_BYTES  72
#define ENTRY_BYTES   8 /* of functab: entry, function */
#define FUNC_BYTES    44
#define MAX_ENTRIES   256 /* that are read in one piece */
/* Kubernetes' largest program has 150,000. */
#define MAX_FUNCTIONS (1U << 20)
/* So many of a page: the shortest have 16 bytes. */
#define MAX_OF_A_PAGE 256
#define MAX_NAME      64
/* moduledata.text: behind a pointer, six slices, findfunctab, minpc and maxpc. */
#define MODULE_TEXT 176
/* A wrong base would make nonsense of all functions: so many are looked at, so many must fit. */
#define PROBES	     64
#define PROBES_RIGHT 56

enum { FLAG_ASSEMBLY = 4 };

static const struct wire_rule no_rule = { .kind = WIRE_RULE_NONE };

struct function {
	uint64_t start, end;
	uint32_t name, pcsp;
	uint8_t flags;
};

static struct cfi_bytes bytes_at(struct cfi_gopcln *table, uint64_t at, uint64_t len)
{
	const uint8_t *bytes = NULL;

	if (at < table->size && len <= table->size - at)
		bytes = cfi_reader_get(table->reader, table->offset + at, len);
	return (struct cfi_bytes){ bytes, bytes ? bytes + len : NULL, !bytes };
}

struct entry {
	uint64_t start, func;
};

/* Up to MAX entries from the AT-th on, the end behind the last function included. */
static size_t read_entries(struct cfi_gopcln *table, uint64_t at, struct entry *entries, size_t max)
{
	uint8_t bytes[MAX_ENTRIES * ENTRY_BYTES];
	uint64_t offset = table->functab + at * ENTRY_BYTES;
	size_t n = MIN(MIN(max, (size_t)MAX_ENTRIES), table->count + 1 - at);
	struct cfi_bytes b = { bytes, bytes, false };

	if (offset > table->size)
		return 0;
	n = cfi_reader_copy(table->reader, table->offset + offset, bytes, n * ENTRY_BYTES) /
	    ENTRY_BYTES;
	b.end = bytes + n * ENTRY_BYTES;
	for (size_t i = 0; i < n; i++) {
		entries[i].start = table->text + cfi_bytes_fixed(&b, 4);
		entries[i].func = table->functab + cfi_bytes_fixed(&b, 4);
	}
	return n;
}

/* The function of the first of two ENTRIES. */
static bool read_function(struct cfi_gopcln *table, const struct entry *entries,
			  struct function *ret)
{
	struct cfi_bytes b = bytes_at(table, entries[0].func, FUNC_BYTES);

	ret->start = entries[0].start;
	ret->end = entries[1].start;
	if (ret->end <= ret->start)
		return false;
	cfi_bytes_skip(&b, 4); /* entryOff */
	ret->name = (uint32_t)cfi_bytes_fixed(&b, 4);
	cfi_bytes_skip(&b, 8); /* args, deferreturn */
	ret->pcsp = (uint32_t)cfi_bytes_fixed(&b, 4);
	cfi_bytes_skip(&b, 21); /* pcfile, pcln, npcdata, cuOffset, startLine, funcID */
	ret->flags = cfi_bytes_byte(&b);
	return !b.bad;
}

static bool function_at(struct cfi_gopcln *table, uint64_t at, struct function *ret)
{
	struct entry entries[2];

	return read_entries(table, at, entries, 2) == 2 && read_function(table, entries, ret);
}

/* --- finding them --- */

/* PUSHQ BP is where a function's frame begins to grow: is it there? */
static bool prologue_fits(struct cfi_gopcln *table, const struct elf_segment *text, uint64_t at,
			  bool *ret_known)
{
	struct function function;
	struct cfi_bytes b;
	uint64_t growth, pc;
	uint8_t code = 0;

	*ret_known = false;
	if (!function_at(table, at, &function) || !function.pcsp)
		return false;
	b = bytes_at(table, table->pctab + function.pcsp, 16);
	cfi_bytes_uleb(&b); /* from -1 to 0 */
	pc = function.start + cfi_bytes_uleb(&b);
	growth = cfi_bytes_uleb(&b);
	if (b.bad || growth != 2ULL * 8 || pc >= function.end)
		return false;
	*ret_known = true;
	return pc - 1 >= text->address && pc - 1 - text->address < text->file_size &&
	       cfi_reader_copy(table->reader, text->offset + (pc - 1 - text->address), &code, 1) &&
	       code == 0x55;
}

static bool base_fits(struct cfi_gopcln *table, const struct elf_segment *text, uint64_t base)
{
	unsigned int known = 0, right = 0;

	table->text = base;
	for (uint64_t i = 0; i < table->count && i < 64ULL * PROBES && known < PROBES; i++) {
		bool is_known;

		right += prologue_fits(table, text, i, &is_known);
		known += is_known;
	}
	return known && right >= known - known * (PROBES - PROBES_RIGHT) / PROBES;
}

/* Only the first: a hostile file has thousands in one place. */
static const struct elf_segment *find_segment(const struct elf_segment *segments, int count,
					      uint64_t base)
{
	for (int i = 0; base && i < count; i++)
		if ((segments[i].flags & PF_X) && base >= segments[i].address &&
		    base - segments[i].address < segments[i].file_size)
			return &segments[i];
	return NULL;
}

/*
 * Up to Go 1.25 the header has it, unless a relocation would have to fill it in; since then the
 * module data. Without C in front of it, it is where .text begins.
 */
static bool find_text(struct cfi_gopcln *table, struct elf_file *elf, uint64_t stated)
{
	uint64_t bases[] = { stated, 0, 0 };
	const struct elf_segment *segments;
	int count = elf_file_segments(elf, &segments);
	GElf_Shdr header;
	uint8_t word[8];

	if (elf_file_find_section(elf, ".go.module", &header) &&
	    cfi_reader_copy(table->reader, header.sh_offset + MODULE_TEXT, word, 8) == 8)
		memcpy(&bases[1], word, sizeof(word));
	if (elf_file_find_section(elf, ".text", &header))
		bases[2] = header.sh_addr;
	for (size_t i = 0; i < ARRAY_SIZE(bases); i++) {
		const struct elf_segment *text = find_segment(segments, count, bases[i]);

		if (text && base_fits(table, text, bases[i]))
			return true;
	}
	return false;
}

static bool read_header(struct cfi_gopcln *table, uint64_t *ret_text)
{
	struct cfi_bytes b = bytes_at(table, 0, HEADER_BYTES);

	if (cfi_bytes_fixed(&b, 4) != MAGIC_GO_1_20)
		return false;
	cfi_bytes_skip(&b, 2);
	if (cfi_bytes_fixed(&b, 2) != 0x0801) /* bytes of an instruction, of a pointer */
		return false;
	table->count = cfi_bytes_fixed(&b, 8);
	cfi_bytes_skip(&b, 8); /* files */
	*ret_text = cfi_bytes_fixed(&b, 8);
	table->names = cfi_bytes_fixed(&b, 8);
	cfi_bytes_skip(&b, 16); /* compilation units, files */
	table->pctab = cfi_bytes_fixed(&b, 8);
	table->functab = cfi_bytes_fixed(&b, 8);
	return !b.bad && table->count && table->count <= MAX_FUNCTIONS &&
	       table->names < table->size && table->pctab < table->size &&
	       table->functab < table->size;
}

int cfi_gopcln_open(struct cfi_gopcln *table, struct cfi_reader *reader, struct elf_file *elf)
{
	struct cfi_gopcln it = { .reader = reader };
	GElf_Shdr header;
	uint64_t text;

	if (!elf_file_find_section(elf, ".gopclntab", &header) || header.sh_type == SHT_NOBITS)
		return -ENODATA;
	it.offset = header.sh_offset;
	it.size = header.sh_size;
	if (!read_header(&it, &text) || !find_text(&it, elf, text))
		return -ENODATA;
	*table = it;
	return 0;
}

/* --- rows --- */

/*
 * The compiler and the assembler save %rbp directly below the return address in every frame
 * (cmd/internal/obj/x86/obj6.go).
 */
static struct wire_rule rule_of(int64_t grown)
{
	struct wire_rule rule = { .kind = WIRE_RULE_CFA, .cfa_reg = DWARF_RSP, .ra_slot = 1 };

	/* -8: the return address was popped, and still is where it was (rawVforkSyscall) */
	if (grown < -8 || grown > INT32_MAX - 8)
		return (struct wire_rule){ .kind = WIRE_RULE_BAD };
	rule.cfa_offset = (int32_t)grown + 8;
	if (grown >= 8)
		rule.rbp_slot = 2;
	return rule;
}

/*
 * Pairs of how much the stack grows and over how many bytes of code that holds; 0 ends them. False
 * when the bytes end before.
 */
static bool put_steps(struct cfi_bytes b, const struct function *function, uint64_t page,
		      struct cfi_rows *rows)
{
	const uint64_t end = MIN(function->end, page + WIRE_PAGE_BYTES);
	uint64_t pc = function->start, step, len;
	struct wire_rule rule;
	int64_t grown = -1;

	for (; pc < end; pc += len) {
		step = cfi_bytes_uleb(&b);
		len = (uint32_t)cfi_bytes_uleb(&b);
		if (b.bad || (step == 0 && pc != function->start) || len == 0)
			break;
		grown = (int32_t)(grown + (int32_t)((uint32_t)step >> 1 ^ -((uint32_t)step & 1)));
		rule = rule_of(grown);
		if (pc + len > page)
			cfi_rows_put(rows, (uint32_t)(MAX(pc, page) - page), &rule);
	}
	if (pc < end)
		cfi_rows_put(rows, (uint32_t)(MAX(pc, page) - page), &no_rule);
	return !b.bad;
}

static void put_function(struct cfi_gopcln *table, const struct function *function, uint64_t page,
			 struct cfi_rows *rows)
{
	/* Most tables are short; one that is cut is read again, longer. */
	static const uint64_t lengths[] = { 1024, CFI_READER_MAX_BYTES };
	uint64_t at = table->pctab + function->pcsp;
	size_t before = rows->v.len; /* 1 at least */
	const struct cfi_row last = rows->v.items[before - 1];

	for (size_t i = 0; function->pcsp && at < table->size && i < ARRAY_SIZE(lengths); i++) {
		rows->v.len = before;
		rows->v.items[before - 1] = last; /* a row at the same place replaces it */
		if (put_steps(bytes_at(table, at, MIN(lengths[i], table->size - at)), function,
			      page, rows))
			break;
	}
	if (function->end < page + WIRE_PAGE_BYTES)
		cfi_rows_put(rows, (uint32_t)(function->end - page), &no_rule);
}

/* The last function that begins at or below ADDRESS, or the first. */
static uint64_t find_function(struct cfi_gopcln *table, uint64_t address)
{
	uint64_t low = 0, high = table->count, middle;
	struct entry entry;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (read_entries(table, middle, &entry, 1) != 1)
			return low;
		if (entry.start <= address)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void cfi_gopcln_rows(struct cfi_gopcln *table, uint64_t page, struct cfi_rows *rows)
{
	uint64_t at = find_function(table, page), last = 0;
	struct function function;

	rows->v.len = 0;
	cfi_rows_put(rows, 0, &no_rule);
	for (int i = 0; i < MAX_OF_A_PAGE && at < table->count; i++, at++) {
		if (!function_at(table, at, &function) || function.start < last ||
		    function.start >= page + WIRE_PAGE_BYTES)
			break;
		last = function.end;
		if (function.end > page)
			put_function(table, &function, page, rows);
	}
}

static void read_name(struct cfi_gopcln *table, uint32_t at, char *ret_name, size_t size)
{
	size_t n = 0;

	if (at < table->size - table->names)
		n = cfi_reader_copy(table->reader, table->offset + table->names + at, ret_name,
				    size - 1);
	ret_name[n] = '\0';
}

static void add_root(struct cfi_gopcln *table, const struct entry *entries, struct cfi_roots *roots)
{
	struct function function;
	char name[MAX_NAME];

	/* All of them are written in assembly. */
	if (!read_function(table, entries, &function) || !(function.flags & FLAG_ASSEMBLY))
		return;
	read_name(table, function.name, name, sizeof(name));
	cfi_roots_add_go_function(roots, name, function.start, function.end - function.start);
}

void cfi_gopcln_add_roots(struct cfi_gopcln *table, struct cfi_roots *roots)
{
	struct entry entries[MAX_ENTRIES];
	size_t n;

	/* The last entry of a piece is the first of the next one. */
	for (uint64_t at = 0; at < table->count; at += n - 1) {
		n = read_entries(table, at, entries, MAX_ENTRIES);
		if (n < 2)
			break;
		for (size_t i = 0; i + 1 < n; i++)
			add_root(table, &entries[i], roots);
	}
}

void cfi_gopcln_for_each(struct cfi_gopcln *table,
			 bool (*fn)(uint64_t start, uint64_t end, void *data), void *data)
{
	struct entry entries[MAX_ENTRIES];
	size_t n;

	for (uint64_t at = 0; at < table->count; at += n - 1) {
		n = read_entries(table, at, entries, MAX_ENTRIES);
		if (n < 2)
			break;
		for (size_t i = 0; i + 1 < n; i++)
			if (!fn(entries[i].start, entries[i + 1].start, data))
				return;
	}
}
