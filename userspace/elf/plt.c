// SPDX-License-Identifier: Apache-2.0
/*
 * Names of PLT entries. An entry jumps through a slot of the GOT, and a relocation says whose address that slot gets: of
 * .rela.plt, or of .rela.dyn for those of .plt.got, whose function's address is taken elsewhere, too. On x86-64 (psABI 5.2
 * and 13) the jump is "ff 25 DISP32", behind an endbr64 or bnd prefix where there is one; on other machines nothing is found.
 * IRELATIVE has no symbol but the address of the function that chooses (IFUNC), which is named as what it chooses.
 */
#include <stdlib.h>
#include <string.h>

#include "elf/elf_file_private.h"

#define ENTRY_BYTES 16
/* ff 25 DISP32 66 90, in .plt.got. */
#define SHORT_ENTRY_BYTES 8

struct plt_slot {
	uint64_t address;   /* in the GOT */
	uint64_t resolver;  /* 0: its symbol is known */
	const char *name;   /* borrowed from libelf; NULL: not known */
	unsigned char rank; /* of the name of a resolver */
};

struct plt_slots {
	VEC(struct plt_slot) v; /* sorted by address, when all are there */
	size_t resolvers;
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

static int compare_resolvers(const void *a, const void *b)
{
	const struct plt_slot *x = a, *y = b;

	return (x->resolver > y->resolver) - (x->resolver < y->resolver);
}

/* What a relocation of a symbol fills in; the others' addends are addresses of the file. */
static void add_slot(struct plt_slots *slots, const GElf_Rela *rela, Elf_Data *symbols,
		     const Elf_Data *strings)
{
	struct plt_slot slot = { .address = rela->r_offset };
	uint64_t type = GELF_R_TYPE(rela->r_info);
	GElf_Sym symbol;

	if (type == R_X86_64_IRELATIVE) {
		slot.resolver = (uint64_t)rela->r_addend;
		slots->resolvers++;
		vec_push(&slots->v, slot);
		return;
	}
	if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) || !symbols || !strings ||
	    !gelf_getsym(symbols, (int)GELF_R_SYM(rela->r_info), &symbol))
		return;
	slot.name = elf_data_string(strings, symbol.st_name);
	if (slot.name && slot.name[0])
		vec_push(&slots->v, slot);
}

static void read_slots(struct elf_file *file, const char *section, struct plt_slots *slots)
{
	GElf_Shdr header, symbols_header, strings_header;
	Elf_Data *data = read_part(file, section, sizeof(Elf64_Rela), &header);
	Elf_Data *symbols = data ? linked_data(file, header.sh_link, &symbols_header) : NULL;
	Elf_Data *strings =
		symbols ? linked_data(file, symbols_header.sh_link, &strings_header) : NULL;
	GElf_Rela rela;

	/* gelf_getrela() and gelf_getsym() refuse data of another type. */
	for (int i = 0; data && gelf_getrela(data, i, &rela); i++)
		add_slot(slots, &rela, symbols, strings);
}

/* The first slot of those sorted by resolvers that has this one; NULL: none. */
static struct plt_slot *find_resolver(const struct plt_slots *slots, uint64_t resolver)
{
	size_t low = 0, high = slots->v.len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (slots->v.items[middle].resolver < resolver)
			low = middle + 1;
		else
			high = middle;
	}
	return low < slots->v.len && slots->v.items[low].resolver == resolver ? &slots->v.items[low]
									      : NULL;
}

/* Of the names of a resolver the best, as of any function. */
static void name_resolver(const struct elf_raw_symbol *symbol, void *data)
{
	struct plt_slot *slot = find_resolver(data, symbol->address);

	if (!slot || (slot->name && slot->rank >= symbol->rank))
		return;
	slot->name = symbol->name;
	slot->rank = symbol->rank;
}

static void sort_slots(struct plt_slots *slots, int (*compare)(const void *a, const void *b))
{
	if (slots->v.len)
		qsort(slots->v.items, slots->v.len, sizeof(slots->v.items[0]), compare);
}

static void find_slots(struct elf_file *file, bool has_got_entries, struct plt_slots *slots)
{
	read_slots(file, ".rela.plt", slots);
	if (has_got_entries)
		read_slots(file, ".rela.dyn", slots);
	if (slots->resolvers) {
		sort_slots(slots, compare_resolvers);
		elf_file_for_each_table_symbol(file, name_resolver, slots);
		for (size_t i = 1; i < slots->v.len; i++)
			if (slots->v.items[i].resolver == slots->v.items[i - 1].resolver &&
			    slots->v.items[i].resolver)
				slots->v.items[i].name = slots->v.items[i - 1].name;
	}
	sort_slots(slots, compare_slots);
}

static const struct plt_slot *find_slot(const struct plt_slots *slots, uint64_t address)
{
	const struct plt_slot key = { .address = address };

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
	GElf_Shdr header;
	Elf_Data *code = read_part(file, section_name, SHORT_ENTRY_BYTES, &header);
	const size_t entry_size =
		code && header.sh_entsize == SHORT_ENTRY_BYTES ? SHORT_ENTRY_BYTES : ENTRY_BYTES;
	char name[ELF_MAX_SYMBOL_NAME + 8];
	uint64_t address;

	for (size_t at = 0; code && at + entry_size <= code->d_size; at += entry_size) {
		struct elf_raw_symbol symbol = { name, header.sh_addr + at, entry_size, 0 };
		const struct plt_slot *slot = NULL;

		if (decode_entry((const unsigned char *)code->d_buf + at, entry_size,
				 symbol.address, &address))
			slot = find_slot(slots, address);
		if (!slot || !slot->name)
			continue;
		snprintf(name, sizeof(name), "%s" ELF_PLT_SUFFIX, slot->name);
		fn(&symbol, data);
	}
}

void elf_file_for_each_plt(struct elf_file *file,
			   void (*fn)(const struct elf_raw_symbol *symbol, void *data), void *data)
{
	static const char *const sections[] = { ".plt", ".plt.sec", ".plt.got", ".iplt" };
	struct plt_slots slots = { VEC_INIT, 0 };
	GElf_Shdr unused;

	if (file->header.e_machine != EM_X86_64)
		return;
	find_slots(file, elf_file_find_section(file, ".plt.got", &unused), &slots);
	for (size_t i = 0; slots.v.len && i < ARRAY_SIZE(sections); i++)
		visit_entries(file, sections[i], &slots, fn, data);
	vec_release(&slots.v);
}
