/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/macros.h"
#include "fake_memory.h"

#define PAGE 4096

static struct fake_memory fake;

static int setup(void **state)
{
	(void)state;
	fake_init(&fake);
	return 0;
}

static void assert_text(uint64_t address, size_t size, const char *expected, unsigned int reads)
{
	char text[32];

	memset(text, 'x', sizeof(text));
	fake.reads = 0;
	assert_int_equal(vm_memory_read_text(&fake.memory, address, text, size), 0);
	assert_string_equal(text, expected);
	assert_int_equal(fake.reads, reads);
}

static void put_at(uint64_t address, const char *text)
{
	fake_put(&fake, address, text, strlen(text) + 1);
}

static void test_text(void **state)
{
	(void)state;
	put_at(FAKE_BASE, "native nmethod");
	assert_text(FAKE_BASE, 32, "native nmethod", 1);
	assert_text(FAKE_BASE, 7, "native", 1);
	assert_text(FAKE_BASE, 1, "", 1);
	put_at(FAKE_BASE, "a\n\xc3\x7f z");
	assert_text(FAKE_BASE, 32, "a??? z", 1);
}

/* The next page is read only when the text goes on there. */
static void test_pages(void **state)
{
	uint64_t end = FAKE_BASE + FAKE_BYTES, address = FAKE_BASE + PAGE - 6;
	char text[32];

	(void)state;
	put_at(address, "stubs");
	assert_text(address, 32, "stubs", 1);
	put_at(address, "adapters");
	assert_text(address, 32, "adapters", 2);
	assert_text(address, 7, "adapte", 1);
	put_at(end - 6, "stubs");
	assert_text(end - 6, 32, "stubs", 1);
	fake_put(&fake, end - 6, "adapte", 6);
	assert_int_equal(vm_memory_read_text(&fake.memory, end - 6, text, sizeof(text)), -EFAULT);
	assert_string_equal(text, "adapte");
	assert_int_equal(vm_memory_read_text(&fake.memory, end, text, sizeof(text)), -EFAULT);
	assert_string_equal(text, "");
}

/* --- pages --- */

/* A page's number in each of its words, whatever the address; those below the first are not there. */
static uint64_t first_page = 0x100, page_reads, fails_at;

static int read_numbers(const struct vm_memory *memory, const struct vm_span *spans,
			unsigned int count)
{
	(void)memory;
	page_reads++;
	for (unsigned int k = 0; k < count; k++) {
		assert_int_equal(spans[k].address % PAGE, 0);
		assert_int_equal(spans[k].len, PAGE);
		if (spans[k].address / PAGE < first_page || spans[k].address == fails_at)
			return -EFAULT;
		const uint64_t number = spans[k].address / PAGE;

		for (size_t i = 0; i < PAGE; i += sizeof(number))
			memcpy((uint8_t *)spans[k].data + i, &number, sizeof(number));
	}
	return 0;
}

static void expect_number(struct vm_pages *pages, uint64_t page, uint64_t reads)
{
	uint64_t value = 0, before = page_reads;

	assert_int_equal(vm_pages_read(pages, page * PAGE + 64, &value, sizeof(value)), 0);
	assert_int_equal(value, page);
	assert_int_equal(page_reads - before, reads);
}

/*
 * 256 neighbours are kept, eight of which come with one read; those farther away take the place of eight of them. A table and
 * its names, read in turns, are both kept wherever they lie.
 */
