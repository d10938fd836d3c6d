// SPDX-License-Identifier: Apache-2.0
/* Words of a file's data that lead into its code: of which sections, and how many. */
#include "test.h"

#include "elf/infer/infer_addresses.h"
#include "elf/infer/infer_pointers.h"
#include "made_elf.h"

#define CODE	  0x401000UL
#define CODE_SIZE 0x1000UL

struct world {
	struct cfi_elf elf;
	struct elf_file *file;
	struct cfi_reader reader;
	struct infer_pointers pointers;
};

/* A section at an address that is its own place in the file, as far as 8 bytes go. */
static void add(struct world *w, uint32_t type, uint64_t flags, const void *data, size_t len)
{
	unsigned int section = made_section(&w->elf, ".made", type, data, len);

	w->elf.sections[section].sh_flags = flags;
	w->elf.sections[section].sh_addr = 0x500000 + w->elf.sections[section].sh_offset;
}

static void read_all(struct world *w)
{
	static const struct infer_section code[] = { { CODE, 0x1000, CODE_SIZE },
						     { 0x600000, 0x2000, 16 } };

	w->file = made_open(&w->elf, 0);
	cfi_reader_init_memory(&w->reader, w->elf.bytes.buf, w->elf.bytes.len);
	infer_pointers_find(&w->pointers, w->file);
	infer_pointers_read(&w->pointers, &w->reader, code, ARRAY_SIZE(code));
}

static void tear_down(struct world *w)
{
	infer_pointers_release(&w->pointers);
	cfi_reader_release(&w->reader);
	made_close(&w->elf, w->file);
}

