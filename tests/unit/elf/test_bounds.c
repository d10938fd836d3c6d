// SPDX-License-Identifier: Apache-2.0
/* Where functions without a symbol begin and end: as they are added, and of a file that was stripped. */
#include "image_fixture.h"

#include "cfi_frames.h"
#include "elf/bounds.h"
#include "elf/symbols.h"

static uint64_t start_of(const struct bounds *bounds, uint64_t address)
{
	uint64_t start = 1;

	return bounds_find(bounds, address, &start) ? start : 0;
}

static void in_any_order(void **state)
{
	struct bounds b = { 0 };

	(void)state;
	assert_int_equal(start_of(&b, 0x1000), 0);
	bounds_add(&b, 0x3000, 0x3010);
	bounds_add(&b, 0x1000, 0x1020);
	bounds_add(&b, 0x2000, 0x2000); /* of nothing */
	bounds_add(&b, 0x2800, 0x27ff);
	bounds_add(&b, 0x1020, 0x1030);
	bounds_end(&b);
	assert_int_equal(b.v.len, 3);
	assert_true(bounds_are_sound(&b));
	assert_int_equal(start_of(&b, 0x0fff), 0);
	assert_int_equal(start_of(&b, 0x1000), 0x1000);
	assert_int_equal(start_of(&b, 0x101f), 0x1000);
	assert_int_equal(start_of(&b, 0x1020), 0x1020);
	assert_int_equal(start_of(&b, 0x102f), 0x1020);
	assert_int_equal(start_of(&b, 0x1030), 0);
	assert_int_equal(start_of(&b, 0x2000), 0);
	assert_int_equal(start_of(&b, 0x300f), 0x3000);
	assert_int_equal(start_of(&b, 0x3010), 0);
	assert_int_equal(start_of(&b, UINT64_MAX), 0);
	bounds_release(&b);
	assert_int_equal(start_of(&b, 0x1000), 0);
}

/* Who begins later has the word; of two that begin together the longer one. */
static void those_that_overlap(void **state)
{
	struct bounds b = { 0 };

	(void)state;
	bounds_add(&b, 0x1000, 0x1100);
	bounds_add(&b, 0x1080, 0x1090);
	bounds_add(&b, 0x2000, 0x2080);
	bounds_add(&b, 0x2000, 0x2040);
	bounds_add(&b, 0x2000, 0x2060);
	bounds_end(&b);
	assert_int_equal(b.v.len, 3);
	assert_true(bounds_are_sound(&b));
	assert_int_equal(start_of(&b, 0x107f), 0x1000);
	assert_int_equal(start_of(&b, 0x1080), 0x1080);
	assert_int_equal(start_of(&b, 0x1090), 0);
	assert_int_equal(start_of(&b, 0x207f), 0x2000);
	assert_int_equal(start_of(&b, 0x2080), 0);
	bounds_release(&b);
}

static void far_from_the_first(void **state)
{
	const uint64_t first = 0x7f0000001000;
	struct bounds b = { 0 };

	(void)state;
	bounds_add(&b, first, first + 16);
	bounds_add(&b, first - 0x1000, first - 0xff0);
	bounds_add(&b, first - 0x2000 + (1ULL << 33), first + (1ULL << 33));
	bounds_add(&b, 0x1000, 0x1010);
	bounds_add(&b, first + 32, UINT64_MAX);
	bounds_end(&b);
	assert_int_equal(b.v.len, 3);
	assert_true(bounds_are_sound(&b));
	assert_int_equal(start_of(&b, first + 15), first);
	assert_int_equal(start_of(&b, first - 0x1000), first - 0x1000);
	assert_int_equal(start_of(&b, first + 33), first + 32);
	assert_int_equal(start_of(&b, first - 0x2000 + (1ULL << 33)), 0);
	assert_int_equal(start_of(&b, first - 0x2000), 0);
	assert_int_equal(start_of(&b, 0x1000), 0);
	bounds_release(&b);
}

/* A record that was damaged is not the first one, from which all others are reckoned. */
static void at_the_end_of_addresses(void **state)
{
	struct bounds b = { 0 };

	(void)state;
	bounds_add(&b, UINT64_MAX - 0x1000, UINT64_MAX - 0x800);
	bounds_add(&b, 0x1000, 0x1020);
	bounds_end(&b);
	assert_true(bounds_are_sound(&b));
	assert_int_equal(b.v.len, 1);
	assert_int_equal(start_of(&b, 0x101f), 0x1000);
	bounds_release(&b);
}

