// SPDX-License-Identifier: Apache-2.0
/* Symbols, notes, links and segments of files whose every byte is known. */
#include "test.h"

#include <errno.h>

#include "elf/elf_file_private.h"
#include "made_elf.h"

/* --- symbols --- */

static void note_raw(const struct elf_raw_symbol *symbol, void *data)
{
	strbuf_addf(data, "%s %llx+%llx %d\n", symbol->name, (unsigned long long)symbol->address,
		    (unsigned long long)symbol->size, symbol->rank);
}

static void note_function(const char *name, uint64_t address, uint64_t size, void *data)
{
	strbuf_addf(data, "%s %llx+%llx\n", name, (unsigned long long)address,
		    (unsigned long long)size);
}

static Elf64_Sym symbol_of(unsigned char bind, unsigned char type, uint16_t section,
			   uint64_t address, uint64_t size)
{
	return (Elf64_Sym){ .st_info = ELF64_ST_INFO(bind, type),
			    .st_shndx = section,
			    .st_value = address,
			    .st_size = size };
}

/* Functions that are defined, have a name and an address; nothing else. */
static void functions_and_their_ranks(void **state)
{
	_cleanup_strbuf_ struct strbuf raw = STRBUF_INIT, plain = STRBUF_INIT;
	struct made_symbols table;
	struct elf_file *file;
	struct cfi_elf elf;

	(void)state;
	made_begin(&elf);
	made_symbols_begin(&table);
	made_symbol(&table, "global", symbol_of(STB_GLOBAL, STT_FUNC, 1, 0x1000, 16));
	made_symbol(&table, "weak", symbol_of(STB_WEAK, STT_FUNC, 1, 0x1010, 17));
	made_symbol(&table, "local", symbol_of(STB_LOCAL, STT_FUNC, 1, 0x1020, 0));
	made_symbol(&table, "unique", symbol_of(STB_GNU_UNIQUE, STT_FUNC, 1, 0x1030, 1));
	made_symbol(&table, "third", symbol_of(3, STT_FUNC, 1, 0x1038, 1));
	made_symbol(&table, "chosen", symbol_of(STB_GLOBAL, STT_GNU_IFUNC, 1, 0x1040, 2));
	made_symbol(&table, "_one", symbol_of(STB_GLOBAL, STT_FUNC, 1, 0x1050, 3));
	made_symbol(&table, "__two", symbol_of(STB_GLOBAL, STT_FUNC, 1, 0x1060, 4));
	made_symbol(&table, "____four", symbol_of(STB_GLOBAL, STT_FUNC, 1, 0x1070, 5));
	made_symbol(&table, "_ZN1aE", symbol_of(STB_GLOBAL, STT_FUNC, 1, 0x1080, 6));
	made_symbol(&table, "_RNvC1a", symbol_of(STB_GLOBAL, STT_FUNC, 1, 0x1090, 7));
	made_symbol(&table, "xZ", symbol_of(STB_GLOBAL, STT_FUNC, 1, 0x10a0, 8));
	made_symbol(&table, "", symbol_of(STB_GLOBAL, STT_FUNC, 1, 0x1100, 9));
	made_symbol(&table, "object", symbol_of(STB_GLOBAL, STT_OBJECT, 1, 0x1200, 9));
	made_symbol(&table, "undefined", symbol_of(STB_GLOBAL, STT_FUNC, 0, 0x1300, 9));
	made_symbol(&table, "nowhere", symbol_of(STB_GLOBAL, STT_FUNC, 1, 0, 9));
	made_symbol(&table, "last", symbol_of(STB_LOCAL, STT_FUNC, 1, 0x1400, 10));
	made_table(&elf, ".symtab", SHT_SYMTAB, &table);
	file = made_open(&elf, 0);
	elf_file_for_each_raw_symbol(file, note_raw, &raw);
	assert_string_equal(strbuf_str(&raw),
			    "global 1000+10 15\nweak 1010+11 11\nlocal 1020+0 7\n"
			    "unique 1030+1 3\nthird 1038+1 3\nchosen 1040+2 15\n"
			    "_one 1050+3 14\n__two 1060+4 13\n____four 1070+5 12\n"
			    "_ZN1aE 1080+6 15\n_RNvC1a 1090+7 15\nxZ 10a0+8 15\nlast 1400+a 7\n");
	elf_file_for_each_function(file, note_function, &plain);
	assert_non_null(strstr(strbuf_str(&plain), "local 1020+0\n"));
	assert_non_null(strstr(strbuf_str(&plain), "last 1400+a\n"));
	assert_null(strstr(strbuf_str(&plain), "undefined"));
	made_close(&elf, file);
}