static void test_kept_pages(void **state)
{
	const struct vm_memory memory = { .read = read_numbers };
	struct vm_pages *pages = vm_pages_new(&memory);
	uint64_t value;

	(void)state;
	for (uint64_t page = 0x1000; page < 0x1000 + 256; page++)
		expect_number(pages, page, page % 8 == 0);
	for (uint64_t page = 0x1000; page < 0x1000 + 256; page++)
		expect_number(pages, page, 0);
	expect_number(pages, 0x1102, 1);
	expect_number(pages, 0x1008, 0);
	expect_number(pages, 0x1003, 1);
	for (int i = 0; i < 3; i++) {
		expect_number(pages, 0x1102, 0);
		expect_number(pages, 0x1001, 0);
	}
	expect_number(pages, 0x1180, 1);
	expect_number(pages, 0x1002, 0);
	/* What could not be read is not kept, nor what had its place; what lies beside it is. */
	fails_at = 0x1101ULL * PAGE;
	assert_int_equal(vm_pages_read(pages, fails_at, &value, sizeof(value)), -EFAULT);
	assert_int_equal(vm_pages_read(pages, fails_at, &value, sizeof(value)), -EFAULT);
	fails_at = 0;
	expect_number(pages, 0x1100, 0);
	expect_number(pages, 0x1103, 0);
	expect_number(pages, 0x1101, 1);
	expect_number(pages, 0x1181, 1);
	vm_pages_free(pages);
}

/* A read may begin and end within pages, and have whole ones between. */
static void test_reads_across_pages(void **state)
{
	static uint64_t words[3 * PAGE / 8];
	const struct vm_memory memory = { .read = read_numbers };
	struct vm_pages *pages = vm_pages_new(&memory);
	uint64_t before = page_reads;

	(void)state;
	assert_int_equal(vm_pages_read(pages, 0x200ULL * PAGE + PAGE - 16, words, 2 * PAGE + 24),
			 0);
	assert_int_equal(page_reads - before, 1);
	for (unsigned int i = 0; i < 2 * PAGE / 8 + 3; i++)
		assert_int_equal(words[i], i < 2      ? 0x200
					   : i < 514  ? 0x201
					   : i < 1026 ? 0x202
						      : 0x203);
	assert_int_equal(words[2 * PAGE / 8 + 3], 0);
	/* Up to the page's end only those of its group. */
	before = page_reads;
	assert_int_equal(vm_pages_read(pages, 0x300ULL * PAGE + PAGE - 16, words, 16), 0);
	assert_int_equal(page_reads - before, 1);
	assert_int_equal(vm_pages_read(pages, 0x300ULL * PAGE, words, 0), 0);
	/* The first page is nobody's. */
	assert_int_equal(vm_pages_read(pages, 16, words, 8), -EFAULT);
	assert_int_equal(page_reads - before, 1);
	assert_int_equal(vm_pages_read(pages, 0xffULL * PAGE + PAGE - 8, words, 16), -EFAULT);
	vm_pages_free(pages);
}

/* Who has tables in more pages than any JVM is not read on. */
static void test_many_pages(void **state)
{
	const struct vm_memory memory = { .read = read_numbers };
	struct vm_pages *pages = vm_pages_new(&memory);
	uint64_t value;

	(void)state;
	for (uint64_t page = 0x1000; page < 0x1000 + 8 * 1024; page += 8)
		expect_number(pages, page, 1);
	expect_number(pages, 0x1000 + 8 * 1023, 0);
	assert_int_equal(vm_pages_read(pages, 0x9000ULL * PAGE, &value, sizeof(value)), -E2BIG);
	/* The next one has the same room, and nothing of what was there. */
	vm_pages_free(pages);
	pages = vm_pages_new(&memory);
	expect_number(pages, 0x1000 + 8 * 1023, 1);
	vm_pages_free(pages);
}

/* --- strings --- */

static void expect_read(struct vm_pages *pages, uint64_t address, size_t size, const char *expected)
{
	char text[32];

	memset(text, 'y', sizeof(text));
	if (!expected) {
		assert_int_equal(vm_pages_read_string(pages, address, text, size), -E2BIG);
		assert_int_equal(text[size], 'y');
		return;
	}
	assert_int_equal(vm_pages_read_string(pages, address, text, size), 0);
	assert_string_equal(text, expected);
	/* Not a byte behind it. */
	assert_int_equal(text[strlen(expected) + 1], 'y');
}

