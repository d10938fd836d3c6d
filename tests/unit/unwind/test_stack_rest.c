// SPDX-License-Identifier: Apache-2.0
/* The part of a stack above its copy: read of a process of the test's, if it is still the same. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "process/proc.h"
#include "unwind/stack_rest.h"

#define BASE	   0x700000000000ULL
#define COPY_BYTES 8192UL
#define END	   (BASE + COPY_BYTES)
#define LIVE_BYTES (512UL << 10)
#define REST_BYTES 262144 /* of stack_rest.c */
#define SP	   (BASE + 8000)

static struct {
	uint8_t live[LIVE_BYTES]; /* at BASE */
	size_t there;		  /* bytes of it that can be read */
	bool has_thread;
	uint64_t changes_at; /* after the first look; 0: nothing changes */
	unsigned int looks;
	struct stack_rest *rest;

	union {
		struct wire_miss miss;
		uint8_t space[sizeof(struct wire_miss) + COPY_BYTES];
	};
} f;

/* --- in place of process/ --- */

ssize_t proc_read_pages(uint32_t pid, uint64_t address, void *data, size_t len)
{
	size_t at = address - BASE;

	assert_int_equal(pid, 17);
	f.looks++;
	if (at >= f.there)
		return -EFAULT;
	len = MIN(len, f.there - at);
	memcpy(data, f.live + at, len);
	if (f.changes_at)
		f.live[f.changes_at - BASE]++;
	return (ssize_t)len;
}

int proc_read_memory(uint32_t pid, uint64_t address, void *data, size_t len)
{
	size_t at = address - BASE;

	assert_int_equal(pid, 17);
	if (at + len > f.there)
		return -EFAULT;
	memcpy(data, f.live + at, len);
	return 0;
}

bool proc_has_thread(uint32_t pid, uint32_t tid)
{
	assert_int_equal(pid, 17);
	return f.has_thread && tid == 18;
}

/* --- */

static int setup(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	f.rest = stack_rest_new();
	f.there = LIVE_BYTES;
	f.has_thread = true;
	for (size_t i = 0; i < LIVE_BYTES; i++)
		f.live[i] = (uint8_t)(i * 31 >> 3);
	f.miss.tgid = 17;
	f.miss.tid = 18;
	f.miss.copy_at = BASE;
	f.miss.copy_bytes = COPY_BYTES;
	memcpy(f.miss.copy, f.live, COPY_BYTES);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	stack_rest_free(f.rest);
	return 0;
}

static bool reads(uint64_t sp, uint64_t address, size_t len)
{
	uint8_t data[1024] = { 0 };
	int r = stack_rest_read(f.rest, &f.miss, sp, address, data, len);

	if (r == 0)
		assert_memory_equal(data, f.live + (address - BASE), len);
	else
		assert_int_equal(r, -ENOENT);
	return r == 0;
}

static void it_is_read_once(void **state)
{
	(void)state;
	assert_true(reads(SP, END, 8));
	assert_true(reads(SP, END + 4096, 1024));
	assert_true(reads(SP, END - 8, 16)); /* across the end */
	assert_int_equal(f.looks, 1);
	assert_int_equal(stack_rest_count(f.rest), 1);
	stack_rest_drop(f.rest);
	assert_true(reads(SP, END, 8));
	assert_int_equal(f.looks, 2);
	assert_int_equal(stack_rest_count(f.rest), 2);
}

static void not_what_the_copy_has(void **state)
{
	(void)state;
	assert_false(reads(SP, END - 8, 8));
	assert_false(reads(SP, BASE, 8));
	assert_false(reads(SP, END - STACK_REST_COMPARED - 8, STACK_REST_COMPARED + 16));
	assert_int_equal(f.looks, 0);
}

static void not_too_far(void **state)
{
	(void)state;
	assert_false(reads(SP, END + REST_BYTES - 8, 16));
	assert_false(reads(SP, END + REST_BYTES, 8));
	assert_int_equal(f.looks, 0);
	assert_true(reads(SP, END + REST_BYTES - 8, 8));
}

/* A stack has an end. */
static void not_beyond_its_end(void **state)
{
	(void)state;
	f.there = COPY_BYTES + 100;
	assert_true(reads(SP, END + 92, 8));
	assert_false(reads(SP, END + 96, 8));
	assert_false(reads(SP, END + 200, 8));
	stack_rest_drop(f.rest);
	f.there = COPY_BYTES;
	assert_false(reads(SP, END, 8));
	assert_int_equal(stack_rest_count(f.rest), 1);
}

/* The words come one by one, and most of a piece that is read ahead lie in the copy. */
static void pieces_that_are_read_ahead(void **state)
{
	(void)state;
	assert_false(reads(SP, END - 8, STACK_REST_COMPARED));
	assert_int_equal(f.looks, 0);
	assert_true(reads(SP, END - 8, STACK_REST_COMPARED - 8));
	assert_true(reads(SP, END - 8, STACK_REST_COMPARED));
}