/* Of a name the dynamic table has the word; what is only named is nowhere. */
static void one_symbol_of_two_tables(void **state)
{
	_cleanup_strbuf_ struct strbuf both = STRBUF_INIT;
	struct made_symbols table;
	struct elf_file *file;
	struct cfi_elf elf;
	uint64_t address = 7;

	(void)state;
	made_begin(&elf);
	made_symbols_begin(&table);
	made_function(&table, "both", 0x1000, 1);
	made_function(&table, "inner", 0x1010, 1);
	made_symbol(&table, "data", symbol_of(STB_LOCAL, STT_OBJECT, 1, 0, 8));
	made_table(&elf, ".symtab", SHT_SYMTAB, &table);
	made_symbols_begin(&table);
	made_symbol(&table, "inner", symbol_of(STB_GLOBAL, STT_FUNC, 0, 0, 0));
	made_function(&table, "both", 0x2000, 1);
	made_table(&elf, ".dynsym", SHT_DYNSYM, &table);
	file = made_open(&elf, 0);
	assert_int_equal(elf_file_find_symbol(file, "both", &address), 0);
	assert_int_equal(address, 0x2000);
	assert_int_equal(elf_file_find_symbol(file, "inner", &address), 0);
	assert_int_equal(address, 0x1010);
	assert_int_equal(elf_file_find_symbol(file, "data", &address), 0);
	assert_int_equal(address, 0);
	assert_int_equal(elf_file_find_symbol(file, "", &address), -ENODATA);
	assert_int_equal(elf_file_find_symbol(file, "bot", &address), -ENODATA);
	elf_file_for_each_function(file, note_function, &both);
	assert_string_equal(strbuf_str(&both), "both 1000+1\ninner 1010+1\nboth 2000+1\n");
	made_close(&elf, file);
}

enum damage { WHOLE, NO_ENTRY_SIZE, LINK_TO_NONE, LINK_TO_OTHER, NO_BITS, COMPRESSED, DAMAGES };

static struct elf_file *open_damaged(struct cfi_elf *elf, enum damage damage)
{
	struct made_symbols table;
	unsigned int at;

	made_begin(elf);
	made_symbols_begin(&table);
	made_function(&table, "f", 0x1000, 1);
	at = made_table(elf, ".symtab", SHT_SYMTAB, &table);
	if (damage == NO_ENTRY_SIZE)
		elf->sections[at].sh_entsize = 0;
	if (damage == LINK_TO_NONE)
		elf->sections[at].sh_link = 99;
	if (damage == LINK_TO_OTHER)
		elf->sections[at].sh_link = made_section(elf, ".other", SHT_PROGBITS, "\0other", 7);
	if (damage == NO_BITS)
		elf->sections[at].sh_size = 1ULL << 40;
	if (damage == COMPRESSED)
		elf->sections[at].sh_flags = SHF_COMPRESSED;
	return made_open(elf, 0);
}

