// SPDX-License-Identifier: Apache-2.0
#include "elf/infer/infer_pointers.h"

#include "base/macros.h"
#include "elf/elf_file_private.h"
#include "elf/infer/infer_addresses.h"

/* Honest files have a dozen. */
#define MAX_SECTIONS 64

/* --- where they may be ------------------------------------------------------------------------ */

static bool is_data(const GElf_Shdr *header)
{
	return header->sh_type == SHT_PROGBITS && (header->sh_flags & SHF_ALLOC) &&
	       !(header->sh_flags & SHF_EXECINSTR);
}

void infer_pointers_find(struct infer_pointers *pointers, struct elf_file *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf->elf, section)) && pointers->data.len < MAX_SECTIONS) {
		if (!gelf_getshdr(section, &header))
			continue;
		if (is_data(&header))
			vec_push(&pointers->data,
				 ((struct infer_section){ header.sh_addr, header.sh_offset,
							  header.sh_size }));
		else if (header.sh_type == SHT_RELA && (header.sh_flags & SHF_ALLOC) &&
			 header.sh_size > pointers->relocations.size)
			pointers->relocations =
				(struct infer_section){ 0, header.sh_offset, header.sh_size };
	}
}

/* --- reading ---------------------------------------------------------------------------------- */

struct search {
	struct infer_pointers *pointers;
	struct cfi_reader *reader;
	const struct infer_section *code;
	size_t count;
	uint64_t left; /* bytes that may be read */
};

static void look_at(struct search *search, uint64_t word)
{
	for (size_t i = 0; i < search->count; i++)
		if (word >= search->code[i].address &&
		    word - search->code[i].address < search->code[i].size &&
		    search->pointers->v.len < INFER_MAX_POINTERS) {
			vec_push(&search->pointers->v, word);
			return;
		}
}

static bool look_at_word(const void *record, void *data)
{
	look_at(data, *(const uint64_t *)record);
	return false;
}

static bool look_at_relocation(const void *record, void *data)
{
	const Elf64_Rela *relocation = record;

	if (ELF64_R_TYPE(relocation->r_info) == R_X86_64_RELATIVE)
		look_at(data, (uint64_t)relocation->r_addend);
	return false;
}

/* Of SIZE bytes at OFFSET as much as may be read. */
static void search_in(struct search *search, uint64_t offset, uint64_t size, size_t bytes,
		      bool (*look)(const void *record, void *data))
{
	size = MIN(size, search->left);
	cfi_reader_each(search->reader, offset, size / bytes, bytes, look, search);
	search->left -= size;
}

/* Sections lie at the same place of 8 bytes in file and memory. */
static void search_data(struct search *search, const struct infer_section *section)
{
	uint64_t skipped = -section->address % sizeof(uint64_t);

	if (section->size > skipped)
		search_in(search, section->offset + skipped, section->size - skipped,
			  sizeof(uint64_t), look_at_word);
}

static void keep_each_once(struct infer_pointers *pointers)
{
	size_t kept = 0;

	infer_addresses_sort(pointers->v.items, pointers->v.len);
	for (size_t i = 0; i < pointers->v.len; i++)
		if (!kept || pointers->v.items[kept - 1] != pointers->v.items[i])
			pointers->v.items[kept++] = pointers->v.items[i];
	pointers->v.len = kept;
}

void infer_pointers_read(struct infer_pointers *pointers, struct cfi_reader *reader,
			 const struct infer_section *code, size_t count)
{
	struct search search = { pointers, reader, code, count, INFER_POINTERS_BYTES };
	const struct infer_section *section;

	search_in(&search, pointers->relocations.offset, pointers->relocations.size,
		  sizeof(Elf64_Rela), look_at_relocation);
	vec_for_each (section, &pointers->data)
		search_data(&search, section);
	keep_each_once(pointers);
}

void infer_pointers_release(struct infer_pointers *pointers)
{
	vec_release(&pointers->data);
	vec_release(&pointers->v);
}

size_t infer_pointers_bytes(const struct infer_pointers *pointers)
{
	return pointers->data.cap * sizeof(pointers->data.items[0]) +
	       pointers->v.cap * sizeof(pointers->v.items[0]);
}