static void test_strings(void **state)
{
	uint64_t across = FAKE_BASE + PAGE - 3, end = FAKE_BASE + FAKE_BYTES;
	struct vm_pages *pages;
	char text[32];

	(void)state;
	put_at(FAKE_BASE, "Method");
	put_at(FAKE_BASE + 8, "");
	put_at(across, "across");
	put_at(FAKE_BASE + 2 * PAGE - 4, "end");
	put_at(end - 4, "far");
	fake_put(&fake, end - 16, "no end", 6);
	memset(fake.bytes + FAKE_BYTES - 8, 'x', 8);
	pages = vm_pages_new(&fake.memory);
	expect_read(pages, FAKE_BASE, 32, "Method");
	expect_read(pages, FAKE_BASE, 7, "Method");
	expect_read(pages, FAKE_BASE, 6, NULL);
	expect_read(pages, FAKE_BASE + 8, 32, "");
	expect_read(pages, FAKE_BASE + 8, 1, "");
	expect_read(pages, across, 32, "across");
	expect_read(pages, across, 7, "across");
	expect_read(pages, across, 6, NULL);
	expect_read(pages, across, 3, NULL);
	expect_read(pages, FAKE_BASE + 2 * PAGE - 4, 32, "end");
	expect_read(pages, end - 8, 8, NULL);
	assert_int_equal(vm_pages_read_string(pages, end - 8, text, 9), -EFAULT);
	assert_int_equal(vm_pages_read_string(pages, 8, text, 9), -EFAULT);
	vm_pages_free(pages);
}

/* --- a process --- */

