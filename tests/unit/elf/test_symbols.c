/* SPDX-License-Identifier: Apache-2.0 */
/* A table of symbols, made of entries as files have them: aliases, nesting, missing sizes. */
#include "test.h"

#include <fcntl.h>
#include <unistd.h>

#include "elf/symbols.h"
#include "made_elf.h"

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

/* Each address counts for how many digits are sorted, the first and the last one, too. */
static void one_address_with_more_digits(void **state)
{
	(void)state;
	for (int first = 0; first < 2; first++) {
		struct symbols_builder b = { 0 };
		struct symbols symbols;

		if (first)
			add(&b, 1 << 20, 8, 1, "high");
		add(&b, 0x20, 8, 1, "second");
		add(&b, 0x10, 8, 1, "first");
		if (!first)
			add(&b, 1 << 20, 8, 1, "high");
		build(&b, &symbols);
		expect_symbol(&symbols, 0x10, "first", 0x10, 8);
		expect_symbol(&symbols, 0x27, "second", 0x20, 8);
		expect_symbol(&symbols, 1 << 20, "high", 1 << 20, 8);
		symbols_release(&symbols);
	}
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

/* Eight functions back, and no farther: what lies in one has an end. */
static void functions_within_a_function(void **state)
{
	(void)state;
	for (size_t within = 6; within <= 8; within++) {
		struct symbols_builder b = { 0 };
		struct symbols symbols;

		add(&b, BASE, 0x1000, 1, "outer");
		for (size_t i = 1; i <= within; i++)
			add(&b, BASE + 0x10 * i, 8, 1, "inner");
		build(&b, &symbols);
		expect_symbol(&symbols, BASE + 0x10 * within + 8, within < 8 ? "outer" : NULL, BASE,
			      0x1000);
		expect_symbol(&symbols, BASE + 0x10 * within + 7, "inner", BASE + 0x10 * within, 8);
		symbols_release(&symbols);
	}
}

/* The end of a section is looked for a thousand times, which is for files of no use. */
static void many_names_of_no_section(void **state)
{
	(void)state;
	for (unsigned int before = 999; before <= 1000; before++) {
		struct symbols_builder b = { 0 };
		struct symbols symbols;
		struct elf_file *file;
		struct cfi_elf elf;
		unsigned int at;

		made_begin(&elf);
		at = made_section(&elf, ".text", SHT_PROGBITS, "code", 4);
		elf.sections[at].sh_addr = 0x100000;
		elf.sections[at].sh_size = 0x40;
		elf.sections[at].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
		file = made_open(&elf, 0);
		for (unsigned int i = 1; i <= before; i++)
			add(&b, 0x10 * i, 0, 1, "lost");
		add(&b, 0x100000, 0, 1, "there");
		symbols_build(&b, file, &symbols);
		expect_symbol(&symbols, 0x10003f, before == 999 ? "there" : NULL, 0x100000, 0x40);
		expect_symbol(&symbols, 0x10, NULL, 0, 0);
		symbols_release(&symbols);
		made_close(&elf, file);
	}
}

/* xor %eax,%eax; ret; and another function, which only a table of all symbols has. */
static const char two_functions[0x40] = "\x31\xc0\xc3\x90\x31\xc9\xc3";

static void expect_end(bool has_symtab, uint64_t section, uint64_t address, uint64_t size)
{
	struct symbols_builder b = { 0 };
	struct made_symbols table;
	struct symbols symbols;
	struct elf_file *file;
	struct cfi_elf elf;
	unsigned int at;

	made_begin(&elf);
	at = made_section(&elf, ".text", SHT_PROGBITS, two_functions, sizeof(two_functions));
	elf.sections[at].sh_addr = section;
	elf.sections[at].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	made_symbols_begin(&table);
	made_function(&table, "short", address, 0);
	made_table(&elf, has_symtab ? ".symtab" : ".dynsym", has_symtab ? SHT_SYMTAB : SHT_DYNSYM,
		   &table);
	file = made_open(&elf, 0);
	add(&b, address, 0, 1, "short");
	symbols_build(&b, file, &symbols);
	expect_symbol(&symbols, address, "short", address, size);
	symbols_release(&symbols);
	made_close(&elf, file);
}

/* What is for dynamic linking lacks local functions, which would have the name of the one before. */
static void where_code_without_a_size_ends(void **state)
{
	(void)state;
	expect_end(true, 0x100000, 0x100000, 0x40);
	expect_end(false, 0x100000, 0x100000, 3);
	expect_end(false, 0x100000, 0x100004, 3);
	/* It ends with its section, and that is all zeros. */
	expect_end(false, 0x100000, 0x100008, 0x38);
}

static void expect_name(struct symbols *symbols, uint64_t address, const char *name, bool cpp)
{
	struct elf_symbol symbol, again;

	assert_true(symbols_find(symbols, address, &symbol));
	assert_string_equal(symbol.name, name);
	assert_int_equal(symbol.cpp, cpp);
	assert_true(symbols_find(symbols, address, &again));
	assert_ptr_equal(again.name, symbol.name);
}

/* As people write them; the PLT's with its suffix. */
static void names_are_demangled(void **state)
{
	struct symbols_builder b = { 0 };
	struct symbols symbols;

	(void)state;
	add(&b, BASE, 1, 1, "_ZN1a1bEv");
	add(&b, BASE + 1, 1, 1, "_ZN1a1bEv@plt");
	add(&b, BASE + 2, 1, 1, "memcpy@plt");
	add(&b, BASE + 3, 1, 1, "@plt");
	add(&b, BASE + 4, 1, 1, "memcpy");
	add(&b, BASE + 5, 1, 1, "_ZN4core3fmt5write17h0123456789abcdefE");
	build(&b, &symbols);
	expect_name(&symbols, BASE, "a::b", true);
	expect_name(&symbols, BASE + 1, "a::b@plt", true);
	expect_name(&symbols, BASE + 2, "memcpy@plt", false);
	expect_name(&symbols, BASE + 3, "@plt", false);
	expect_name(&symbols, BASE + 4, "memcpy", false);
	expect_name(&symbols, BASE + 5, "core::fmt::write", false);
	symbols_release(&symbols);
}

/* A file of thousands of mangled names, of which all are asked for: those that were not wanted for longest are made again. */
static void demangled_names_are_bounded(void **state)
{
	enum { COUNT = 6000 };
	struct symbols_builder b = { 0 };
	struct symbols symbols;
	char name[64], mangled[64];

	(void)state;
	for (unsigned int i = 0; i < COUNT; i++) {
		snprintf(mangled, sizeof(mangled), "_ZN9something5f%04uEv", i);
		add(&b, BASE + i, 1, 1, mangled);
	}
	build(&b, &symbols);
	for (unsigned int i = 0; i < 2 * COUNT; i++) {
		snprintf(name, sizeof(name), "something::f%04u", i % COUNT);
		expect_name(&symbols, BASE + i % COUNT, name, true);
		assert_true(symbols.known.bytes <= 2 * symbols.name_bytes);
	}
	assert_in_range(symbols.known.len, 1000, COUNT - 1000);
	symbols_release(&symbols);
}

/* What is held is what is counted; after release it is nothing. */
static void bytes_are_counted(void **state)
{
	struct symbols_builder b = { 0 };
	struct symbols symbols;

	(void)state;
	add(&b, BASE, 1ULL << 33, 1, "huge");
	add(&b, BASE + 4, 4, 1, "small");
	add(&b, BASE + 4, 4, 0, "worse");
	build(&b, &symbols);
	/* Names once, and demangled ones may take twice that. */
	assert_int_equal(symbols_bytes(&symbols),
			 2 * sizeof(struct symbol_range) + 3 * (5 + 6 + 1));
	expect_symbol(&symbols, BASE, "huge", BASE, UINT32_MAX);
	expect_symbol(&symbols, BASE + UINT32_MAX, NULL, 0, 0);
	assert_int_equal(b.raw.len, 0);
	assert_int_equal(b.names.len, 0);
	symbols_release(&symbols);
	assert_int_equal(symbols_bytes(&symbols), 0);
	assert_null(symbols.names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_name_of_an_address),
		cmocka_unit_test(the_innermost_range_has_the_word),
		cmocka_unit_test(names_without_a_size),
		cmocka_unit_test(where_code_without_a_size_ends),
		cmocka_unit_test(addresses_are_sorted),
		cmocka_unit_test(one_address_with_more_digits),
		cmocka_unit_test(an_empty_table_finds_nothing),
		cmocka_unit_test(functions_within_a_function),
		cmocka_unit_test(many_names_of_no_section),
		cmocka_unit_test(names_are_demangled),
		cmocka_unit_test(demangled_names_are_bounded),
		cmocka_unit_test(bytes_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
