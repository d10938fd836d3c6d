// SPDX-License-Identifier: Apache-2.0
/* Code of processes, read in pieces that are kept for a moment. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "unwind/exits/code_pages.h"

#define AT	   0x7f0012340000ULL
#define PAGE_BYTES 4096ULL

static uint8_t code[64 << 10];
static uint64_t gap_at; /* a page that cannot be read; 0: none */
static int reads;
static struct code_pages *pages;

static int read_code(const void *data, uint64_t address, void *dst, size_t len)
{
	(void)data;
	reads++;
	if (address < AT || address - AT > sizeof(code) - len)
		return -EFAULT;
	if (gap_at && address < gap_at + PAGE_BYTES && address + len > gap_at)
		return -EFAULT;
	memcpy(dst, code + (address - AT), len);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(code); i++)
		code[i] = (uint8_t)(i * 31 + i / 4096);
	gap_at = 0;
	reads = 0;
	pages = code_pages_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	code_pages_free(pages);
	return 0;
}

/* How many of 15 bytes at OFFSET come, which must be the right ones. */
static size_t come(uint32_t pid, uint64_t offset, uint64_t now_ns)
{
	const struct code_source source = { pid, read_code, NULL };
	uint8_t bytes[15];
	size_t got = code_pages_read(pages, &source, AT + offset, now_ns, bytes, sizeof(bytes));

	assert_memory_equal(bytes, code + offset, got);
	return got;
}

static void neighbours_come_together(void **state)
{
	(void)state;
	for (uint64_t at = 0; at < 4 * PAGE_BYTES - 15; at += 7)
		assert_int_equal(come(1, at, 5), 15);
	assert_int_equal(reads, 1);
	assert_int_equal(come(1, 4 * PAGE_BYTES - 3, 5), 15); /* in two pieces */
	assert_int_equal(reads, 2);
}

static void a_page_that_is_not_there(void **state)
{
	(void)state;
	gap_at = AT + 2 * PAGE_BYTES;
	assert_int_equal(come(1, PAGE_BYTES, 5), 15);
	assert_int_equal(come(1, 2 * PAGE_BYTES - 15, 5), 15);
	assert_int_equal(come(1, 2 * PAGE_BYTES - 4, 5), 4);
	assert_int_equal(come(1, 2 * PAGE_BYTES, 5), 0);
	assert_int_equal(come(1, 3 * PAGE_BYTES - 1, 5), 0);
	assert_int_equal(come(1, 3 * PAGE_BYTES, 5), 15);
	assert_int_equal(reads, 5); /* the piece, and each of its pages */
	assert_int_equal(come(1, sizeof(code) - 6, 5), 6);
}

static void for_a_moment(void **state)
{
	(void)state;
	assert_int_equal(come(1, 0, 5), 15);
	assert_int_equal(come(1, 0, 4 + 50 * NSEC_PER_MSEC), 15);
	assert_int_equal(reads, 1);
	code[0]++;
	assert_int_equal(come(1, 0, 5 + 50 * NSEC_PER_MSEC), 15);
	assert_int_equal(reads, 2);
	/* Or until somebody doubts it. */
	assert_int_equal(come(2, 0, 5), 15);
	code[0]++;
	assert_false(code_pages_drop(pages, 1, 5 + 50 * NSEC_PER_MSEC)); /* just read */
	assert_false(code_pages_drop(pages, 3, 6 + 50 * NSEC_PER_MSEC));
	assert_true(code_pages_drop(pages, 1, 6 + 50 * NSEC_PER_MSEC));
	assert_int_equal(come(1, 0, 6 + 50 * NSEC_PER_MSEC), 15);
	code[0]--;
	assert_int_equal(come(2, 0, 5), 15);
	assert_int_equal(reads, 4);
}

static void of_one_process(void **state)
{
	(void)state;
	assert_int_equal(come(1, 0, 5), 15);
	code[0]++;
	for (uint32_t pid = 2; pid < 500; pid++)
		assert_int_equal(come(pid, 0, 5), 15);
	assert_int_equal(reads, 499);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(neighbours_come_together, setup, teardown),
		cmocka_unit_test_setup_teardown(a_page_that_is_not_there, setup, teardown),
		cmocka_unit_test_setup_teardown(for_a_moment, setup, teardown),
		cmocka_unit_test_setup_teardown(of_one_process, setup, teardown),
	};

	return cmocka_run_group_tests_name("code_pages", tests, NULL, NULL);
}
