// SPDX-License-Identifier: Apache-2.0
/* Images of bytes in memory: where an offset lies, and that they stay. */
#include "image_fixture.h"

#include <errno.h>

#include "made_elf.h"

/* Two segments that share a page; both may be one that is executed. */
static struct image *add_segments(struct fixture *f, struct cfi_elf *elf, const char *name,
				  uint32_t first, uint32_t second)
{
	struct elf_file *file;
	struct image *image;

	made_begin(elf);
	cfi_elf_segment(elf, PT_LOAD, first, 0x1000, 0x800);
	cfi_elf_segment(elf, PT_LOAD, second, 0x1800, 0x1200);
	elf->segments[0].p_vaddr = 0x401000;
	elf->segments[1].p_vaddr = 0x502800;
	elf->segments[1].p_memsz = 0x3000;
	file = made_open(elf, 0);
	image = image_cache_add_memory(f->cache, name, elf->bytes.buf, elf->bytes.len);
	made_close(elf, file);
	assert_int_equal(image_state(image), IMAGE_READY);
	return image;
}

static void expect_address(const struct image *image, uint64_t offset, uint64_t expected)
{
	uint64_t address = 0;

	assert_int_equal(image_offset_to_address(image, offset, &address), expected != 0);
	assert_int_equal(address, expected);
}

static void offsets_in_whole_pages(void **state)
{
	struct fixture *f = *state;
	uint64_t start, limit, offset;
	struct cfi_elf elf;
	struct image *data, *code;

	data = add_segments(f, &elf, "[data]", PF_R, PF_R | PF_W);
	expect_address(data, 0xfff, 0);
	expect_address(data, 0x1000, 0x401000);
	expect_address(data, 0x1fff, 0x401fff);
	expect_address(data, 0x2000, 0x503000);
	expect_address(data, 0x2fff, 0x503fff);
	expect_address(data, 0x3000, 0);
	image_text_range(data, &start, &limit, &offset);
	assert_true(start == 0 && limit == 0 && offset == 0);
	code = add_segments(f, &elf, "[code]", PF_R, PF_R | PF_X);
	expect_address(code, 0xfff, 0);
	expect_address(code, 0x1000, 0x502000);
	expect_address(code, 0x2fff, 0x503fff);
	image_text_range(code, &start, &limit, &offset);
	assert_true(start == 0x502800 && limit == 0x505800 && offset == 0x1800);
	code = add_segments(f, &elf, "[first]", PF_R | PF_X, PF_R);
	expect_address(code, 0x1800, 0x401800);
	image_text_range(code, &start, &limit, &offset);
	assert_true(start == 0x401000 && limit == 0x401800 && offset == 0x1000);
	/* There is no file to read it from once more. */
	image_cache_shrink(f->cache, false);
	image_cache_set_limit(f->cache, 0);
	assert_int_equal(image_state(code), IMAGE_READY);
	assert_int_equal(image_dup_fd(code), -ENODATA);
	assert_int_equal(image_cache_parsed(f->cache), 0);
}

/* There is nothing that it could be read of again. */
static void memory_stays(void **state)
{
	struct fixture *f = *state;
	uint64_t number = image_number(image_cache_add_memory(f->cache, "[bytes]", "bytes", 5));

	image_cache_set_room(f->cache, 0);
	image_cache_look(f->cache);
	assert_int_equal(image_number(image_cache_add_memory(f->cache, "[bytes]", "bytes", 5)),
			 number);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(offsets_in_whole_pages), TEST(memory_stays) };

	return cmocka_run_group_tests_name("image_memory", tests, NULL, NULL);
}
