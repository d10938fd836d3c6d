// SPDX-License-Identifier: Apache-2.0
/* What hostile sections may cost. */
#include "test.h"

#include <dwarf.h>
#include <errno.h>
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
	size_t first = start < FIRST ? 0 : MIN((start - FIRST) / 16, (uint64_t)COUNT - 1), n = 0;

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

/* --- the linker's table --- */

enum { HDR = 0x7000, HDR_AT = 16, SECTION = 0x9000, TABLE_COUNT = 600 };

/* The header and COUNT entries, behind sixteen bytes of something else. */
static void put_header(struct strbuf *sb, const char encodings[4], int32_t pointer, uint32_t count,
		       uint32_t entries)
{
	strbuf_add(sb, "0123456789abcdef", HDR_AT);
	strbuf_add(sb, encodings, 4);
	strbuf_add(sb, &pointer, sizeof(pointer));
	strbuf_add(sb, &count, sizeof(count));
	for (uint32_t i = 0; i < entries; i++) {
		/* Text is in front of the header, records are behind it. */
		const int32_t entry[] = { (int32_t)start_of(i) - HDR,
					  SECTION + 40 * (int32_t)i - HDR };

		strbuf_add(sb, entry, sizeof(entry));
	}
}

static int read_header(const struct strbuf *sb, uint64_t size, struct fde_index *index,
		       uint64_t *ret_eh_frame)
{
	struct cfi_reader reader;

	cfi_reader_init_memory(&reader, sb->buf, sb->len);
	return fde_index_read_header(index, &reader, HDR_AT, HDR, size, ret_eh_frame);
}

#define USUAL_ENCODINGS "\x01\x1b\x03\x3b"

static void headers_of_the_table(void **state)
{
	static const struct {
		char encodings[5];
		uint32_t count;
		uint64_t size;
		size_t table; /* entries that are known then; 0: refused */
		uint64_t eh_frame;
	} cases[] = {
		{ USUAL_ENCODINGS, 3, 12 + 24, 3, HDR + 4 + 0x100 },
		{ "\x01\x3b\x03\x3b", 3, 12 + 24, 3, HDR + 0x100 },
		{ "\x01\x0b\x03\x3b", 3, 12 + 24, 3, 0x100 },
		/* fewer than are said, and more than are used */
		{ USUAL_ENCODINGS, 3, 12 + 23, 2, HDR + 4 + 0x100 },
		{ USUAL_ENCODINGS, 1, 12 + 24, 1, HDR + 4 + 0x100 },
		{ USUAL_ENCODINGS, 1000000, 12 + 8, 1, HDR + 4 + 0x100 },
		{ USUAL_ENCODINGS, 3, 12 + 7, 0, 0 },
		{ USUAL_ENCODINGS, 3, 12, 0, 0 },
		{ USUAL_ENCODINGS, 3, 11, 0, 0 },
		{ USUAL_ENCODINGS, 0, 12 + 24, 0, 0 },
		/* of other forms */
		{ "\x02\x1b\x03\x3b", 3, 12 + 24, 0, 0 },
		{ "\x01\x1c\x03\x3b", 3, 12 + 24, 0, 0 },
		{ "\x01\x13\x03\x3b", 3, 12 + 24, 0, 0 },
		{ "\x01\xff\x03\x3b", 3, 12 + 24, 0, 0 },
		{ "\x01\x1b\x04\x3b", 3, 12 + 24, 0, 0 },
		{ "\x01\x1b\xff\x3b", 3, 12 + 24, 0, 0 },
		{ "\x01\x1b\x03\x1b", 3, 12 + 24, 0, 0 },
		{ "\x01\x1b\x03\xff", 3, 12 + 24, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
		struct fde_index index = { NULL };
		uint64_t eh_frame;

		put_header(&sb, cases[i].encodings, 0x100, cases[i].count, 3);
		if (!cases[i].table) {
			assert_int_equal(read_header(&sb, cases[i].size, &index, &eh_frame),
					 -EBADMSG);
			continue;
		}
		assert_int_equal(read_header(&sb, cases[i].size, &index, &eh_frame), 0);
		assert_int_equal(eh_frame, cases[i].eh_frame);
		assert_int_equal(index.table_count, cases[i].table);
		assert_int_equal(index.table_offset, HDR_AT + 12);
		assert_int_equal(index.table_base, HDR);
		/* the file ends in the header */
		sb.len = HDR_AT + 11;
		assert_int_equal(read_header(&sb, cases[i].size, &index, &eh_frame), -EBADMSG);
	}
}

static void all_functions_of_the_table_are_found(void **state)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct cfi_reader reader;
	struct cfi_section section = { .reader = &reader, .address = SECTION };
	struct fde_index index = { .section = &section };
	struct fde_places places = { VEC_INIT };
	uint64_t eh_frame;

	(void)state;
	put_header(&sb, USUAL_ENCODINGS, 0x100, TABLE_COUNT, TABLE_COUNT);
	cfi_reader_init_memory(&reader, sb.buf, sb.len);
	assert_int_equal(fde_index_read_header(&index, &reader, HDR_AT, HDR, 12 + 8 * TABLE_COUNT,
					       &eh_frame),
			 0);
	for (uint64_t start = FIRST - 16; start < start_of(TABLE_COUNT + 2); start += 24)
		for (uint64_t bytes = 1; bytes < 10000; bytes = bytes * 9 + 1) {
			size_t first = start < FIRST ? 0
						     : MIN((start - FIRST) / 16,
							   (uint64_t)TABLE_COUNT - 1);
			size_t n = 0;

			fde_index_find(&index, start, start + bytes, &places);
			for (size_t i = first; i < TABLE_COUNT && start_of(i) < start + bytes;
			     i++, n++) {
				assert_true(n < places.v.len);
				assert_int_equal(places.v.items[n].start, start_of(i));
				assert_int_equal(places.v.items[n].offset, 40 * i);
			}
			assert_int_equal(places.v.len, n);
		}
	vec_release(&places.v);
	fde_index_release(&index);
	assert_int_equal(index.table_offset, 0);
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
		cmocka_unit_test(headers_of_the_table),
		cmocka_unit_test(all_functions_of_the_table_are_found),
		cmocka_unit_test(the_last_page_has_a_row),
		cmocka_unit_test(remembered_states_are_dear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
