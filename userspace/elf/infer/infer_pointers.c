// SPDX-License-Identifier: Apache-2.0
#include "elf/infer/infer_pointers.h"

#include <stdlib.h>

#include "base/macros.h"
#include "elf/elf_file_private.h"

/* Honest files have a dozen. */
#define MAX_SECTIONS 64
#define WORDS_READ   512 /* in one piece */
#define RELOCS_READ  170

/* --- rising lists ----------------------------------------------------------------------------- */

size_t infer_addresses_find(const uint64_t *addresses, size_t count, uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (addresses[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void infer_addresses_sort(uint64_t *addresses, size_t count)
{
	if (count)
		qsort(addresses, count, sizeof(addresses[0]), compare_addresses);
}

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

/* Sections lie at the same place of 8 bytes in file and memory. */
static void search_data(struct search *search, const struct infer_section *section)
{
	uint64_t words[WORDS_READ];
	uint64_t skipped = -section->address % sizeof(words[0]), n;
	uint64_t size = section->size > skipped ? MIN(section->size - skipped, search->left) : 0;

	for (uint64_t done = 0; done + sizeof(words[0]) <= size; done += n * sizeof(words[0])) {
		n = MIN((size - done) / sizeof(words[0]), (uint64_t)WORDS_READ);
		n = cfi_reader_copy(search->reader, section->offset + skipped + done, words,
				    n * sizeof(words[0])) /
		    sizeof(words[0]);
		for (uint64_t i = 0; i < n; i++)
			look_at(search, words[i]);
		if (n == 0)
			break;
	}
	search->left -= size;
}

static void search_relocations(struct search *search, const struct infer_section *section)
{
	Elf64_Rela relocs[RELOCS_READ];
	uint64_t size = MIN(section->size, search->left), n;

	for (uint64_t done = 0; done + sizeof(relocs[0]) <= size; done += n * sizeof(relocs[0])) {
		n = MIN((size - done) / sizeof(relocs[0]), (uint64_t)RELOCS_READ);
		n = cfi_reader_copy(search->reader, section->offset + done, relocs,
				    n * sizeof(relocs[0])) /
		    sizeof(relocs[0]);
		for (uint64_t i = 0; i < n; i++)
			if (ELF64_R_TYPE(relocs[i].r_info) == R_X86_64_RELATIVE)
				look_at(search, (uint64_t)relocs[i].r_addend);
		if (n == 0)
			break;
	}
	search->left -= size;
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

	search_relocations(&search, &pointers->relocations);
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