/* A table without one of its parts has no symbols; what it takes counts all the same. */
static void damaged_tables(void **state)
{
	(void)state;
	for (enum damage damage = WHOLE; damage < DAMAGES; damage++) {
		_cleanup_strbuf_ struct strbuf raw = STRBUF_INIT;
		struct cfi_elf elf;
		struct elf_file *file = open_damaged(&elf, damage);
		uint64_t address = 0, strings = 3, symbols = 2 * sizeof(Elf64_Sym);

		elf_file_for_each_raw_symbol(file, note_raw, &raw);
		assert_string_equal(strbuf_str(&raw), damage == WHOLE ? "f 1000+1 15\n" : "");
		assert_int_equal(elf_file_find_symbol(file, "f", &address),
				 damage == WHOLE ? 0 : -ENODATA);
		assert_int_equal(elf_file_has_symtab(file), damage != NO_ENTRY_SIZE);
		if (damage == LINK_TO_NONE)
			strings = symbols = 0;
		if (damage == LINK_TO_OTHER)
			strings = 7;
		if (damage == NO_BITS)
			symbols = ELF_MAX_SECTION_BYTES;
		assert_int_equal(elf_file_symbol_bytes(file), strings + symbols);
		made_close(&elf, file);
	}
}

/* A table with nothing in it is none: a debug file may have another. */
static void an_empty_table(void **state)
{
	struct made_symbols table;
	struct elf_file *file;
	struct cfi_elf elf;

	(void)state;
	made_begin(&elf);
	made_symbols_begin(&table);
	made_table(&elf, ".symtab", SHT_SYMTAB, &table);
	file = made_open(&elf, 0);
	assert_false(elf_file_has_symtab(file));
	made_close(&elf, file);
	made_begin(&elf);
	file = made_open(&elf, 0);
	assert_false(elf_file_has_symtab(file));
	assert_int_equal(elf_file_symbol_bytes(file), 0);
	made_close(&elf, file);
}

/* Names end within their table, and within the longest that is read. */
static void strings_with_an_end(void **state)
{
	static char bytes[ELF_MAX_SYMBOL_NAME + 8];
	Elf_Data data = { .d_buf = bytes, .d_size = sizeof(bytes) };

	(void)state;
	memset(bytes, 'a', sizeof(bytes));
	assert_null(elf_data_string(&data, sizeof(bytes) - 1));
	bytes[sizeof(bytes) - 1] = '\0';
	assert_ptr_equal(elf_data_string(&data, sizeof(bytes) - 1), bytes + sizeof(bytes) - 1);
	assert_null(elf_data_string(&data, sizeof(bytes)));
	assert_null(elf_data_string(&data, UINT64_MAX));
	assert_ptr_equal(elf_data_string(&data, 8), bytes + 8);
	assert_null(elf_data_string(&data, 7));
}

/* --- notes --- */

static void add_note(struct strbuf *notes, uint32_t type, const char *name, uint32_t name_len,
		     uint32_t desc_len, uint8_t desc)
{
	const uint32_t words[] = { name_len, desc_len, type };

	strbuf_add(notes, words, sizeof(words));
	strbuf_add(notes, name, name_len);
	while (notes->len % 4)
		strbuf_addch(notes, '\0');
	for (uint32_t i = 0; i < desc_len; i++)
		strbuf_addch(notes, (char)(desc + i));
	while (notes->len % 4)
		strbuf_addch(notes, '\0');
}

/* A file with NOTES in a segment, or in a section alone. */
static struct elf_file *open_notes(struct cfi_elf *elf, const struct strbuf *notes, bool segment)
{
	made_begin(elf);
	if (segment) {
		uint64_t at = cfi_elf_add(elf, notes->buf, notes->len);

		cfi_elf_segment(elf, PT_LOAD, PF_R, at, notes->len);
		cfi_elf_segment(elf, PT_NOTE, PF_R, at, 0);
		cfi_elf_segment(elf, PT_NOTE, PF_R, at, notes->len);
		elf->segments[2].p_align = 4;
	} else {
		elf->sections[made_section(elf, ".note", SHT_NOTE, notes->buf, notes->len)]
			.sh_addralign = 4;
	}
	return made_open(elf, 0);
}

static void expect_build_id(const struct strbuf *notes, size_t size, const char *expected)
{
	for (int segment = 0; segment < 2; segment++) {
		struct cfi_elf elf;
		struct elf_file *file = open_notes(&elf, notes, segment);
		char id[160] = "before";

		assert_int_equal(elf_file_build_id(file, id, size), expected[0] ? 0 : -ENODATA);
		assert_string_equal(id, expected);
		made_close(&elf, file);
	}
}

