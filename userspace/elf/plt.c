// SPDX-License-Identifier: Apache-2.0
/*
 * Names of PLT entries. An entry jumps through a slot of the GOT, and a relocation of .rela.plt
 * says whose address that slot gets. On x86-64 (psABI 5.2 and 13) the jump is "ff 25 DISP32",
 * behind an endbr64 or bnd prefix where there is one; on other machines nothing is found.
 */
#include <stdlib.h>
#include <string.h>

#include "elf/elf_file_private.h"

struct plt_slot {
	uint64_t address; /* in the GOT */
	uint32_t name;	  /* offset in strings */
};

struct plt_slots {
	VEC(struct plt_slot) v; /* sorted by address */
	Elf_Data *strings;	/* borrowed from libelf */
};

static Elf_Data *linked_data(struct elf_file *file, uint32_t index, GElf_Shdr *ret_header)
{
	Elf_Scn *section = elf_getscn(file->elf, index);

	if (!section || !gelf_getshdr(section, ret_header))
		return NULL;
	return elf_file_section_data(file, section, ret_header);
}

/* NULL also where it has more entries, of so many bytes, than any PLT. */
static Elf_Data *read_part(struct elf_file *file, const char *name, size_t entry_bytes,
			   GElf_Shdr *ret_header)
{
	Elf_Scn *section = elf_file_find_section(file, name, ret_header);

	if (!section || ret_header->sh_size / entry_bytes > ELF_MAX_PLT_ENTRIES)
		return NULL;
	return elf_file_section_data(file, section, ret_header);
}

static int compare_slots(const void *a, const void *b)
{
	const struct plt_slot *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static void read_slots(struct elf_file *file, struct plt_slots *slots)
{
	GElf_Shdr header, symbols_header, strings_header;
	Elf_Data *data = read_part(file, ".rela.plt", sizeof(Elf64_Rela), &header);
	Elf_Data *symbols = data ? linked_data(file, header.sh_link, &symbols_header) : NULL;
	GElf_Rela rela;
	GElf_Sym symbol;

	if (!symbols)
		return;
	slots->strings = linked_data(file, symbols_header.sh_link, &strings_header);
	if (!slots->strings)
		return;
	/* gelf_getrela() and gelf_getsym() refuse data of another type. */
	for (int i = 0; gelf_getrela(data, i, &rela); i++) {
		const char *name;

		if (!gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &symbol))
			continue;
		name = elf_data_string(slots->strings, symbol.st_name);
		if (name && name[0])
			vec_push(&slots->v, ((struct plt_slot){ rela.r_offset, symbol.st_name }));
	}
	if (slots->v.len)
		qsort(slots->v.items, slots->v.len, sizeof(slots->v.items[0]), compare_slots);
}

static const struct plt_slot *find_slot(const struct plt_slots *slots, uint64_t address)
{
	const struct plt_slot key = { address, 0 };

	return slots->v.len
		       ? bsearch(&key, slots->v.items, slots->v.len, sizeof(key), compare_slots)
		       : NULL;
}

/* The GOT slot that the entry at ADDRESS jumps through; false when it is no such entry. */
static bool decode_entry(const unsigned char *entry, size_t len, uint64_t address,
			 uint64_t *ret_slot)
{
	int32_t displacement;

	for (size_t i = 0; i + 6 <= len; i++) {
		if (entry[i] != 0xff || entry[i + 1] != 0x25)
			continue;
		memcpy(&displacement, entry + i + 2, sizeof(displacement));
		*ret_slot = address + i + 6 + (uint64_t)(int64_t)displacement;
		return true;
	}
	return false;
}

static void visit_entries(struct elf_file *file, const char *section_name,
			  const struct plt_slots *slots,
			  void (*fn)(const struct elf_raw_symbol *symbol, void *data), void *data)
{
	const size_t entry_size = 16;
	GElf_Shdr header;
	Elf_Data *code = read_part(file, section_name, entry_size, &header);
	char name[ELF_MAX_SYMBOL_NAME + 8];
	uint64_t address;

	for (size_t at = 0; code && at + entry_size <= code->d_size; at += entry_size) {
		struct elf_raw_symbol symbol = { name, header.sh_addr + at, entry_size, 0 };
		const struct plt_slot *slot = NULL;

		if (decode_entry((const unsigned char *)code->d_buf + at, entry_size,
				 symbol.address, &address))
			slot = find_slot(slots, address);
		if (!slot)
			continue;
		snprintf(name, sizeof(name), "%s" ELF_PLT_SUFFIX,
			 elf_data_string(slots->strings, slot->name));
		fn(&symbol, data);
	}
}

void elf_file_for_each_plt(struct elf_file *file,
			   void (*fn)(const struct elf_raw_symbol *symbol, void *data), void *data)
{
	struct plt_slots slots = { VEC_INIT, NULL };

	if (file->header.e_machine != EM_X86_64)
		return;
	read_slots(file, &slots);
	visit_entries(file, ".plt", &slots, fn, data);
	visit_entries(file, ".plt.sec", &slots, fn, data);
	vec_release(&slots.v);
}
