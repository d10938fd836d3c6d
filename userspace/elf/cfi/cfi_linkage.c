// SPDX-License-Identifier: Apache-2.0
/*
 * glibc 2.41, sysdeps/x86_64/crti.S and crtn.S: (endbr64;) sub $8,%rsp; …; add $8,%rsp; ret.
 * musl 1.2.5, crt/x86_64/crti.s and crtn.s: push %rax; …; pop %rax; ret.
 */
#include "elf/cfi/cfi_linkage.h"

#include <string.h>

#include "elf/cfi/cfi_layer.h"
#include "elf/elf_file_private.h"

/* Old compilers put calls of their own into these sections, a few bytes from each file. */
#define MAX_PART_BYTES 4096

static size_t prologue_bytes(const uint8_t *code, size_t len)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa }, sub[] = { 0x48, 0x83, 0xec, 8 };
	size_t at =
		len >= sizeof(endbr) && memcmp(code, endbr, sizeof(endbr)) == 0 ? sizeof(endbr) : 0;

	if (len - at >= sizeof(sub) && memcmp(code + at, sub, sizeof(sub)) == 0)
		return at + sizeof(sub);
	return at < len && code[at] == 0x50 ? at + 1 : 0;
}

static bool ends_with_epilogue(const uint8_t *code, size_t len)
{
	static const uint8_t add[] = { 0x48, 0x83, 0xc4, 8, 0xc3 }, pop[] = { 0x58, 0xc3 };

	return (len >= sizeof(add) && memcmp(code + len - sizeof(add), add, sizeof(add)) == 0) ||
	       (len >= sizeof(pop) && memcmp(code + len - sizeof(pop), pop, sizeof(pop)) == 0);
}

static void find_part(struct elf_file *elf, const char *name, struct cfi_linkage *linkage)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_find_section(elf, name, &header);
	Elf_Data *data;
	uint64_t end;
	size_t pushed;

	if (!section || header.sh_size > MAX_PART_BYTES || header.sh_addr == 0 ||
	    header.sh_addr > UINT64_MAX - MAX_PART_BYTES)
		return;
	data = elf_file_section_data(elf, section, &header);
	if (!data || data->d_size != header.sh_size)
		return;
	pushed = prologue_bytes(data->d_buf, data->d_size);
	if (!pushed ||
	    !ends_with_epilogue((const uint8_t *)data->d_buf + pushed, data->d_size - pushed))
		return;
	end = header.sh_addr + data->d_size;
	linkage->parts[linkage->count++] =
		(struct cfi_linkage_part){ header.sh_addr, header.sh_addr + pushed, end - 1, end,
					   false };
}

void cfi_linkage_find(struct cfi_linkage *linkage, struct elf_file *elf)
{
	find_part(elf, ".init", linkage);
	find_part(elf, ".fini", linkage);
}

/* From ADDRESS on, where that is in the page or before it. */
static void put_row(struct cfi_rows *rows, uint64_t page, uint64_t address, int cfa_offset,
		    bool rbp)
{
	const struct wire_rule rule = {
		.kind = cfa_offset ? WIRE_RULE_CFA : WIRE_RULE_NONE,
		.cfa_reg = cfa_offset ? 7 : 0,
		.cfa_offset = cfa_offset,
		.ra_slot = cfa_offset ? 1 : 0,
		.rbp_slot = rbp ? 2 : WIRE_SLOT_SAME,
	};

	if (address < page + WIRE_PAGE_BYTES)
		cfi_rows_put(rows, (uint32_t)(MAX(address, page) - page), &rule);
}

void cfi_linkage_apply(const struct cfi_linkage *linkage, uint64_t page, struct cfi_rows *rows)
{
	for (size_t i = 0; i < linkage->count; i++) {
		const struct cfi_linkage_part *part = &linkage->parts[i];
		struct cfi_rows over = { VEC_INIT };

		if (part->end <= page || part->start >= page + WIRE_PAGE_BYTES)
			continue;
		put_row(&over, page, part->start, 8, false);
		put_row(&over, page, part->pushed, 16, part->rbp);
		put_row(&over, page, part->popped, 8, false);
		put_row(&over, page, part->end, 0, false);
		cfi_rows_lay_over(rows, &over);
		vec_release(&over.v);
	}
}