/* The first note that is of that type, of that owner and of a length that can be. */
static void build_ids(void **state)
{
	_cleanup_strbuf_ struct strbuf notes = STRBUF_INIT;
	char longest[2 * 64 + 1];

	(void)state;
	expect_build_id(&notes, 129, "");
	add_note(&notes, 1, "GNU", 4, 4, 0x10);		/* another type */
	add_note(&notes, 3, "GNV", 4, 4, 0x20);		/* another owner */
	add_note(&notes, 3, "GNU\0\0\0\0", 7, 4, 0x30); /* a longer one */
	add_note(&notes, 3, "GNU", 4, 0, 0x40);		/* nothing */
	add_note(&notes, 3, "GNU", 4, 65, 0x50);	/* too much */
	expect_build_id(&notes, 160, "");
	add_note(&notes, 3, "GNU", 4, 3, 0xfe);
	add_note(&notes, 3, "GNU", 4, 3, 0x60);
	expect_build_id(&notes, 129, "feff00");
	expect_build_id(&notes, 7, "feff00");
	expect_build_id(&notes, 6, "");
	strbuf_reset(&notes);
	add_note(&notes, 3, "GNU", 4, 64, 0);
	for (unsigned int i = 0; i < 64; i++)
		snprintf(longest + 2 * i, 3, "%02x", i);
	expect_build_id(&notes, 160, longest);
	strbuf_reset(&notes);
	add_note(&notes, 3, "GNU", 4, 1, 0xab);
	expect_build_id(&notes, 129, "ab");
}

/* Notes whose descriptions are aligned to eight bytes (ELF_T_NHDR8) are in segments that say so. */
static void notes_of_eight_bytes(void **state)
{
	static const uint32_t words[] = {
		4, 4, 5, 0x554e47, 1,	       0, /* a property, padded to 8 */
		4, 4, 3, 0x554e47, 0x04030201, 0,
	};
	struct elf_file *file;
	struct cfi_elf elf;
	char id[129];

	(void)state;
	made_begin(&elf);
	cfi_elf_segment(&elf, PT_NOTE, PF_R, cfi_elf_add(&elf, words, sizeof(words)),
			sizeof(words));
	elf.segments[0].p_align = 8;
	file = made_open(&elf, 0);
	assert_int_equal(elf_file_build_id(file, id, sizeof(id)), 0);
	assert_string_equal(id, "01020304");
	made_close(&elf, file);
}

/* --- the link to a debug file --- */

static int debuglink_of(const void *data, size_t len, size_t size, char *ret_name,
			uint32_t *ret_crc)
{
	struct elf_file *file;
	struct cfi_elf elf;
	int r;

	made_begin(&elf);
	if (data)
		made_section(&elf, ".gnu_debuglink", SHT_PROGBITS, data, len);
	file = made_open(&elf, 0);
	r = elf_file_debuglink(file, ret_name, size, ret_crc);
	made_close(&elf, file);
	return r;
}

/* The name, zeros up to four bytes, the checksum: with names of every length. */
static void debuglinks(void **state)
{
	char name[64];
	uint32_t crc;

	(void)state;
	for (size_t len = 1; len < 12; len++) {
		char data[32] = { 0 };
		size_t crc_at = (len + 4) / 4 * 4;

		memset(data, 'n', len);
		memcpy(data + crc_at, "\x78\x56\x34\x12", 4);
		assert_int_equal(debuglink_of(data, crc_at + 4, sizeof(name), name, &crc), 0);
		assert_int_equal(strlen(name), len);
		assert_int_equal(crc, 0x12345678);
		assert_int_equal(debuglink_of(data, crc_at + 4, len + 1, name, &crc), 0);
		assert_int_equal(debuglink_of(data, crc_at + 4, len, name, &crc), -EBADMSG);
		assert_int_equal(debuglink_of(data, crc_at + 3, sizeof(name), name, &crc),
				 -EBADMSG);
	}
	assert_int_equal(debuglink_of("\0\0\0\0abcd", 8, sizeof(name), name, &crc), -EBADMSG);
	assert_int_equal(debuglink_of(NULL, 0, sizeof(name), name, &crc), -ENODATA);
}

