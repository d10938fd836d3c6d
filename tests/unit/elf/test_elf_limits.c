/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that state more than they hold, and hold more than there is room for: how much memory reading
 * them takes. Most are sparse and take a few kilobytes of the disk.
 */
#include "test.h"

#include <elf.h>
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "base/strbuf.h"
#include "elf/cfi/cfi_file.h"
#include "elf/elf_limits.h"
#include "elf/image_content.h"
#include "peak_memory.h"

#define GIB (1ULL << 30)
/* What the default --memory-limit leaves for one file. */
#define LIMIT_BYTES (13U << 20)
/* More than LIMIT_BYTES and the PLT's share do not fit into. */
#define PEAK_BYTES (40 * MIB)

#define NAMES "\0.names\0.symtab\0.strtab\0.rela.plt\0.plt\0.gnu_debugdata\0.dynsym"

enum { NAMES_AT = 1, SYMTAB_AT = 8, STRTAB_AT = 16, RELA_AT = 24, PLT_AT = 34, DATA_AT = 39 };

#define MAX_SECTIONS 8
#define SECTIONS_AT  4096
#define FIRST_AT     8192

struct made {
	int fd;
	Elf64_Ehdr header;
	Elf64_Shdr sections[MAX_SECTIONS];
	unsigned int count;
	uint64_t end;
};

static struct made made;

static void put(uint64_t at, const void *data, size_t len)
{
	assert_int_equal(pwrite(made.fd, data, len, (off_t)at), len);
}

/* A section of LEN bytes, those of DATA or a hole; its number. */
static unsigned int add(uint32_t name, uint32_t type, const void *data, uint64_t len)
{
	unsigned int number = made.count++;

	assert_true(number < MAX_SECTIONS);
	made.sections[number] = (Elf64_Shdr){ .sh_name = name,
					      .sh_type = type,
					      .sh_offset = made.end,
					      .sh_size = len,
					      .sh_addralign = 8 };
	if (data)
		put(made.end, data, len);
	made.end += (len + 4095) & ~4095ULL;
	return number;
}

static int set_up(void **state)
{
	char path[] = "/tmp/test_elf_limits.XXXXXX";

	(void)state;
	memset(&made, 0, sizeof(made));
	made.fd = mkstemp(path);
	assert_true(made.fd >= 0);
	unlink(path);
	made.header = (Elf64_Ehdr){ .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
						 EV_CURRENT },
				    .e_type = ET_DYN,
				    .e_machine = EM_X86_64,
				    .e_version = EV_CURRENT,
				    .e_shoff = SECTIONS_AT,
				    .e_ehsize = sizeof(Elf64_Ehdr),
				    .e_phentsize = sizeof(Elf64_Phdr),
				    .e_shentsize = sizeof(Elf64_Shdr) };
	made.end = FIRST_AT;
	made.count = 1;
	made.header.e_shstrndx = (Elf64_Half)add(NAMES_AT, SHT_STRTAB, NAMES, sizeof(NAMES));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(made.fd);
	return 0;
}

static void finish(void)
{
	if (!made.header.e_shnum && !made.sections[0].sh_size)
		made.header.e_shnum = (Elf64_Half)made.count;
	put(0, &made.header, sizeof(made.header));
	put(SECTIONS_AT, made.sections, sizeof(made.sections));
	assert_int_equal(ftruncate(made.fd, (off_t)made.end), 0);
}

/* Read for its symbols and for its rows; what both took. */
static size_t read_all(struct image_content *ret_content)
{
	struct cfi_file *cfi = NULL;
	struct err err = { 0 };
	size_t began;

	finish();
	began = peak_begin();
	image_content_read(made.fd, 0, "made", LIMIT_BYTES, ret_content);
	cfi_file_open(made.fd, &cfi, &err);
	cfi_file_close(cfi);
	return peak_end(began);
}

static void expect_refused(const char *why)
{
	struct image_content content;
	size_t peak = read_all(&content);

	assert_true(peak < 4 * MIB);
	assert_non_null(content.failure);
	assert_non_null(strstr(content.failure, why));
	image_content_release(&content);
}

/* PEAK: bytes; the file is read all the same, with or without symbols. */
static void expect_read(size_t max_peak, const char *left_out)
{
	struct image_content content;
	size_t peak = read_all(&content);

	if (peak >= max_peak)
		print_message("%zu MiB\n", peak / MIB);
	assert_true(peak < max_peak);
	assert_null(content.failure);
	if (left_out) {
		assert_non_null(content.left_out);
		assert_non_null(strstr(content.left_out, left_out));
	}
	image_content_release(&content);
}

static void sections_are_counted_before_they_are_looked_at(void **state)
{
	(void)state;
	made.sections[0].sh_size = 5000000;
	made.end = SECTIONS_AT + 5000000 * sizeof(Elf64_Shdr);
	expect_refused("5000000 sections");
}

static void a_few_thousand_sections_are_honest(void **state)
{
	(void)state;
	made.header.e_shnum = 5000;
	made.end = SECTIONS_AT + 5000 * sizeof(Elf64_Shdr);
	expect_read(8 * MIB, NULL);
}

static void segments_are_counted_before_they_are_looked_at(void **state)
{
	(void)state;
	made.header.e_phoff = 64;
	made.header.e_phnum = PN_XNUM;
	made.sections[0].sh_info = 20000000;
	made.end = 2 * GIB;
	expect_refused("20000000 segments");
}

