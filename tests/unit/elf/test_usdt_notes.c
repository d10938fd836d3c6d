// SPDX-License-Identifier: Apache-2.0
/* Notes of probes, whole ones and others; a test of what is where in them. */
#include "test.h"

#include <string.h>

#include "base/vec.h"
#include "elf/probe/usdt_args.h"
#include "elf/probe/usdt_notes.h"
#include "made_elf.h"

#define BASE 0x5000

struct found {
	VEC(struct usdt_note) notes;
};

static void note(const struct usdt_note *usdt, void *data)
{
	struct found *found = data;

	vec_push(&found->notes, *usdt);
}

struct made_note {
	const char *owner;
	uint32_t type;
	uint64_t address, base, semaphore;
	const char *strings; /* with an end each, and one more */
	size_t string_bytes;
};

#define STRINGS(text) text, sizeof(text)

static void add_note(struct strbuf *notes, const struct made_note *n)
{
	const uint64_t addresses[] = { n->address, n->base, n->semaphore };
	const uint32_t head[] = { (uint32_t)strlen(n->owner) + 1,
				  (uint32_t)(sizeof(addresses) + n->string_bytes), n->type };

	strbuf_add(notes, head, sizeof(head));
	strbuf_add(notes, n->owner, head[0]);
	while (notes->len % 4)
		strbuf_addch(notes, '\0');
	strbuf_add(notes, addresses, sizeof(addresses));
	strbuf_add(notes, n->strings, n->string_bytes);
	while (notes->len % 4)
		strbuf_addch(notes, '\0');
}

/* What a file with these notes says of p:n; MOVED: its base is elsewhere than when it was linked. */
static struct found find_in(const char *notes, size_t len, uint32_t type, uint64_t moved)
{
	struct found found = { .notes = VEC_INIT };
	struct elf_file *file;
	struct cfi_elf elf;

	made_begin(&elf);
	elf.sections[made_section(&elf, ".note.stapsdt", type, notes, len)].sh_addralign = 4;
	elf.sections[made_section(&elf, ".stapsdt.base", SHT_PROGBITS, "", 1)].sh_addr =
		BASE + moved;
	file = made_open(&elf, EM_X86_64);
	usdt_notes_find(file, "p", "n", note, &found);
	made_close(&elf, file);
	return found;
}

static void places_of_a_probe(void **state)
{
	static const struct made_note all[] = {
		{ "stapsdt", 3, 0x1000, BASE, 0x7000,
		  STRINGS("p\0n\0"
			  "8@%rax") },
		{ "stapsdt", 3, 0x1111, BASE, 0, STRINGS("p\0other\0") },
		{ "stapsdt", 3, 0x2222, BASE, 0, STRINGS("other\0n\0") },
		{ "stapsdt", 3, 0x3333, BASE, 0, STRINGS("pn\0\0") },
		{ "stapsdt", 3, 0x4444, BASE, 0, STRINGS("p\0nn\0") },
		{ "stapsdx", 3, 0x5555, BASE, 0, STRINGS("p\0n\0") },
		{ "stapsdt", 2, 0x6666, BASE, 0, STRINGS("p\0n\0") },
		{ "stapsdt", 3, 0x2000, BASE, 0, STRINGS("p\0n\0") },
		{ "stapsdt", 3, 0x3000, 0, 0, STRINGS("p\0n\0") },
	};
	_cleanup_strbuf_ struct strbuf notes = STRBUF_INIT;
	struct found found;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		add_note(&notes, &all[i]);
	found = find_in(notes.buf, notes.len, SHT_NOTE, 0);
	assert_int_equal(found.notes.len, 3);
	assert_int_equal(found.notes.items[0].address, 0x1000);
	assert_int_equal(found.notes.items[0].semaphore, 0x7000);
	assert_int_equal(usdt_arg_reg(&found.notes.items[0].args[0], 8), 0);
	assert_int_equal(usdt_arg_reg(&found.notes.items[1].args[0], 8), USDT_NO_REG);
	assert_int_equal(found.notes.items[1].address, 0x2000);
	assert_int_equal(found.notes.items[1].semaphore, 0);
	vec_release(&found.notes);
	/* prelink has moved the file, and left the notes. */
	found = find_in(notes.buf, notes.len, SHT_NOTE, 0x100);
	assert_int_equal(found.notes.items[0].address, 0x1100);
	assert_int_equal(found.notes.items[1].address, 0x2100);
	assert_int_equal(found.notes.items[2].address, 0x3000);
	vec_release(&found.notes);
	found = find_in(notes.buf, notes.len, SHT_PROGBITS, 0);
	assert_int_equal(found.notes.len, 0);
}

/* Strings without an end, and notes that end early. */
static void notes_that_are_not_whole(void **state)
{
	static const struct made_note endless = { "stapsdt", 3, 0x1000, BASE, 0, "p\0n", 3 };
	static const struct made_note good = { "stapsdt", 3, 0x2000, BASE, 0, STRINGS("p\0n\0") };
	_cleanup_strbuf_ struct strbuf notes = STRBUF_INIT, one = STRBUF_INIT;
	struct found found;

	(void)state;
	add_note(&notes, &endless);
	add_note(&notes, &good);
	found = find_in(notes.buf, notes.len, SHT_NOTE, 0);
	assert_int_equal(found.notes.len, 1);
	assert_int_equal(found.notes.items[0].address, 0x2000);
	vec_release(&found.notes);
	add_note(&one, &good);
	/* Each beginning of a note, in memory that ends there. */
	for (size_t len = 0; len < one.len - 4; len++) {
		char *cut = xmemdup(one.buf, len + !len);

		found = find_in(cut, len, SHT_NOTE, 0);
		assert_int_equal(found.notes.len, 0);
		free(cut);
	}
	/* The description says that it is shorter than its addresses. */
	for (uint32_t len = 0; len < 28; len++) {
		memcpy(one.buf + 4, &len, sizeof(len));
		found = find_in(one.buf, one.len, SHT_NOTE, 0);
		assert_int_equal(found.notes.len, 0);
	}
}

static void files_without(void **state)
{
	struct found found = { .notes = VEC_INIT };
	struct elf_file *file;
	struct cfi_elf elf;

	(void)state;
	made_begin(&elf);
	file = made_open(&elf, EM_X86_64);
	usdt_notes_find(file, "p", "n", note, &found);
	made_close(&elf, file);
	assert_int_equal(found.notes.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_of_a_probe),
		cmocka_unit_test(notes_that_are_not_whole),
		cmocka_unit_test(files_without),
	};

	return cmocka_run_group_tests_name("usdt_notes", tests, NULL, NULL);
}
