// SPDX-License-Identifier: Apache-2.0
/*
 * The form of the notes is that of _SDT_ASM_BODY in SystemTap's includes/sys/sdt.h: type 3 of owner "stapsdt"; three addresses (probe,
 * base, semaphore) and three strings (provider, name, arguments). The base is where .stapsdt.base was when the file was linked: prelink(8) moves
 * the section and leaves the notes as they are.
 */
#include "elf/probe/usdt_notes.h"

#include <string.h>

#include "elf/elf_file_private.h"

#define NOTE_TYPE 3
#define ADDRESSES 3

struct words {
	const char *at, *end; /* of the note's description */
	size_t word;	      /* bytes of an address */
};

static bool take_address(struct words *words, uint64_t *ret_address)
{
	uint32_t narrow;

	if ((size_t)(words->end - words->at) < words->word)
		return false;
	memcpy(&narrow, words->at, sizeof(narrow));
	*ret_address = narrow;
	if (words->word == sizeof(*ret_address))
		memcpy(ret_address, words->at, sizeof(*ret_address));
	words->at += words->word;
	return true;
}

/* The string that is next is TEXT, with its end. */
static bool take_text(struct words *words, const char *text)
{
	size_t bytes = strlen(text) + 1;

	if ((size_t)(words->end - words->at) < bytes || memcmp(words->at, text, bytes) != 0)
		return false;
	words->at += bytes;
	return true;
}

struct search {
	const char *provider, *name;
	size_t word;
	uint64_t base; /* where the section is now; 0: there is none */
	void (*fn)(const struct usdt_note *note, void *data);
	void *data;
};

static void look_at_note(const struct search *search, const char *at, size_t len)
{
	struct words words = { at, at + len, search->word };
	uint64_t addresses[ADDRESSES];
	struct usdt_note note;

	for (size_t i = 0; i < ADDRESSES; i++)
		if (!take_address(&words, &addresses[i]))
			return;
	if (!take_text(&words, search->provider) || !take_text(&words, search->name))
		return;
	note = (struct usdt_note){ .address = addresses[0], .semaphore = addresses[2] };
	usdt_args_read(words.at, (size_t)(words.end - words.at), note.args);
	if (search->base && addresses[1])
		note.address += search->base - addresses[1];
	search->fn(&note, search->data);
}

static uint64_t find_base(struct elf_file *file)
{
	GElf_Shdr header;

	return elf_file_find_section(file, ".stapsdt.base", &header) ? header.sh_addr : 0;
}

static bool is_ours(const GElf_Nhdr *note, const char *owner)
{
	static const char ours[] = "stapsdt";

	return note->n_type == NOTE_TYPE && note->n_namesz == sizeof(ours) &&
	       memcmp(owner, ours, sizeof(ours)) == 0;
}

void usdt_notes_find(struct elf_file *file, const char *provider, const char *name,
		     void (*fn)(const struct usdt_note *note, void *data), void *data)
{
	struct search search = { .provider = provider, .name = name, .fn = fn, .data = data };
	size_t at = 0, next, owner_at, words_at;
	GElf_Shdr header;
	GElf_Nhdr note;
	Elf_Scn *section = elf_file_find_section(file, ".note.stapsdt", &header);
	Elf_Data *notes = section && header.sh_type == SHT_NOTE
				  ? elf_file_section_data(file, section, &header)
				  : NULL;

	if (!notes || file->header.e_ident[EI_DATA] != ELFDATA2LSB)
		return;
	search.word = gelf_getclass(file->elf) == ELFCLASS32 ? 4 : 8;
	search.base = find_base(file);
	for (; (next = gelf_getnote(notes, at, &note, &owner_at, &words_at)) > 0; at = next) {
		const char *bytes = notes->d_buf;

		if (is_ours(&note, bytes + owner_at))
			look_at_note(&search, bytes + words_at, note.n_descsz);
	}
}
