// SPDX-License-Identifier: Apache-2.0
/* Records of call frame information, byte by byte: what they say, where they end, which are refused. */
#include "test.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "elf/cfi/cfi_section.h"

#define ADDRESS 0x400000ULL /* of the section */
#define LEAD	24	    /* bytes of the file before it */

static uint8_t bytes[16384];
static size_t at; /* in the section */
static struct cfi_reader reader;
static struct cfi_section section;

static int setup(void **state)
{
	(void)state;
	memset(bytes, 0xee, sizeof(bytes));
	at = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	cfi_section_release(&section);
	cfi_reader_release(&reader);
	return 0;
}

static void put(uint64_t value, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		bytes[LEAD + at++] = (uint8_t)(value >> (8 * i));
}

/* Begins a record; end_record() puts its length there. */
static size_t begin_record(uint64_t id)
{
	put(0, 4);
	put(id, 4);
	return at - 8;
}

static void end_record(size_t begin)
{
	size_t end = at;

	at = begin;
	put(end - begin - 4, 4);
	at = end;
}

/* All of a CIE but its length. */
struct cie {
	uint64_t id;
	uint8_t version;
	const char *letters;
	uint8_t column;
	uint8_t data[16];
	uint8_t data_len;
	size_t program_len;
};

static const struct cie plain = { .version = 1, .letters = "", .column = 16, .program_len = 3 };

static size_t put_cie(const struct cie *cie)
{
	size_t begin = begin_record(cie->id);

	put(cie->version, 1);
	for (const char *s = cie->letters; s == cie->letters || s[-1]; s++)
		put((uint8_t)*s, 1);
	if (cie->version == 4)
		put(8, 2);
	put(2, 1);    /* code alignment */
	put(0x78, 1); /* data alignment: -8 */
	if (cie->version == 1) {
		put(cie->column, 1);
	} else {
		put(cie->column | 0x80, 1);
		put(0, 1);
	}
	for (uint8_t i = 0; i < cie->data_len; i++)
		put(cie->data[i], 1);
	for (size_t i = 0; i < cie->program_len; i++)
		put(DW_CFA_nop, 1);
	end_record(begin);
	return begin;
}

/* 8 bytes of each, and an instruction. */
static size_t put_fde(size_t cie, uint64_t start, uint64_t size)
{
	size_t begin = begin_record(at + 4 - cie);

	put(start, 8);
	put(size, 8);
	put(DW_CFA_advance_loc | 5, 1);
	end_record(begin);
	return begin;
}

static void open_section(void)
{
	teardown(NULL);
	cfi_reader_init_memory(&reader, bytes, sizeof(bytes));
	section = (struct cfi_section){
		.reader = &reader, .offset = LEAD, .address = ADDRESS, .size = at
	};
}

static int fde_of(const struct cie *cie, struct cfi_fde *ret_fde)
{
	size_t offset;

	at = 0;
	offset = put_fde(put_cie(cie), 0x1000, 0x20);
	open_section();
	return cfi_section_fde(&section, offset, ret_fde);
}

/* --- addresses --- */