/* Each a little longer than the one before, so that none is the same as another. */
static void overlapping_notes(void **state)
{
	enum { NOTES = 2000 };

	_cleanup_free_ Elf64_Phdr *segments = xcalloc(NOTES, sizeof(*segments));

	(void)state;
	for (unsigned int i = 0; i < NOTES; i++)
		segments[i] = (Elf64_Phdr){ .p_type = PT_NOTE,
					    .p_offset = GIB,
					    .p_filesz = (1U << 20) - 4 * i,
					    .p_align = 4 };
	made.header.e_phoff = made.end;
	made.header.e_phnum = NOTES;
	put(made.end, segments, NOTES * sizeof(*segments));
	made.end = 2 * GIB;
	expect_read(8 * MIB, NULL);
}

static void names_of_sections(void **state)
{
	(void)state;
	made.sections[1].sh_size = GIB - 1;
	made.end = 2 * GIB;
	expect_read(4 * MIB, NULL);
}

static void add_symbols(const void *symbols, uint64_t bytes, const void *names, uint64_t name_bytes)
{
	unsigned int strings = add(STRTAB_AT, SHT_STRTAB, names, name_bytes);
	unsigned int table = add(SYMTAB_AT, SHT_SYMTAB, symbols, bytes);

	made.sections[table].sh_link = strings;
	made.sections[table].sh_entsize = sizeof(Elf64_Sym);
}

/* A gigabyte of relocations, whose symbols are a gigabyte, too. */
static void a_large_plt(void **state)
{
	unsigned int symbols, plt;

	(void)state;
	symbols = add(0, SHT_DYNSYM, NULL, GIB);
	made.sections[symbols].sh_link = 1;
	made.sections[symbols].sh_entsize = sizeof(Elf64_Sym);
	plt = add(RELA_AT, SHT_RELA, NULL, GIB);
	made.sections[plt].sh_link = symbols;
	made.sections[plt].sh_entsize = sizeof(Elf64_Rela);
	add(PLT_AT, SHT_PROGBITS, NULL, GIB);
	expect_read(PEAK_BYTES, "the symbols of made take");
}

/* As many relocations as there may be, of symbols that no table of functions has. */
static void a_plt_of_other_symbols(void **state)
{
	const uint64_t entries = ELF_MAX_PLT_ENTRIES;
	unsigned int symbols, plt;

	(void)state;
	symbols = add(0, SHT_PROGBITS, NULL, GIB);
	made.sections[symbols].sh_link = 1;
	plt = add(RELA_AT, SHT_RELA, NULL, entries * sizeof(Elf64_Rela));
	made.sections[plt].sh_link = symbols;
	made.sections[plt].sh_entsize = sizeof(Elf64_Rela);
	add(PLT_AT, SHT_PROGBITS, NULL, entries * 16);
	expect_read(PEAK_BYTES, NULL);
}

/* The table would fit, the names that it stands for would not. */
static void many_symbols_of_one_long_name(void **state)
{
	enum { SYMBOLS = 100000, LENGTH = 4000 };

	_cleanup_free_ Elf64_Sym *symbols = xcalloc(SYMBOLS, sizeof(*symbols));
	_cleanup_free_ char *names = xcalloc(LENGTH + 2, 1);

	(void)state;
	memset(names + 1, 'n', LENGTH);
	for (unsigned int i = 1; i < SYMBOLS; i++)
		symbols[i] = (Elf64_Sym){ .st_name = 1,
					  .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
					  .st_shndx = 1,
					  .st_value = 16 * i,
					  .st_size = 16 };
	add_symbols(symbols, SYMBOLS * sizeof(*symbols), names, LENGTH + 2);
	expect_read(2 * PEAK_BYTES, "the names of made take");
}

/* Rows are made on the loop's thread: the symbol of the entry point is not worth a gigabyte. */
static void an_entry_point_among_many_symbols(void **state)
{
	(void)state;
	made.header.e_entry = 0x1000;
	add_symbols(NULL, GIB / 4, NULL, GIB / 4);
	expect_read(PEAK_BYTES, "the symbols of made take");
}

static void add_debugdata(size_t zeros, uint32_t preset)
{
	_cleanup_free_ uint8_t *plain = xcalloc(zeros, 1), *packed = xmalloc(zeros / 100 + 4096);
	size_t len = 0;

	assert_int_equal(lzma_easy_buffer_encode(preset, LZMA_CHECK_CRC32, NULL, plain, zeros,
						 packed, &len, zeros / 100 + 4096),
			 LZMA_OK);
	add(DATA_AT, SHT_PROGBITS, packed, len);
}

static void symbols_that_decompress_to_too_much(void **state)
{
	(void)state;
	add_debugdata(128U << 20, 0);
	expect_read(PEAK_BYTES, "compressed symbols of made take");
}

/* A dictionary of 64 MB for a kilobyte. */
static void a_dictionary_that_takes_too_much(void **state)
{
	uint8_t plain[1024] = { 0 }, packed[4096];
	lzma_options_lzma options;
	lzma_filter filters[] = { { LZMA_FILTER_LZMA2, &options }, { LZMA_VLI_UNKNOWN, NULL } };
	size_t len = 0;

	(void)state;
	lzma_lzma_preset(&options, 0);
	options.dict_size = 64U << 20;
	assert_int_equal(lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC32, NULL, plain,
						   sizeof(plain), packed, &len, sizeof(packed)),
			 LZMA_OK);
	add(DATA_AT, SHT_PROGBITS, packed, len);
	expect_read(PEAK_BYTES, "compressed symbols of made take");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sections_are_counted_before_they_are_looked_at),
		TEST(a_few_thousand_sections_are_honest),
		TEST(segments_are_counted_before_they_are_looked_at),
		TEST(overlapping_notes),
		TEST(names_of_sections),
		TEST(a_large_plt),
		TEST(a_plt_of_other_symbols),
		TEST(many_symbols_of_one_long_name),
		TEST(an_entry_point_among_many_symbols),
		TEST(symbols_that_decompress_to_too_much),
		TEST(a_dictionary_that_takes_too_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