/* --- segments and sections --- */

/* What wraps around is no segment, what is not loaded neither. */
static void sound_segments(void **state)
{
	static const Elf64_Phdr headers[3] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_X,
		  .p_offset = 1,
		  .p_vaddr = UINT64_MAX - 9,
		  .p_memsz = 9 },
		{ .p_type = PT_LOAD, .p_offset = UINT64_MAX - 9, .p_vaddr = 2, .p_filesz = 9 },
		{ .p_type = PT_NOTE, .p_offset = 1, .p_vaddr = 2, .p_filesz = 3, .p_memsz = 4 },
	};
	const struct elf_segment *segments;
	struct elf_file *file;
	struct cfi_elf elf;

	(void)state;
	made_begin(&elf);
	memcpy(elf.segments, headers, sizeof(headers));
	elf.segment_count = 3;
	file = made_open(&elf, 0);
	assert_int_equal(elf_file_segments(file, &segments), 2);
	assert_true(segments[0].offset == 1 && segments[0].address == UINT64_MAX - 9 &&
		    segments[0].file_size == 0 && segments[0].memory_size == 9 &&
		    segments[0].flags == PF_X);
	assert_true(segments[1].address == 2);
	made_close(&elf, file);
	made_begin(&elf);
	memcpy(elf.segments, headers, sizeof(headers));
	elf.segments[0].p_memsz = 10;
	elf.segments[1].p_filesz = 10;
	elf.segment_count = 3;
	file = made_open(&elf, 0);
	assert_int_equal(elf_file_segments(file, &segments), 0);
	made_close(&elf, file);
}

/* Up to the end of the code's section, else of its segment. */
static void the_end_of_what_holds_an_address(void **state)
{
	struct elf_file *file;
	struct cfi_elf elf;
	unsigned int at;

	(void)state;
	made_begin(&elf);
	for (unsigned int i = 0; i < 3; i++) {
		at = made_section(&elf, ".text", SHT_PROGBITS, "code", 4);
		elf.sections[at].sh_addr = 0x1000 + 0x100 * i;
		elf.sections[at].sh_size = 0x80;
		elf.sections[at].sh_flags = i == 1 ? SHF_ALLOC : SHF_ALLOC | SHF_EXECINSTR;
	}
	cfi_elf_segment(&elf, PT_LOAD, PF_R | PF_X, 0x1000, 0x10);
	elf.segments[0].p_memsz = 0x600;
	file = made_open(&elf, 0);
	assert_int_equal(elf_file_section_end(file, 0xfff), 0);
	assert_int_equal(elf_file_section_end(file, 0x1000), 0x1080);
	assert_int_equal(elf_file_section_end(file, 0x107f), 0x1080);
	assert_int_equal(elf_file_section_end(file, 0x1080), 0x1600);
	assert_int_equal(elf_file_section_end(file, 0x1100), 0x1600);
	assert_int_equal(elf_file_section_end(file, 0x1200), 0x1280);
	assert_int_equal(elf_file_section_end(file, 0x15ff), 0x1600);
	assert_int_equal(elf_file_section_end(file, 0x1600), 0);
	made_close(&elf, file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_and_their_ranks),
		cmocka_unit_test(one_symbol_of_two_tables),
		cmocka_unit_test(damaged_tables),
		cmocka_unit_test(an_empty_table),
		cmocka_unit_test(strings_with_an_end),
		cmocka_unit_test(build_ids),
		cmocka_unit_test(notes_of_eight_bytes),
		cmocka_unit_test(debuglinks),
		cmocka_unit_test(sound_segments),
		cmocka_unit_test(the_end_of_what_holds_an_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
