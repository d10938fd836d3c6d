/* SPDX-License-Identifier: Apache-2.0 */
/* A table of symbols, made of entries as files have them: aliases, nesting, missing sizes. */
#include "test.h"

#include <fcntl.h>
#include <unistd.h>

#include "elf/symbols.h"

#define BASE 0x7000000000ULL

static struct elf_file *own_file(void)
{
	struct elf_file *file = NULL;
	struct err err;

	assert_int_equal(elf_file_open(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), &file, &err),
			 0);
	return file;
}

static void add(struct symbols_builder *b, uint64_t address, uint64_t size, uint8_t rank,
		const char *name)
{
	struct raw_range raw = { .address = address,
				 .size = size,
				 .name = (uint32_t)b->names.len,
				 .len = (uint32_t)strlen(name) + 1,
				 .rank = rank };

	strbuf_add(&b->names, name, strlen(name) + 1);
	vec_push(&b->raw, raw);
}

static void expect_symbol(struct symbols *symbols, uint64_t address, const char *name,
			  uint64_t start, uint64_t size)
{
	struct elf_symbol symbol;

	if (!name) {
		assert_false(symbols_find(symbols, address, &symbol));
		return;
	}
	assert_true(symbols_find(symbols, address, &symbol));
	assert_string_equal(symbol.name, name);
	assert_int_equal(symbol.address, start);
	assert_int_equal(symbol.size, size);
}

static void build(struct symbols_builder *b, struct symbols *ret_symbols)
{
	struct elf_file *file = own_file();

	symbols_build(b, file, ret_symbols);
	elf_file_close(file);
}

/* Of one address the name with the highest rank, of equals the first; the largest size. */
static void the_best_name_of_an_address(void **state)
{
	struct symbols_builder b = { 0 };
	struct symbols symbols;

	(void)state;
	add(&b, BASE + 0x300, 16, 1, "third");
	add(&b, BASE + 0x100, 16, 1, "weak");
	add(&b, BASE + 0x200, 8, 2, "first_of_equals");
	add(&b, BASE + 0x100, 32, 2, "global");
	add(&b, BASE + 0x200, 4, 2, "second_of_equals");
	add(&b, BASE + 0x100, 4, 1, "other");
	add(&b, BASE + 0x300, 24, 0, "worse");
	build(&b, &symbols);
	assert_int_equal(symbols.ranges.len, 3);
	expect_symbol(&symbols, BASE + 0x0ff, NULL, 0, 0);
	expect_symbol(&symbols, BASE + 0x100, "global", BASE + 0x100, 32);
	expect_symbol(&symbols, BASE + 0x11f, "global", BASE + 0x100, 32);
	expect_symbol(&symbols, BASE + 0x120, NULL, 0, 0);
	expect_symbol(&symbols, BASE + 0x207, "first_of_equals", BASE + 0x200, 8);
	expect_symbol(&symbols, BASE + 0x317, "third", BASE + 0x300, 24);
	expect_symbol(&symbols, BASE + 0x318, NULL, 0, 0);
	symbols_release(&symbols);
}

/* Code within a function has its own name, and behind it the function goes on. */
static void the_innermost_range_has_the_word(void **state)
{
	struct symbols_builder b = { 0 };
	struct symbols symbols;

	(void)state;
	add(&b, BASE, 0x100, 1, "outer");
	add(&b, BASE + 0x40, 0x20, 1, "inner");
	build(&b, &symbols);
	expect_symbol(&symbols, BASE + 0x3f, "outer", BASE, 0x100);
	expect_symbol(&symbols, BASE + 0x40, "inner", BASE + 0x40, 0x20);
	expect_symbol(&symbols, BASE + 0x5f, "inner", BASE + 0x40, 0x20);
	expect_symbol(&symbols, BASE + 0x60, "outer", BASE, 0x100);
	expect_symbol(&symbols, BASE + 0x100, NULL, 0, 0);
	symbols_release(&symbols);
}

static __attribute__((noinline, used)) int own_function(int x)
{
	__asm__ volatile("");
	return x + 1;
}

/* An address of this program's own text, as the file has it, and the end of its section. */
static uint64_t own_text(uint64_t *ret_end)
{
	struct elf_file *file = own_file();
	uint64_t address;

	assert_int_equal(own_function(1), 2);
	assert_int_equal(elf_file_find_symbol(file, "own_function", &address), 0);
	*ret_end = elf_file_section_end(file, address);
	elf_file_close(file);
	assert_true(*ret_end > address + 0x100);
	return address;
}

/* Assembly: it goes on to the next name or to the end of its section; a label in a function is none. */
static void names_without_a_size(void **state)
{
	struct symbols_builder b = { 0 };
	struct symbols symbols;
	uint64_t end, text = own_text(&end);

	(void)state;
	add(&b, text, 0, 1, "first");
	add(&b, text + 0x10, 0x20, 1, "sized");
	add(&b, text + 0x2f, 0, 1, "label");
	add(&b, text + 0x30, 0, 1, "behind");
	add(&b, text + 0x40, 0, 1, "last");
	add(&b, end, 0, 1, "at_the_end");
	add(&b, BASE, 0, 1, "nowhere");
	build(&b, &symbols);
	expect_symbol(&symbols, text, "first", text, 0x10);
	expect_symbol(&symbols, text + 0x0f, "first", text, 0x10);
	expect_symbol(&symbols, text + 0x2f, "sized", text + 0x10, 0x20);
	expect_symbol(&symbols, text + 0x30, "behind", text + 0x30, 0x10);
	expect_symbol(&symbols, end - 1, "last", text + 0x40, end - text - 0x40);
	expect_symbol(&symbols, BASE, NULL, 0, 0);
	symbols_release(&symbols);
}

/* Any number of addresses in any order, up to the highest bit. */
static void addresses_are_sorted(void **state)
{
	struct symbols_builder b = { 0 };
	struct symbols symbols;
	uint64_t random = 88172645463325252ULL, last = 0;

	(void)state;
	for (int i = 0; i < 5000; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		add(&b, random >> (i % 50), 1, 1, "f");
	}
	build(&b, &symbols);
	assert_true(symbols.ranges.len > 4000);
	for (size_t i = 0; i < symbols.ranges.len; i++) {
		assert_true(i == 0 || symbols.ranges.items[i].address > last);
		last = symbols.ranges.items[i].address;
	}
	symbols_release(&symbols);
}

static void an_empty_table_finds_nothing(void **state)
{
	struct symbols_builder b = { 0 };
	struct symbols symbols;

	(void)state;
	build(&b, &symbols);
	expect_symbol(&symbols, 0, NULL, 0, 0);
	assert_int_equal(symbols.ranges.len, 0);
	symbols_release(&symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_name_of_an_address),
		cmocka_unit_test(the_innermost_range_has_the_word),
		cmocka_unit_test(names_without_a_size),
		cmocka_unit_test(addresses_are_sorted),
		cmocka_unit_test(an_empty_table_finds_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
