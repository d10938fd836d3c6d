// SPDX-License-Identifier: Apache-2.0
#include "elf/go/go_module.h"

#include <string.h>

#include "base/macros.h"
#include "elf/elf_file_private.h"

/* What a program writes to, and its relocations: dockerd has 7 and 6 MB. */
#define MAX_SEARCHED (64ULL << 20)
/* Of words and of relocations as many as fit. */
#define PIECE_BYTES (2048U * sizeof(Elf64_Rela))
#define MAX_TRIED   8

/*
 * Words of moduledata (runtime/symtab.go): a pointer, six slices, findfunctab, minpc, maxpc, text, etext, four pairs of
 * sections, since 1.20 a pair of counters, end, gcdata, gcbss, types, etypes, rodata, gofunc.
 */
enum {
	WORD_TEXT = 22,
	WORD_GOFUNC_1_18 = 38,
	WORD_GOFUNC_1_20 = 40,
	WORDS = 41,
};

struct search {
	const struct go_table *table;
	struct elf_file *elf;
	struct go_module *found;
	const struct elf_segment *segments;
	int count;
	unsigned int tried;
};

/* Call FN for each piece of LEN bytes at OFFSET; true: it has found what it looks for. */
static bool for_each_piece(struct search *search, uint64_t offset, uint64_t len,
			   bool (*fn)(struct search *search, const uint8_t *bytes, size_t len,
				      uint64_t done, void *data),
			   void *data)
{
	_cleanup_free_ uint8_t *piece = xmalloc(PIECE_BYTES);
	size_t n;

	len = MIN(len, MAX_SEARCHED);
	for (uint64_t done = 0; done < len; done += n) {
		n = cfi_reader_copy(search->table->reader, offset + done, piece,
				    MIN(len - done, (uint64_t)PIECE_BYTES)) &
		    ~(size_t)7;
		if (!n)
			return false;
		if (fn(search, piece, n, done, data))
			return true;
	}
	return false;
}

/* --- relocations ------------------------------------------------------------------------------ */

struct window {
	uint64_t address; /* of the first word */
	uint64_t *words;
};

/* R_X86_64_RELATIVE: the addend is what the loader puts there, above where it loads the file. */
static bool fill_in(struct search *search, const uint8_t *bytes, size_t len, uint64_t done,
		    void *data)
{
	const struct window *window = data;

	(void)search;
	(void)done;
	for (size_t at = 0; at + sizeof(Elf64_Rela) <= len; at += sizeof(Elf64_Rela)) {
		Elf64_Rela rela;
		uint64_t word;

		memcpy(&rela, bytes + at, sizeof(rela));
		word = (rela.r_offset - window->address) / 8;
		if (ELF64_R_TYPE(rela.r_info) == R_X86_64_RELATIVE &&
		    rela.r_offset >= window->address && word < WORDS && rela.r_offset % 8 == 0)
			window->words[word] = (uint64_t)rela.r_addend;
	}
	return false;
}

static bool find_relocations(struct search *search, GElf_Shdr *ret_header)
{
	return elf_file_find_section(search->elf, ".rela.dyn", ret_header) &&
	       ret_header->sh_type == SHT_RELA;
}

/* --- is it one? ------------------------------------------------------------------------------- */

static bool says_parts(const struct go_place *at, const uint64_t *words)
{
	const uint64_t parts[] = { at->names, at->units,   at->files,
				   at->pctab, at->functab, at->functab };

	if (words[0] != at->address || words[17] != at->count + 1)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (words[1 + 3 * i] != at->address + parts[i])
			return false;
	return true;
}

static bool try(struct search *search, uint64_t address)
{
	const struct elf_segment *data =
		elf_segment_find(search->segments, (size_t)search->count, ELF_SEGMENT_ANY, address);
	uint64_t words[WORDS] = { 0 };
	struct window window = { address, words };
	const struct go_place *at = &search->table->at;
	GElf_Shdr header;

	if (search->tried++ >= MAX_TRIED || !data ||
	    cfi_reader_copy(search->table->reader, elf_segment_offset(data, address), words,
			    sizeof(words)) != sizeof(words))
		return false;
	if (!says_parts(at, words) && find_relocations(search, &header))
		for_each_piece(search, header.sh_offset, header.sh_size, fill_in, &window);
	if (!says_parts(at, words))
		return false;
	search->found->text = words[WORD_TEXT];
	if (go_layouts[at->form].inlined)
		search->found->inlined =
			words[at->form == GO_1_18 ? WORD_GOFUNC_1_18 : WORD_GOFUNC_1_20];
	return true;
}

static bool try_words(struct search *search, const uint8_t *bytes, size_t len, uint64_t done,
		      void *data)
{
	const uint64_t *address = data;

	for (size_t at = 0; at < len; at += 8) {
		uint64_t word;

		memcpy(&word, bytes + at, sizeof(word));
		if (word == search->table->at.address && try(search, *address + done + at))
			return true;
	}
	return false;
}

static bool try_relocations(struct search *search, const uint8_t *bytes, size_t len, uint64_t done,
			    void *data)
{
	(void)done;
	(void)data;
	for (size_t at = 0; at + sizeof(Elf64_Rela) <= len; at += sizeof(Elf64_Rela)) {
		Elf64_Rela rela;

		memcpy(&rela, bytes + at, sizeof(rela));
		if (ELF64_R_TYPE(rela.r_info) == R_X86_64_RELATIVE &&
		    (uint64_t)rela.r_addend == search->table->at.address &&
		    try(search, rela.r_offset))
			return true;
	}
	return false;
}

bool go_module_find(const struct go_table *table, struct elf_file *elf, struct go_module *ret)
{
	struct search search = { .table = table, .elf = elf, .found = ret };
	GElf_Shdr header;

	*ret = (struct go_module){ 0 };
	if (!table->at.address)
		return false;
	search.count = elf_file_segments(elf, &search.segments);
	if (elf_file_find_section(elf, ".go.module", &header) && try(&search, header.sh_addr))
		return true;
	for (int i = 0; i < search.count; i++) {
		const struct elf_segment *s = &search.segments[i];
		uint64_t address = s->address;

		if ((s->flags & PF_W) && s->address % 8 == 0 &&
		    for_each_piece(&search, s->offset, s->file_size, try_words, &address))
			return true;
	}
	search.tried = 0;
	return find_relocations(&search, &header) &&
	       for_each_piece(&search, header.sh_offset, header.sh_size, try_relocations, NULL);
}
