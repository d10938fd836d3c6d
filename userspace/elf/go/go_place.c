// SPDX-License-Identifier: Apache-2.0
#include "elf/go/go_place.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "elf/elf_file_private.h"
#include "elf/go/go_module.h"

/* A wrong base would make nonsense of all functions: so many are looked at, so many must fit. */
#define PROBES	     64
#define PROBES_RIGHT 56
/* The data of dockerd that is read-only after relocation has 24 MB. */
#define MAX_SEARCHED (128ULL << 20)
#define PIECE_BYTES  (64U << 10)
/* cmd/link aligns the tables so. */
#define TABLE_ALIGN 32
/* That look like a header, but are none. */
#define MAX_TRIED 16

/*
 * Where a function's frame has grown for the first time: since Go 1.21 behind PUSHQ BP, before that in front of MOVQ BP, x(SP)
 * (cmd/internal/obj/x86/obj6.go).
 */
static bool grows_as_go_does(const struct go_table *table, uint64_t pc)
{
	uint8_t code[5] = { 0 };

	if (go_table_code(table, pc - 1, code, sizeof(code)) < 1)
		return false;
	return code[0] == 0x55 || (code[1] == 0x48 && code[2] == 0x89 && code[4] == 0x24 &&
				   (code[3] == 0x2c || code[3] == 0x6c || code[3] == 0xac));
}

static bool prologue_fits(const struct go_table *table, const struct elf_segment *text, uint64_t at,
			  bool *ret_known)
{
	struct go_function function;
	struct go_steps steps;

	*ret_known = false;
	if (!go_table_function_at(table, at, &function) ||
	    !go_steps_begin(&steps, table, function.pcsp, function.start, 16) ||
	    !go_steps_next(&steps) || steps.value != 0 || !go_steps_next(&steps) ||
	    steps.value < 8 || steps.pc >= function.end)
		return false;
	*ret_known = true;
	return steps.pc - 1 >= text->address && steps.pc - 1 - text->address < text->file_size &&
	       grows_as_go_does(table, steps.pc);
}

static bool base_fits(struct go_table *table, const struct elf_segment *text, uint64_t base)
{
	unsigned int known = 0, right = 0;

	table->at.text = go_layouts[table->at.form].text ? base : 0;
	table->at.code = text->offset - text->address;
	for (uint64_t i = 0; i < table->at.count && i < 64ULL * PROBES && known < PROBES; i++) {
		bool is_known;

		right += prologue_fits(table, text, i, &is_known);
		known += is_known;
	}
	return known && right >= known - known * (PROBES - PROBES_RIGHT) / PROBES;
}

/* Only the first: a hostile file has thousands in one place. */
static const struct elf_segment *find_segment(const struct elf_segment *segments, int count,
					      uint64_t base, uint32_t flags)
{
	return base ? elf_segment_find(segments, (size_t)count, flags, base) : NULL;
}

/* Of tables that have addresses the first one. */
static uint64_t first_function(struct go_table *table)
{
	struct go_entry entry;

	table->at.text = 0;
	return go_table_entries(table, 0, &entry, 1) ? entry.start : 0;
}

/*
 * Up to Go 1.25 the header has it, unless a relocation would have to fill it in; since then the
 * module data. Without C in front of it, it is where .text begins.
 */
static bool find_text(struct go_table *table, struct elf_file *elf, uint64_t stated)
{
	struct go_module module;
	uint64_t bases[] = { stated, 0, 0 };
	const struct elf_segment *segments;
	int count = elf_file_segments(elf, &segments);
	GElf_Shdr header;

	if (go_module_find(table, elf, &module))
		bases[1] = module.text;
	if (elf_file_find_section(elf, ".text", &header))
		bases[2] = header.sh_addr;
	if (!go_layouts[table->at.form].text)
		bases[0] = first_function(table);
	for (size_t i = 0; i < ARRAY_SIZE(bases); i++) {
		const struct elf_segment *text = find_segment(segments, count, bases[i], PF_X);
		const struct elf_segment *data;

		if (!text || !base_fits(table, text, bases[i]))
			continue;
		data = find_segment(segments, count, module.inlined, PF_R);
		if (data) {
			table->at.inlined = elf_segment_offset(data, module.inlined);
			table->at.inlined_size = elf_segment_left(data, module.inlined);
		}
		return true;
	}
	return false;
}

/* From the first function to behind the last one. */
static bool find_range(struct go_table *table)
{
	struct go_entry first, end;

	if (go_table_entries(table, 0, &first, 1) != 1 ||
	    go_table_entries(table, table->at.count, &end, 1) != 1)
		return false;
	table->at.first = first.start;
	table->at.end = end.start;
	return table->at.first < table->at.end;
}

static bool try_at(struct go_table *table, struct elf_file *elf, uint64_t offset, uint64_t address,
		   uint64_t size)
{
	uint64_t text;

	table->at = (struct go_place){ .offset = offset, .size = size, .address = address };
	return go_table_read_header(table, &text) && find_text(table, elf, text) &&
	       find_range(table);
}

/*
 * Another linker puts the tables of a position-independent program among its other data (cmd/link calls the section
 * .data.rel.ro.gopclntab).
 */
static bool search_in(struct go_table *table, struct elf_file *elf, const GElf_Shdr *header)
{
	_cleanup_free_ uint8_t *piece = xmalloc(PIECE_BYTES);
	uint64_t size = MIN(header->sh_size, MAX_SEARCHED), done = 0;
	unsigned int tried = 0;
	size_t n;

	for (; done < size; done += PIECE_BYTES) {
		n = cfi_reader_copy(table->reader, header->sh_offset + done, piece,
				    MIN(size - done, (uint64_t)PIECE_BYTES));
		for (size_t at = 0; at + 8 <= n; at += TABLE_ALIGN) {
			/* the rest of a magic number, 0, 0, 1, 8 */
			if (memcmp(piece + at + 1, "\377\377\377\0\0\1\10", 7) != 0 ||
			    tried++ >= MAX_TRIED)
				continue;
			if (try_at(table, elf, header->sh_offset + done + at,
				   header->sh_addr + done + at, header->sh_size - done - at))
				return true;
		}
		if (n < PIECE_BYTES)
			break;
	}
	return false;
}

static bool find(struct go_table *table, struct elf_file *elf)
{
	static const char *const names[] = { ".gopclntab", ".data.rel.ro.gopclntab" };
	GElf_Shdr header;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (elf_file_find_section(elf, names[i], &header) && header.sh_type != SHT_NOBITS)
			return try_at(table, elf, header.sh_offset, header.sh_addr, header.sh_size);
	return elf_file_find_section(elf, ".go.buildinfo", &header) &&
	       elf_file_find_section(elf, ".data.rel.ro", &header) &&
	       header.sh_type != SHT_NOBITS && search_in(table, elf, &header);
}

int go_place_open(struct go_table *table, struct cfi_reader *reader, struct elf_file *elf)
{
	struct go_table it = { .reader = reader };

	if (!find(&it, elf))
		return -ENODATA;
	*table = it;
	return 0;
}