static void test_process(void **state)
{
	static const char words[] = "one two three";
	struct vm_memory memory;
	char one[4] = "", two[4] = "", three[6] = "", more[VM_MEMORY_MAX_SPANS + 1][1];
	const struct vm_span spans[] = {
		{ (uintptr_t)words + 8, three, 5 },
		{ (uintptr_t)words, one, 3 },
		{ (uintptr_t)words + 4, two, 3 },
	};
	struct vm_span many[VM_MEMORY_MAX_SPANS + 1];
	uint64_t value = 0, number = 0x123456789abcdef0ULL;

	(void)state;
	vm_memory_init_process(&memory, (uint32_t)getpid());
	assert_int_equal(memory.pid, getpid());
	assert_int_equal(memory.read(&memory, spans, 3), 0);
	assert_string_equal(one, "one");
	assert_string_equal(two, "two");
	assert_string_equal(three, "three");
	assert_int_equal(vm_memory_read_u64(&memory, (uintptr_t)&number, &value), 0);
	assert_true(value == number);
	assert_int_equal(vm_memory_read_u64(&memory, 8, &value), -EFAULT);
	assert_true(value == number);
	for (unsigned int i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = (struct vm_span){ (uintptr_t)words + i % 8, more[i], 1 };
	assert_int_equal(memory.read(&memory, many, VM_MEMORY_MAX_SPANS), 0);
	assert_int_equal(more[15][0], words[7]);
	assert_int_equal(memory.read(&memory, many, VM_MEMORY_MAX_SPANS + 1), -E2BIG);
	/* What can be read in part is not read. */
	many[1].address = 8;
	assert_int_equal(memory.read(&memory, many, 3), -EFAULT);
	vm_memory_init_process(&memory, 0x7fffffff);
	assert_int_equal(vm_memory_read_u64(&memory, (uintptr_t)&number, &value), -ESRCH);
}

/* Those of a process that has gone are missing, and no others. */
static void test_parts(void **state)
{
	static const char words[] = "one two three";
	struct vm_memory own, gone;
	char came[4][8] = { "" }, more[VM_MEMORY_MAX_SPANS + 1];
	const struct vm_span spans[] = {
		{ (uintptr_t)words + 8, came[0], 5 },
		{ (uintptr_t)words, came[1], 3 },
		{ (uintptr_t)words + 4, came[2], 3 },
		{ (uintptr_t)words + 5, came[3], 2 },
	};
	struct vm_span many[VM_MEMORY_MAX_SPANS + 1];
	struct vm_part parts[VM_MEMORY_MAX_PARTS + 1];

	(void)state;
	vm_memory_init_process(&own, (uint32_t)getpid());
	vm_memory_init_process(&gone, 0x7fffffff);
	parts[0] = (struct vm_part){ &own, spans, 2, 1 };
	parts[1] = (struct vm_part){ &gone, spans, 2, 1 };
	parts[2] = (struct vm_part){ &own, spans + 2, 2, 1 };
	vm_memory_read_parts(parts, 3);
	assert_int_equal(parts[0].result, 0);
	assert_int_equal(parts[1].result, -ESRCH);
	assert_int_equal(parts[2].result, 0);
	assert_string_equal(came[0], "three");
	assert_string_equal(came[1], "one");
	assert_string_equal(came[2], "two");
	assert_string_equal(came[3], "wo");
	/* More than one call may have. */
	for (unsigned int i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = (struct vm_span){ (uintptr_t)words + i % 8, more + i, 1 };
	for (unsigned int i = 0; i < ARRAY_SIZE(parts); i++)
		parts[i] = (struct vm_part){ &own, many + i, 1, 1 };
	vm_memory_read_parts(parts, ARRAY_SIZE(parts));
	for (unsigned int i = 0; i < ARRAY_SIZE(parts); i++)
		assert_true(parts[i].result == 0 && more[i] == words[i % 8]);
	parts[0] = (struct vm_part){ &own, many, VM_MEMORY_MAX_SPANS, 1 };
	parts[1] = (struct vm_part){ &own, many + VM_MEMORY_MAX_SPANS, 1, 1 };
	memset(more, 0, sizeof(more));
	vm_memory_read_parts(parts, 2);
	assert_int_equal(parts[0].result, 0);
	assert_int_equal(parts[1].result, 0);
	assert_int_equal(more[VM_MEMORY_MAX_SPANS], words[VM_MEMORY_MAX_SPANS % 8]);
	/* One that is missing in part has nothing; and there may be none. */
	many[1].address = 8;
	parts[0] = (struct vm_part){ &own, many, 3, 1 };
	vm_memory_read_parts(parts, 2);
	assert_int_equal(parts[0].result, -EFAULT);
	assert_int_equal(parts[1].result, 0);
	vm_memory_read_parts(parts, 0);
}

/* Neighbours are read in one piece, and nothing that lies between others: here a page is missing. */
static void test_neighbours(void **state)
{
	uint8_t *at =
		mmap(NULL, 3UL * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct vm_span spans[40];
	uint8_t came[40][64];
	struct vm_memory memory;

	(void)state;
	assert_true(at != MAP_FAILED);
	vm_memory_init_process(&memory, (uint32_t)getpid());
	for (unsigned int i = 0; i < 3 * PAGE; i++)
		at[i] = (uint8_t)(i * 7 + i / 256);
	assert_int_equal(munmap(at + PAGE, PAGE), 0);
	srand(1);
	for (unsigned int turn = 0; turn < 200; turn++) {
		for (unsigned int i = 0; i < ARRAY_SIZE(spans); i++) {
			size_t len = 1 + (size_t)rand() % 64;
			size_t in_page = rand() % 3 ? (size_t)rand() % 600
						    : PAGE - len - (size_t)rand() % 300;

			spans[i] = (struct vm_span){ (uintptr_t)at + (rand() % 2 ? 2UL * PAGE : 0) +
							     in_page,
						     came[i], len };
		}
		assert_int_equal(memory.read(&memory, spans, ARRAY_SIZE(spans)), 0);
		for (unsigned int i = 0; i < ARRAY_SIZE(spans); i++)
			assert_memory_equal(came[i], (void *)(uintptr_t)spans[i].address,
					    spans[i].len);
	}
	spans[1] = (struct vm_span){ (uintptr_t)at + PAGE - 8, came[1], 8 };
	spans[2] = (struct vm_span){ (uintptr_t)at + PAGE, came[2], 8 };
	assert_int_equal(memory.read(&memory, spans, 2), 0);
	assert_int_equal(memory.read(&memory, spans, 3), -EFAULT);
	munmap(at, PAGE);
	munmap(at + 2UL * PAGE, PAGE);
}

#define TEST(fn) cmocka_unit_test_setup(fn, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_text),       TEST(test_pages),
		TEST(test_kept_pages), TEST(test_reads_across_pages),
		TEST(test_many_pages), TEST(test_strings),
		TEST(test_process),    TEST(test_parts),
		TEST(test_neighbours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