static void test_addresses(void **state)
{
	static const uint8_t data[] = { 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0x78, 0x11 };

	static const struct {
		uint8_t encoding, len;
		uint64_t value;
	} cases[] = {
		{ DW_EH_PE_absptr, 8, 0x78f7f6f5f4f3f2f1 },
		{ DW_EH_PE_udata8, 8, 0x78f7f6f5f4f3f2f1 },
		{ DW_EH_PE_sdata8, 8, 0x78f7f6f5f4f3f2f1 },
		{ DW_EH_PE_udata4, 4, 0xf4f3f2f1 },
		{ DW_EH_PE_sdata4, 4, 0xfffffffff4f3f2f1 },
		{ DW_EH_PE_udata2, 2, 0xf2f1 },
		{ DW_EH_PE_sdata2, 2, 0xfffffffffffff2f1 },
		{ DW_EH_PE_uleb128, 8,
		  0x71ULL | 0x72ULL << 7 | 0x73ULL << 14 | 0x74ULL << 21 | 0x75ULL << 28 |
			  0x76ULL << 35 | 0x77ULL << 42 | 0x78ULL << 49 },
		{ DW_EH_PE_sleb128, 8,
		  0x71ULL | 0x72ULL << 7 | 0x73ULL << 14 | 0x74ULL << 21 | 0x75ULL << 28 |
			  0x76ULL << 35 | 0x77ULL << 42 | 0x78ULL << 49 | ~0ULL << 56 },
	};

	static const uint8_t unknown[] = { 0x05, 0x06, 0x08, 0x0d, 0x0f, 0x20, 0x40, 0x50, 0x80 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		static const uint64_t bases[] = { 0, 0x1000, 0x20000 };
		static const uint8_t relative[] = { DW_EH_PE_absptr, DW_EH_PE_pcrel,
						    DW_EH_PE_datarel };

		for (size_t k = 0; k < ARRAY_SIZE(bases); k++) {
			struct cfi_bytes b = { data, data + sizeof(data), false };

			assert_true(cfi_address(&b, cases[i].encoding | relative[k], 0x1000,
						0x20000) == cases[i].value + bases[k]);
			assert_int_equal(b.at - data, cases[i].len);
			assert_false(b.bad);
			/* One byte less. */
			b = (struct cfi_bytes){ data, data + cases[i].len - 1, false };
			cfi_address(&b, cases[i].encoding | relative[k], 0x1000, 0x20000);
			assert_true(b.bad);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		struct cfi_bytes b = { data, data + sizeof(data), false };

		assert_int_equal(cfi_address(&b, unknown[i], 0, 0), 0);
		assert_true(b.bad);
	}
}

/* --- CIEs --- */

static void test_plain(void **state)
{
	struct cfi_fde fde;

	(void)state;
	assert_int_equal(fde_of(&plain, &fde), 0);
	assert_true(fde.start == 0x1000 && fde.end == 0x1020);
	assert_int_equal(fde.program_len, 1);
	assert_int_equal(fde.program[0], DW_CFA_advance_loc | 5);
	assert_int_equal(fde.cie->offset, 0);
	assert_int_equal(fde.cie->code_align, 2);
	assert_int_equal(fde.cie->data_align, -8);
	assert_int_equal(fde.cie->encoding, DW_EH_PE_absptr);
	assert_false(fde.cie->augmented);
	assert_false(fde.cie->signal);
	assert_int_equal(fde.cie->program_len, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(fde.cie->program[i], DW_CFA_nop);
}

static void test_versions(void **state)
{
	struct cfi_fde fde;

	(void)state;
	for (uint8_t version = 0; version < 6; version++) {
		struct cie cie = plain;
		bool known = version == 1 || version == 3 || version == 4;

		cie.version = version;
		assert_int_equal(fde_of(&cie, &fde), known ? 0 : -EBADMSG);
		if (known) {
			assert_int_equal(fde.cie->code_align, 2);
			assert_int_equal(fde.cie->data_align, -8);
			assert_int_equal(fde.cie->program_len, 3);
		}
		/* Another column has the return address. */
		for (uint8_t column = 15; column < 18; column += 2) {
			cie.column = column;
			assert_int_equal(fde_of(&cie, &fde), -EBADMSG);
		}
	}
	/* Addresses of 4 bytes, and segments. */
	for (size_t i = 0; i < 2; i++) {
		struct cie cie = plain;

		cie.version = 4;
		fde_of(&cie, &fde);
		bytes[LEAD + 10 + i] ^= 4;
		open_section();
		assert_int_equal(cfi_section_fde(&section, cfi_section_next(&section, 0), &fde),
				 -EBADMSG);
	}
}

static void test_augmentations(void **state)
{
	static const struct {
		struct cie cie;
		bool good, signal;
		uint8_t encoding;
	} cases[] = {
		{ { 0, 1, "z", 16, { 0 }, 1, 3 }, true, false, 0 },
		{ { 0, 1, "zR", 16, { 1, 0x1b }, 2, 3 }, true, false, 0x1b },
		{ { 0, 1, "zS", 16, { 0 }, 1, 3 }, true, true, 0 },
		{ { 0, 1, "zRS", 16, { 1, 0x1b }, 2, 3 }, true, true, 0x1b },
		{ { 0, 1, "zLR", 16, { 2, 0x77, 0x1b }, 3, 3 }, true, false, 0x1b },
		{ { 0, 1, "zPLR", 16, { 7, 0x9b, 1, 2, 3, 4, 0x77, 0x1b }, 8, 3 },
		  true,
		  false,
		  0x1b },
		{ { 0, 1, "zPR", 16, { 4, 0x92, 1, 2, 0x1b }, 5, 3 }, true, false, 0x1b },
		/* More data than letters are for. */
		{ { 0, 1, "zR", 16, { 4, 0x1b, 9, 9, 9 }, 5, 3 }, true, false, 0x1b },
		/* Less; other letters; none that we know. */
		{ { 0, 1, "zR", 16, { 0 }, 1, 3 }, false, false, 0 },
		{ { 0, 1, "zLR", 16, { 1, 0x1b }, 2, 3 }, false, false, 0 },
		{ { 0, 1, "zX", 16, { 1, 0 }, 2, 3 }, false, false, 0 },
		{ { 0, 1, "R", 16, { 0x1b }, 1, 3 }, false, false, 0 },
		{ { 0, 1, "eh", 16, { 0 }, 8, 3 }, false, false, 0 },
		{ { 0, 1, "z", 16, { 60 }, 1, 3 }, false, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t cie, offset;
		struct cfi_fde fde;

		at = 0;
		cie = put_cie(&cases[i].cie);
		/* Relative to where it is, 4 bytes each, and two bytes of data of its own. */
		offset = begin_record(at + 4 - cie);
		put(0x1000, cases[i].encoding ? 4 : 8);
		put(0x20, cases[i].encoding ? 4 : 8);
		put(2, 1);
		put(0xabcd, 2);
		put(DW_CFA_nop, 1);
		end_record(offset);
		open_section();
		assert_int_equal(cfi_section_fde(&section, offset, &fde),
				 cases[i].good ? 0 : -EBADMSG);
		if (!cases[i].good)
			continue;
		assert_true(fde.start == 0x1000 + (cases[i].encoding ? ADDRESS + offset + 8 : 0));
		assert_int_equal(fde.end - fde.start, 0x20);
		assert_int_equal(fde.program_len, 1);
		assert_int_equal(fde.program[0], DW_CFA_nop);
		assert_int_equal(fde.cie->encoding, cases[i].encoding);
		assert_int_equal(fde.cie->signal, cases[i].signal);
		assert_int_equal(fde.cie->program_len, 3);
		assert_true(fde.cie->augmented);
	}
}

static void test_long_programs(void **state)
{
	struct cie cie = plain;
	struct cfi_fde fde;

	(void)state;
	cie.program_len = 1024;
	assert_int_equal(fde_of(&cie, &fde), 0);
	assert_int_equal(fde.cie->program_len, 1024);
	cie.program_len = 1025;
	assert_int_equal(fde_of(&cie, &fde), -EBADMSG);
	/* An instruction that is none. */
	cie.program_len = 3;
	fde_of(&cie, &fde);
	bytes[LEAD + section.cies.items[0]->offset + 14] = 0x3f;
	open_section();
	assert_int_equal(cfi_section_fde(&section, cfi_section_next(&section, 0), &fde), -EBADMSG);
}

/* Each is read once, until there are too many. */
static void test_many_cies(void **state)
{
	size_t cies[300], fdes[300];
	struct cfi_fde fde;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cies); i++) {
		cies[i] = put_cie(&plain);
		/* The one before, the first of all. */
		fdes[i] = i % 2 ? put_fde(cies[i], 0x1000 * i, 8) : at;
	}
	open_section();
	for (int round = 0; round < 2; round++)
		for (size_t i = 1; i < 100; i += 2) {
			assert_int_equal(cfi_section_fde(&section, fdes[i], &fde), 0);
			assert_int_equal(fde.cie->offset, cies[i]);
			assert_int_equal(fde.start, 0x1000 * i);
		}
	assert_int_equal(section.cies.len, 50);
	assert_int_equal(section.cies_read, 50);
	assert_int_equal(section.cie_bytes, 50 * (sizeof(struct cfi_cie) + 3));
	cfi_section_trim(&section);
	assert_int_equal(section.cies.len, 50);
	cfi_section_release(&section);
	assert_int_equal(section.cies.len, 0);
	assert_int_equal(section.cie_bytes, 0);
}

/* More than 256 are forgotten. One FDE names one after the other. */
static void test_trim(void **state)
{
	struct cie cie = plain;
	struct cfi_fde fde;
	size_t cies[257], last;

	(void)state;
	cie.program_len = 0;
	for (size_t i = 0; i < ARRAY_SIZE(cies); i++)
		cies[i] = put_cie(&cie);
	last = put_fde(0, 0x1000, 8);
	open_section();
	for (size_t i = 0; i < ARRAY_SIZE(cies); i++) {
		uint64_t pointer = last + 4 - cies[i];

		if (i == 256) {
			cfi_section_trim(&section);
			assert_int_equal(section.cies.len, 256);
		}
		for (unsigned int k = 0; k < 4; k++)
			bytes[LEAD + last + 4 + k] = (uint8_t)(pointer >> (8 * k));
		cfi_reader_release(&reader);
		cfi_reader_init_memory(&reader, bytes, sizeof(bytes));
		assert_int_equal(cfi_section_fde(&section, last, &fde), 0);
		assert_int_equal(fde.cie->offset, cies[i]);
	}
	cfi_section_trim(&section);
	assert_int_equal(section.cies.len, 0);
	assert_int_equal(section.cie_bytes, 0);
	assert_int_equal(section.cies_read, 257);
}

/* --- FDEs --- */

static void test_no_fdes(void **state)
{
	struct cfi_fde fde;
	size_t cie, empty, wrap, behind;

	(void)state;
	cie = put_cie(&plain);
	empty = put_fde(cie, 0x1000, 0);
	wrap = put_fde(cie, UINT64_MAX - 3, 8);
	behind = put_fde(cie, 0x1000, 8);
	open_section();
	assert_int_equal(cfi_section_fde(&section, cie, &fde), -ENODATA);
	assert_int_equal(cfi_section_fde(&section, empty, &fde), -EBADMSG);
	assert_int_equal(cfi_section_fde(&section, wrap, &fde), -EBADMSG);
	assert_int_equal(cfi_section_fde(&section, behind, &fde), 0);
	/* The CIE's place is before the section, or in an FDE. */
	at = behind + 4;
	put(behind + 5, 4);
	at = behind + 29;
	open_section();
	assert_int_equal(cfi_section_fde(&section, behind, &fde), -ENODATA);
	at = behind + 4;
	put(behind + 4 - empty, 4);
	at = behind + 29;
	open_section();
	assert_int_equal(cfi_section_fde(&section, behind, &fde), -EBADMSG);
}

/* A section that ends within a record has none there; what is behind the section does not count. */
static void test_ends(void **state)
{
	size_t cie = put_cie(&plain), first = put_fde(cie, 0x1000, 8), second = at;
	struct cfi_fde fde;

	(void)state;
	put_fde(cie, 0x2000, 8);
	for (size_t size = 0; size <= at; size++) {
		open_section();
		section.size = size;
		assert_int_equal(cfi_section_fde(&section, second, &fde),
				 size == at ? 0 : -ENODATA);
		assert_int_equal(cfi_section_next(&section, cie), size >= first ? first : 0);
		assert_int_equal(cfi_section_next(&section, first), size >= second ? second : 0);
		assert_int_equal(cfi_section_next(&section, second), size == at ? at : 0);
		assert_int_equal(cfi_section_next(&section, at), 0);
	}
	/* A length of 0 is the end; one of 1 to 3 has no room for an id. */
	for (uint64_t len = 0; len < 5; len++) {
		size_t end = at, begin = at;

		put(len, 4);
		put(0, 4);
		open_section();
		assert_int_equal(cfi_section_fde(&section, begin, &fde), -ENODATA);
		assert_int_equal(cfi_section_next(&section, begin), len ? begin + 4 + len : 0);
		at = end;
	}
	/* More than 4 GB. */
	put(0xffffffff, 4);
	put(20, 8);
	open_section();
	assert_int_equal(cfi_section_next(&section, at - 12), 0);
	assert_int_equal(cfi_section_fde(&section, at - 12, &fde), -ENODATA);
	assert_int_equal(cfi_section_fde(&section, UINT64_MAX - 1, &fde), -ENODATA);
	assert_int_equal(cfi_section_next(&section, UINT64_MAX - 1), 0);
}

/* .debug_frame: another id, and pointers from the section's beginning. */
static void test_debug_frame(void **state)
{
	struct cie cie = plain;
	struct cfi_fde fde;
	size_t second, offset;

	(void)state;
	cie.id = 0xffffffff;
	cie.version = 3;
	put_cie(&cie);
	cie.program_len = 5;
	second = put_cie(&cie);
	offset = begin_record(second);
	put(0x3000, 8);
	put(0x10, 8);
	end_record(offset);
	open_section();
	section.debug = true;
	assert_int_equal(cfi_section_fde(&section, offset, &fde), 0);
	assert_int_equal(fde.cie->offset, second);
	assert_int_equal(fde.cie->program_len, 5);
	assert_true(fde.start == 0x3000 && fde.end == 0x3010);
	assert_int_equal(fde.program_len, 0);
	assert_int_equal(cfi_section_fde(&section, second, &fde), -ENODATA);
	assert_int_equal(cfi_section_fde(&section, section.size, &fde), -ENODATA);
	open_section();
	assert_int_not_equal(cfi_section_fde(&section, offset, &fde), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_addresses),	  TEST(test_plain),	    TEST(test_versions),
		TEST(test_augmentations), TEST(test_long_programs), TEST(test_many_cies),
		TEST(test_trim),	  TEST(test_no_fdes),	    TEST(test_ends),
		TEST(test_debug_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