static void expect_another_stack(uint64_t sp)
{
	assert_false(reads(sp, END, 8));
	assert_false(reads(sp, END, 8));
	assert_int_equal(f.looks, 1);
	assert_int_equal(stack_rest_count(f.rest), 0);
}

static void its_end_is_another(void **state)
{
	(void)state;
	f.live[COPY_BYTES - 1]++;
	expect_another_stack(SP);
	teardown(state);
	setup(state);
	f.live[COPY_BYTES - STACK_REST_COMPARED]++;
	expect_another_stack(SP);
	teardown(state);
	setup(state);
	f.live[COPY_BYTES - STACK_REST_COMPARED - 1]++;
	assert_true(reads(SP, END, 8));
}

/* While it was read, too. */
static void it_changes_meanwhile(void **state)
{
	(void)state;
	f.changes_at = END - 1;
	expect_another_stack(SP);
	teardown(state);
	setup(state);
	f.changes_at = SP - 16;
	expect_another_stack(SP);
}

/* The call that leads down from the frame has returned, though its buffer is as it was. */
static void its_call_is_another(void **state)
{
	const uint64_t sp = BASE + 1000;

	(void)state;
	f.live[sp - 16 - BASE]++;
	expect_another_stack(sp);
	teardown(state);
	setup(state);
	f.live[sp - 1 - BASE]++;
	expect_another_stack(sp);
	teardown(state);
	setup(state);
	f.live[sp - 17 - BASE]++;
	f.live[sp - BASE]++;
	assert_true(reads(sp, END, 8));
}

static void a_frame_outside_of_the_copy(void **state)
{
	(void)state;
	f.live[0]++;
	f.live[COPY_BYTES]++;
	assert_true(reads(BASE + 15, END, 8)); /* its call is not in it */
	stack_rest_drop(f.rest);
	assert_true(reads(END + 16, END, 8));
	stack_rest_drop(f.rest);
	assert_false(reads(BASE + 16, END, 8));
}

/* Bytes of pages that were not there then are all ones, and nobody's. */
static void a_page_that_was_not_there(void **state)
{
	(void)state;
	memset(f.miss.copy + 4096, 0xff, 4096);
	memset(f.live + 4096, 0xff, 4096);
	expect_another_stack(SP);
	teardown(state);
	setup(state);
	memset(f.miss.copy, 0xff, 4096);
	memset(f.live, 0xff, 4096);
	assert_true(reads(SP, END, 8));
}

/* What is compared lies in two pages, of which one was not there. */
static void half_of_it_was_not_there(void **state)
{
	const uint64_t end = BASE + 4096 + STACK_REST_COMPARED / 2;

	for (size_t half = 0; half < 2; half++) {
		const size_t at = 4096 - STACK_REST_COMPARED / 2 * (1 - half);

		teardown(state);
		setup(state);
		f.miss.copy_bytes = (uint32_t)(end - BASE);
		assert_true(reads(BASE, end, 8));
		stack_rest_drop(f.rest);
		memset(f.miss.copy + at, 0xff, STACK_REST_COMPARED / 2);
		memset(f.live + at, 0xff, STACK_REST_COMPARED / 2);
		assert_false(reads(BASE, end, 8));
		stack_rest_drop(f.rest);
		/* One byte of it is enough: it was there. */
		f.miss.copy[at + STACK_REST_COMPARED / 2 - 1] = 5;
		f.live[at + STACK_REST_COMPARED / 2 - 1] = 5;
		assert_true(reads(BASE, end, 8));
	}
}

static void its_thread_has_ended(void **state)
{
	(void)state;
	f.has_thread = false;
	expect_another_stack(SP);
}

static void too_little_to_compare(void **state)
{
	(void)state;
	f.miss.copy_bytes = STACK_REST_COMPARED - 1;
	assert_false(reads(BASE, BASE + STACK_REST_COMPARED, 8));
	assert_int_equal(f.looks, 0);
	f.miss.copy_bytes = STACK_REST_COMPARED;
	assert_true(reads(BASE, BASE + STACK_REST_COMPARED, 8));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_is_read_once),
		TEST(not_what_the_copy_has),
		TEST(not_too_far),
		TEST(not_beyond_its_end),
		TEST(pieces_that_are_read_ahead),
		TEST(its_end_is_another),
		TEST(it_changes_meanwhile),
		TEST(its_call_is_another),
		TEST(a_frame_outside_of_the_copy),
		TEST(a_page_that_was_not_there),
		TEST(half_of_it_was_not_there),
		TEST(its_thread_has_ended),
		TEST(too_little_to_compare),
	};

	return cmocka_run_group_tests_name("stack_rest", tests, NULL, NULL);
}
