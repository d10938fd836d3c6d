// SPDX-License-Identifier: Apache-2.0
/* A symbol table that is too large to be read whole: addresses are here, names come when they are wanted. */
#include "test.h"

#include <unistd.h>

#include "elf/image_content.h"
#include "elf/image_parse.h"
#include "made_elf.h"

enum { FUNCTIONS = 6000, STEP = 16, BASE = 0x100000 };

static char *long_name(int i)
{
	struct strbuf name = STRBUF_INIT;

	/* of some 400 bytes, as those of Rust are */
	strbuf_addf(&name, "function_%d_%0400d", i, i);
	return strbuf_take(&name);
}

/* FUNCTIONS of long names, and some in front of them; the file. */
static int write_file(void)
{
	char path[] = "/tmp/hostprof-far-XXXXXX";
	struct made_symbols table;
	struct cfi_elf elf;
	const struct cfi_parts parts = { 0 };
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	made_begin(&elf);
	made_symbols_begin(&table);
	made_function(&table, "__alias", BASE - 64, 16);
	made_function(&table, "alias", BASE - 64, 16);
	made_function(&table, "_ZN3one3twoEv", BASE - 48, 16);
	made_symbol(&table, "data",
		    (Elf64_Sym){ .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
				 .st_shndx = 1,
				 .st_value = BASE - 32 });
	for (int i = 0; i < FUNCTIONS; i++) {
		_cleanup_free_ char *name = long_name(i);

		made_function(&table, name, BASE + (uint64_t)i * STEP, STEP);
	}
	made_table(&elf, ".symtab", SHT_SYMTAB, &table);
	cfi_elf_header(&elf, &parts);
	strbuf_release(&elf.names);
	assert_int_equal(write(fd, elf.bytes.buf, elf.bytes.len), elf.bytes.len);
	strbuf_release(&elf.bytes);
	return fd;
}

static const char *name_at(struct image_content *content, uint64_t address)
{
	struct elf_symbol symbol;

	return symbols_find(&content->symbols, address, &symbol) ? symbol.name : "nothing";
}

static void expect_names(struct image_content *content)
{
	struct elf_symbol symbol;

	assert_string_equal(name_at(content, BASE - 64), "alias");
	assert_string_equal(name_at(content, BASE - 33), "one::two");
	assert_true(symbols_find(&content->symbols, BASE - 48, &symbol) && symbol.cpp);
	assert_string_equal(name_at(content, BASE - 32), "nothing");
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < FUNCTIONS; i += 1 + round * 100) {
			_cleanup_free_ char *name = long_name(i);

			assert_string_equal(name_at(content, BASE + (uint64_t)i * STEP + 5), name);
		}
	assert_string_equal(name_at(content, BASE + FUNCTIONS * STEP), "nothing");
}

static void what_there_is_room_for_is_here(void **state)
{
	_cleanup_close_ int fd = write_file();
	struct image_content content;

	(void)state;
	image_content_read(fd, 0, "made", 64 << 20, &content);
	assert_null(content.failure);
	assert_null(content.left_out);
	assert_int_equal(content.symbols.names_fd, 0);
	assert_true(symbols_bytes(&content.symbols) > FUNCTIONS * 400);
	expect_names(&content);
	image_content_release(&content);
}

/* A file of 2.5 MB whose names stay where they are: what is kept is bounded, whatever was asked for. */
static void names_come_when_they_are_wanted(void **state)
{
	_cleanup_close_ int fd = write_file();
	struct image_content content;

	(void)state;
	image_content_read(fd, 0, "made", 1 << 20, &content);
	assert_null(content.failure);
	assert_null(content.left_out);
	assert_true(content.symbols.names_fd > 0);
	assert_true(symbols_bytes(&content.symbols) < (FUNCTIONS + 10) * 16 + (300 << 10));
	expect_names(&content);
	assert_true(content.symbols.known.bytes <= 256 << 10);
	assert_true(content.symbols.known.len > 100);
	image_content_release(&content);
	assert_int_equal(content.symbols.names_fd, 0);
	assert_int_equal(symbols_bytes(&content.symbols), 0);
}

/* There is no room for the addresses either. */
static void too_many_addresses(void **state)
{
	_cleanup_close_ int fd = write_file();
	struct image_content content;

	(void)state;
	image_content_read(fd, 0, "made", 64 * FUNCTIONS, &content);
	assert_non_null(content.left_out);
	assert_int_equal(content.symbols.names_fd, 0);
	assert_string_equal(name_at(&content, BASE), "nothing");
	image_content_release(&content);
}

/* Somebody cuts the file, or writes other things where names were. */
static void files_that_change(void **state)
{
	_cleanup_close_ int fd = write_file();
	struct image_content content;
	char byte = '\0';

	(void)state;
	image_content_read(fd, 0, "made", 1 << 20, &content);
	assert_string_equal(name_at(&content, BASE - 64), "alias");
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)content.symbols.far.offset + 17), 1);
	assert_int_equal(ftruncate(fd, (off_t)content.symbols.far.offset + 40), 0);
	assert_string_equal(name_at(&content, BASE + 600 * STEP), "nothing");
	assert_string_equal(name_at(&content, BASE - 64), "alias"); /* as it was */
	image_content_release(&content);
}

/* Of a reader that was taken over. */
static void places_are_looked_at(void **state)
{
	struct symbol_range ranges[] = { { 16, 8, SYMBOL_FAR | 9 }, { 32, 8, SYMBOL_FAR | 3 } };
	char none = '\0';
	struct symbols symbols = { .names = &none, .name_bytes = 1, .far = { 100, 10 } };

	(void)state;
	symbols.ranges.items = ranges;
	symbols.ranges.len = 2;
	assert_true(symbols_are_sound(&symbols));
	ranges[1].name = SYMBOL_FAR | 10;
	assert_false(symbols_are_sound(&symbols));
	ranges[1].name = SYMBOL_FAR;
	ranges[1].address = 16;
	assert_false(symbols_are_sound(&symbols));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_there_is_room_for_is_here),
		cmocka_unit_test(names_come_when_they_are_wanted),
		cmocka_unit_test(too_many_addresses),
		cmocka_unit_test(files_that_change),
		cmocka_unit_test(places_are_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