static void expect(const struct world *w, const uint64_t *wanted, size_t count)
{
	assert_int_equal(w->pointers.v.len, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(w->pointers.v.items[i], wanted[i]);
}

/* From the first byte of a section of code to its last one, each once and in order. */
static void which_words(void **state)
{
	static const uint64_t words[] = {
		CODE + CODE_SIZE,     CODE + 5, CODE - 1, CODE,	    0,
		CODE + CODE_SIZE - 1, CODE + 5, 0x600010, 0x60000f, ~0ULL
	};
	static const uint64_t wanted[] = { CODE, CODE + 5, CODE + CODE_SIZE - 1, 0x60000f };
	struct world w = { 0 };

	(void)state;
	made_begin(&w.elf);
	add(&w, SHT_PROGBITS, SHF_ALLOC, words, sizeof(words));
	read_all(&w);
	expect(&w, wanted, ARRAY_SIZE(wanted));
	tear_down(&w);
}

static void which_sections(void **state)
{
	static const uint64_t words[] = { CODE, CODE + 1, CODE + 2, CODE + 3, CODE + 4 };
	static const uint64_t wanted[] = { CODE, CODE + 4 };
	struct world w = { 0 };

	(void)state;
	made_begin(&w.elf);
	add(&w, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, &words[0], 8);
	add(&w, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, &words[1], 8);
	add(&w, SHT_PROGBITS, 0, &words[2], 8);
	add(&w, SHT_NOTE, SHF_ALLOC, &words[3], 8);
	add(&w, SHT_PROGBITS, SHF_ALLOC, &words[4], 8);
	read_all(&w);
	expect(&w, wanted, ARRAY_SIZE(wanted));
	tear_down(&w);
}

/* Words are where 8 bytes begin in memory; and what is left of one is none. */
static void where_words_begin(void **state)
{
	static const uint64_t words[] = { CODE + 1, CODE + 2, CODE + 3 };
	static const uint64_t wanted[] = { CODE + 2 };
	struct world w = { 0 };
	unsigned int last;

	(void)state;
	made_begin(&w.elf);
	add(&w, SHT_PROGBITS, SHF_ALLOC, words, sizeof(words));
	last = w.elf.section_count - 1;
	w.elf.sections[last].sh_addr += 3;
	w.elf.sections[last].sh_offset += 3;
	w.elf.sections[last].sh_size -= 4;
	read_all(&w);
	expect(&w, wanted, ARRAY_SIZE(wanted));
	tear_down(&w);
	/* Nothing but a part of a word. */
	w = (struct world){ 0 };
	made_begin(&w.elf);
	add(&w, SHT_PROGBITS, SHF_ALLOC, words, sizeof(words));
	w.elf.sections[w.elf.section_count - 1].sh_addr += 1;
	w.elf.sections[w.elf.section_count - 1].sh_size = 7;
	read_all(&w);
	assert_int_equal(w.pointers.v.len, 0);
	tear_down(&w);
}

/* Of a file that may be loaded anywhere the words are in a table. */
static void relocations(void **state)
{
	static const Elf64_Rela relocs[] = {
		{ 0x700000, ELF64_R_INFO(0, R_X86_64_RELATIVE), CODE + 7 },
		{ 0x700008, ELF64_R_INFO(1, R_X86_64_64), CODE + 8 },
		{ 0x700010, ELF64_R_INFO(0, R_X86_64_RELATIVE), 0x10 },
	};
	static const uint64_t wanted[] = { CODE + 7 };
	struct world w = { 0 };

	(void)state;
	made_begin(&w.elf);
	add(&w, SHT_RELA, SHF_ALLOC, relocs, sizeof(relocs));
	add(&w, SHT_RELA, 0, relocs, sizeof(relocs));
	add(&w, SHT_RELA, SHF_ALLOC, &relocs[1], sizeof(relocs[1]));
	read_all(&w);
	expect(&w, wanted, ARRAY_SIZE(wanted));
	tear_down(&w);
}

/* A section that goes beyond the file ends there; of very much data only so much is looked at. */
static void hostile_sizes(void **state)
{
	static const uint64_t words[] = { CODE };
	static const uint64_t wanted[] = { CODE };
	struct world w = { 0 };

	(void)state;
	made_begin(&w.elf);
	add(&w, SHT_PROGBITS, SHF_ALLOC, words, sizeof(words));
	w.elf.sections[w.elf.section_count - 1].sh_size = ~0ULL;
	add(&w, SHT_PROGBITS, SHF_ALLOC, words, sizeof(words));
	read_all(&w);
	expect(&w, wanted, ARRAY_SIZE(wanted));
	tear_down(&w);
}

static void no_more_than_are_kept(void **state)
{
	uint64_t *words = xcalloc(INFER_MAX_POINTERS + 10, sizeof(*words));
	struct world w = { 0 };

	(void)state;
	for (size_t i = 0; i < INFER_MAX_POINTERS + 10; i++)
		words[i] = CODE + i % CODE_SIZE;
	made_begin(&w.elf);
	add(&w, SHT_PROGBITS, SHF_ALLOC, words, (INFER_MAX_POINTERS + 10) * sizeof(*words));
	read_all(&w);
	assert_int_equal(w.pointers.v.len, CODE_SIZE);
	assert_true(infer_pointers_bytes(&w.pointers) <= INFER_MAX_POINTERS * 8 + 1024);
	tear_down(&w);
	free(words);
}

static void a_place_in_a_list(void **state)
{
	uint64_t list[] = { 30, 10, 20 };
	uint64_t wide[] = {
		UINT64_MAX, 0x100, 0xff, 0x8000000000000000, 0x100, 0, 0x20001, 0x10002
	};
	const uint64_t rising[] = {
		0, 0xff, 0x100, 0x100, 0x10002, 0x20001, 0x8000000000000000, UINT64_MAX
	};

	(void)state;
	infer_addresses_sort(wide, ARRAY_SIZE(wide));
	assert_memory_equal(wide, rising, sizeof(wide));
	infer_addresses_sort(wide + 1, 2);
	assert_memory_equal(wide, rising, sizeof(wide));
	infer_addresses_sort(list, 3);
	assert_int_equal(list[0], 10);
	assert_int_equal(infer_addresses_find(list, 3, 9), 0);
	assert_int_equal(infer_addresses_find(list, 3, 10), 0);
	assert_int_equal(infer_addresses_find(list, 3, 11), 1);
	assert_int_equal(infer_addresses_find(list, 3, 31), 3);
	assert_int_equal(infer_addresses_find(NULL, 0, 1), 0);
	infer_addresses_sort(NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_words),	     cmocka_unit_test(which_sections),
		cmocka_unit_test(where_words_begin), cmocka_unit_test(relocations),
		cmocka_unit_test(hostile_sizes),     cmocka_unit_test(no_more_than_are_kept),
		cmocka_unit_test(a_place_in_a_list),
	};

	return cmocka_run_group_tests_name("infer_pointers", tests, NULL, NULL);
}
