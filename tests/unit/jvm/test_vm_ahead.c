/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "fake_memory.h"
#include "jvm/layout/vm_ahead.h"

#define READERS 3
#define NOWHERE 0x1000ULL

static struct fake_memory fake;
static struct vm_ahead ahead;
static struct vm_ahead_reader readers[READERS];

static int set_up(void **state)
{
	(void)state;
	fake_init(&fake);
	for (unsigned int i = 0; i < FAKE_BYTES; i++)
		fake.bytes[i] = (uint8_t)(i * 7 + i / 256);
	vm_ahead_init(&ahead, &fake.memory, readers, READERS);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	vm_ahead_release(&ahead);
	return 0;
}

static void assert_reads(unsigned int reader, uint64_t at, size_t len, unsigned int reads)
{
	const struct vm_memory *memory = &readers[reader].memory;
	uint8_t bytes[64];

	fake.reads = 0;
	assert_int_equal(vm_memory_read(memory, FAKE_BASE + at, bytes, len), 0);
	assert_memory_equal(bytes, fake.bytes + at, len);
	assert_int_equal(fake.reads, reads);
}

static void what_is_wanted_is_read_together(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < READERS; i++) {
		vm_ahead_want(&readers[i], FAKE_BASE + i * 4000UL, 100);
		vm_ahead_want(&readers[i], FAKE_BASE + i * 4000UL + 2000, 50);
	}
	vm_ahead_fetch(&ahead);
	assert_int_equal(fake.reads, 1);
	for (unsigned int i = 0; i < READERS; i++) {
		assert_reads(i, i * 4000UL, 64, 0);
		assert_reads(i, i * 4000UL + 36, 64, 0);
		assert_reads(i, i * 4000UL + 2049, 1, 0);
		/* Before it, behind it, and over its end; another's is its own. */
		assert_reads(i, i * 4000UL + 1999, 8, 1);
		assert_reads(i, i * 4000UL + 2050, 1, 1);
		assert_reads(i, i * 4000UL + 37, 64, 1);
		assert_reads(i, (i + 1) % READERS * 4000UL, 8, 1);
	}
}

/* A later stage adds to the first, whose bytes move. */
static void stages(void **state)
{
	(void)state;
	vm_ahead_want(&readers[1], FAKE_BASE + 8, 40);
	vm_ahead_fetch(&ahead);
	vm_ahead_want(&readers[1], FAKE_BASE + 5000, 30000);
	vm_ahead_want(&readers[2], FAKE_BASE + 16, 8);
	fake.reads = 0;
	vm_ahead_fetch(&ahead);
	assert_int_equal(fake.reads, 1);
	assert_reads(1, 8, 40, 0);
	assert_reads(1, 34990, 10, 0);
	assert_reads(2, 16, 8, 0);
}

/* All spans of a read are of one time. */
static void a_read_that_is_there_in_part(void **state)
{
	uint64_t one = 0, two = 0;
	const struct vm_span spans[] = { { FAKE_BASE + 8, &one, 8 },
					 { FAKE_BASE + 4096, &two, 8 } };

	(void)state;
	vm_ahead_want(&readers[0], FAKE_BASE + 8, 8);
	vm_ahead_fetch(&ahead);
	memset(fake.bytes, 0xee, 16);
	assert_int_equal(readers[0].memory.read(&readers[0].memory, spans, 2), 0);
	assert_true(one == 0xeeeeeeeeeeeeeeeeULL);
	assert_int_equal(readers[0].memory.read(&readers[0].memory, spans, 1), 0);
	assert_true(one != 0xeeeeeeeeeeeeeeeeULL);
}

static void what_cannot_be_read_takes_nothing_along(void **state)
{
	uint64_t word;

	(void)state;
	vm_ahead_want(&readers[0], FAKE_BASE, 8);
	vm_ahead_want(&readers[1], NOWHERE, 8);
	vm_ahead_want(&readers[1], FAKE_BASE + 800, 8);
	vm_ahead_want(&readers[2], FAKE_BASE + 900, 8);
	vm_ahead_fetch(&ahead);
	assert_reads(0, 0, 8, 0);
	assert_reads(1, 800, 8, 0);
	assert_reads(2, 900, 8, 0);
	assert_int_equal(vm_memory_read(&readers[1].memory, NOWHERE, &word, 8), -EFAULT);
}

static void more_than_one_read_brings(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < READERS; i++)
		for (unsigned int k = 0; k < VM_AHEAD_PIECES; k++)
			vm_ahead_want(&readers[i], FAKE_BASE + i * 64UL, 40000);
	vm_ahead_fetch(&ahead);
	assert_in_range(fake.reads, 2, READERS);
	assert_reads(2, 128 + 39990, 10, 0);
	/* No more pieces, none without bytes, and none of any size. */
	vm_ahead_want(&readers[0], FAKE_BASE + 50000, 8);
	assert_int_equal(readers[0].count, VM_AHEAD_PIECES);
	vm_ahead_release(&ahead);
	vm_ahead_init(&ahead, &fake.memory, readers, READERS);
	vm_ahead_want(&readers[0], FAKE_BASE, 0);
	vm_ahead_want(&readers[0], FAKE_BASE, SIZE_MAX);
	assert_int_equal(readers[0].count, 0);
}

static void what_is_known_is_not_read(void **state)
{
	char text[8];

	(void)state;
	vm_ahead_give(&readers[0], NOWHERE, "known", 6);
	fake.reads = 0;
	assert_int_equal(vm_memory_read(&readers[0].memory, NOWHERE, text, 6), 0);
	assert_string_equal(text, "known");
	for (unsigned int i = 1; i < 2 * VM_AHEAD_PIECES; i++)
		vm_ahead_give(&readers[0], NOWHERE + i * 64, "known", 6);
	assert_int_equal(readers[0].count, VM_AHEAD_PIECES);
	assert_int_equal(fake.reads, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_wanted_is_read_together),
		TEST(stages),
		TEST(a_read_that_is_there_in_part),
		TEST(what_cannot_be_read_takes_nothing_along),
		TEST(more_than_one_read_brings),
		TEST(what_is_known_is_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
