// SPDX-License-Identifier: Apache-2.0
/* What hostile sections may cost. */
#include "test.h"

#include <dwarf.h>
#include <string.h>

#include "base/strbuf.h"
#include "elf/cfi/cfi_layer.h"
#include "elf/cfi/cfi_program.h"
#include "elf/cfi/fde_index.h"

/* A CIE (version 1, factors 1 and -8, column 16) and one FDE of it. */
static void add_pair(struct strbuf *sb, uint64_t start)
{
	static const uint8_t cie[] = { 12, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0, 0, 0 };
	const uint32_t fde[] = { 20, sizeof(cie) + 4 };
	const uint64_t addresses[] = { start, 16 };

	strbuf_add(sb, cie, sizeof(cie));
	strbuf_add(sb, fde, sizeof(fde));
	strbuf_add(sb, addresses, sizeof(addresses));
}

static size_t scan_pairs(size_t count)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct cfi_reader reader;
	struct cfi_section section = { .reader = &reader };
	struct fde_index index = { .section = &section };
	size_t found;

	for (size_t i = 0; i < count; i++)
		add_pair(&sb, 0x1000 + 16 * i);
	cfi_reader_init_memory(&reader, sb.buf, sb.len);
	section.size = sb.len;
	fde_index_scan(&index);
	found = index.own.len;
	fde_index_release(&index);
	cfi_section_release(&section);
	return found;
}

static void as_many_cies_as_object_files(void **state)
{
	(void)state;
	assert_int_equal(scan_pairs(1000), 1000);
	assert_in_range(scan_pairs(300000), 200000, 262144);
}

#define COUNT 700
#define FIRST 0x1000

/* Function I begins there; they are 16 bytes apart, in any order in the section. */
static uint64_t start_of(size_t i)
{
	return FIRST + 16 * i;
}

/* All functions that reach into a range: the one that begins at or below it, and those in it. */
static void expect_places(struct fde_index *index, uint64_t start, uint64_t end)
{
	struct fde_places places = { VEC_INIT };
	size_t first = start < FIRST ? 0 : MIN((start - FIRST) / 16, COUNT - 1), n = 0;

	fde_index_find(index, start, end, &places);
	for (size_t i = first; i < COUNT && start_of(i) < end; i++, n++) {
		assert_true(n < places.v.len);
		assert_int_equal(places.v.items[n].start, start_of(i));
		/* The pairs are written from the last one on, an FDE behind its CIE. */
		assert_int_equal(places.v.items[n].offset, (COUNT - 1 - i) * 40 + 16);
	}
	assert_int_equal(places.v.len, n);
	vec_release(&places.v);
}

static void all_functions_of_a_range_are_found(void **state)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct cfi_reader reader;
	struct cfi_section section = { .reader = &reader };
	struct fde_index index = { .section = &section };

	(void)state;
	for (size_t i = COUNT; i-- > 0;)
		add_pair(&sb, start_of(i));
	/* What the linker dropped, and what is farther away than 4 GiB. */
	add_pair(&sb, 0);
	add_pair(&sb, start_of(COUNT - 1) + (1ULL << 32));
	cfi_reader_init_memory(&reader, sb.buf, sb.len);
	section.size = sb.len;
	fde_index_scan(&index);
	assert_int_equal(index.own.len, COUNT);
	for (uint64_t start = FIRST - 32; start < FIRST + 16 * (COUNT + 2); start += 40)
		for (uint64_t bytes = 1; bytes < 20000; bytes = bytes * 7 + 1)
			expect_places(&index, start, start + bytes);
	fde_index_release(&index);
	cfi_section_release(&section);
}

static void remembered_states_are_dear(void **state)
{
	static const uint8_t program[] = { DW_CFA_remember_state, DW_CFA_nop,
					   DW_CFA_restore_state };
	uint32_t cost;

	(void)state;
	assert_true(cfi_program_is_sound(program, sizeof(program), &cost));
	assert_in_range(cost, 16, 100);
	assert_true(cfi_program_is_sound(program + 1, 1, &cost));
	assert_int_equal(cost, 1);
	assert_false(cfi_program_is_sound(program + 2, 1, &cost));
}

/* Its end is address 0. */
static void the_last_page_has_a_row(void **state)
{
	struct cfi_reader reader;
	struct cfi_layer layer = { 0 };
	struct cfi_rows rows = { VEC_INIT };

	(void)state;
	cfi_reader_init_memory(&reader, "", 0);
	cfi_layer_init(&layer, &reader);
	cfi_layer_rows(&layer, UINT64_MAX - WIRE_PAGE_BYTES + 1, &rows);
	assert_int_equal(rows.v.len, 1);
	assert_int_equal(rows.v.items[0].offset, 0);
	assert_int_equal(rows.v.items[0].rule.kind, WIRE_RULE_NONE);
	vec_release(&rows.v);
	cfi_layer_release(&layer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_cies_as_object_files),
		cmocka_unit_test(all_functions_of_a_range_are_found),
		cmocka_unit_test(the_last_page_has_a_row),
		cmocka_unit_test(remembered_states_are_dear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