static void what_is_not_sound(void **state)
{
	struct bound items[] = { { 0x10, 0x10 }, { 0x20, 0x10 } };
	struct bounds b = { 0, { items, 2, 2 } };

	(void)state;
	assert_true(bounds_are_sound(&b));
	items[0].size = 0x11;
	assert_false(bounds_are_sound(&b));
	items[0].size = 0;
	assert_false(bounds_are_sound(&b));
	items[0].size = 0x10;
	items[1].start = 8;
	assert_false(bounds_are_sound(&b));
	items[1] = (struct bound){ UINT32_MAX, UINT32_MAX };
	assert_true(bounds_are_sound(&b));
	b.base = UINT64_MAX - 2ULL * UINT32_MAX;
	assert_true(bounds_are_sound(&b));
	assert_int_equal(start_of(&b, UINT64_MAX - 1), b.base + UINT32_MAX);
	b.base++;
	assert_false(bounds_are_sound(&b));
}

/* --- of files --------------------------------------------------------------------------------- */

static bool add_found(uint64_t start, uint64_t end, void *data)
{
	struct bounds *bounds = data;

	bounds_add(bounds, start, end);
	return bounds->v.len < 3;
}

static void of_each_section(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		_cleanup_frames_ struct frames f = { .debug = i == 2 };
		struct cfi_parts parts = { 0 };
		struct bounds b = { 0 };

		frames_usual_cie(&f);
		frames_fde(&f, 0x1010, 0x10, PROGRAM(DW_CFA_nop));
		frames_fde(&f, 0x1ff0, 0x20, PROGRAM(DW_CFA_nop));
		frames_fde(&f, 0x2010, 0x30, PROGRAM(DW_CFA_nop));
		frames_fde(&f, 0x2100, 0x30, PROGRAM(DW_CFA_nop));
		frames_open(&f, &parts, i == 0);
		cfi_file_for_each_function(f.file, add_found, &b);
		bounds_end(&b);
		assert_int_equal(b.v.len, 3); /* no more was wanted */
		assert_int_equal(start_of(&b, 0x101f), 0x1010);
		assert_int_equal(start_of(&b, 0x1020), 0);
		assert_int_equal(start_of(&b, 0x200f), 0x1ff0);
		assert_int_equal(start_of(&b, 0x203f), 0x2010);
		bounds_release(&b);
	}
}

/* Calls FN for each function of this program that compilers made, by its symbol. */
struct symbol_visit {
	struct image *stripped;
	unsigned int seen, wrong;
};

static void compare_one(const char *name, uint64_t address, uint64_t size, void *data)
{
	struct symbol_visit *visit = data;
	uint64_t first = 1, last = 1;
	struct elf_symbol symbol;

	/* Exported ones have their names still; assembly has no call frame information. */
	if (size == 0 || name[0] == '_' || image_find_symbol(visit->stripped, address, &symbol))
		return;
	visit->seen++;
	if (image_find_function(visit->stripped, address, &first) && first == address &&
	    image_find_function(visit->stripped, address + size - 1, &last) && last == address)
		return;
	print_message("%s: %#lx, %#lx in the place of %#lx\n", name, first, last, address);
	visit->wrong++;
}

/* Each function of a stripped program is one, and a program that has symbols needs none. */
static void of_a_stripped_program(void **state)
{
	struct fixture *f = *state;
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	struct symbol_visit visit = { 0 };
	struct image *whole;
	uint64_t start;
	struct err err;

	copy_self(f, "whole");
	copy_self(f, "prog");
	if (!run(f, "strip prog"))
		skip();
	visit.stripped = open_named(f, "prog");
	wait_for(f, visit.stripped);
	assert_int_equal(elf_file_open(fd, &file, &err), 0);
	elf_file_for_each_function(file, compare_one, &visit);
	assert_true(visit.seen > 50);
	assert_int_equal(visit.wrong, 0);
	assert_false(image_find_function(visit.stripped, 1ULL << 40, &start));
	whole = open_named(f, "whole");
	wait_for(f, whole);
	assert_false(image_find_function(whole, f->local_address, &start));
}

/* What has a symbol is not kept twice; what goes on behind its symbol is. */
static void beside_symbols(void **state)
{
	struct symbol_range ranges[] = { { 0x1000, 0x20, 0 }, { 0x2000, 0x10, 2 } };
	struct symbols symbols = { .ranges = { ranges, 2, 2 } };

	(void)state;
	assert_true(symbols_cover(&symbols, 0x1000, 0x1020));
	assert_true(symbols_cover(&symbols, 0x1008, 0x1018));
	assert_false(symbols_cover(&symbols, 0x1000, 0x1021));
	assert_false(symbols_cover(&symbols, 0x0ff0, 0x1000));
	assert_false(symbols_cover(&symbols, 0x1020, 0x1030));
	assert_false(symbols_cover(&symbols, 0x2000, 0x2011));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_any_order),
		cmocka_unit_test(those_that_overlap),
		cmocka_unit_test(far_from_the_first),
		cmocka_unit_test(at_the_end_of_addresses),
		cmocka_unit_test(what_is_not_sound),
		cmocka_unit_test(of_each_section),
		cmocka_unit_test(beside_symbols),
		cmocka_unit_test_setup_teardown(of_a_stripped_program, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
