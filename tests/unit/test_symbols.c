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
		cmocka_unit_test(addresses_are_sorted),
		cmocka_unit_test(an_empty_table_finds_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
