// SPDX-License-Identifier: Apache-2.0
/* Byte by byte: what is taken from a miss, what the process is asked for, and how often. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "process/proc.h"
#include "unwind/unwind_stack.h"

#define COPY_AT	   0x7000100ULL
#define COPY_BYTES 64
#define PC	   0x400000ULL
#define THREAD	   0x9000ULL
#define PAGE	   4096ULL
#define REACH	   (64ULL << 20)

static struct {
	union {
		struct wire_miss miss;
		char room[sizeof(struct wire_miss) + COPY_BYTES];
	};

	struct unwind_cursor cursor;
	struct unwind_stack stack;
	struct unwind_memory memory;
	uint64_t failed_at;
	/* The process: each byte is its address's lowest, or this. */
	uint8_t other;
	uint64_t unreadable; /* this page */
	unsigned int reads;
	uint64_t read_at; /* the last */
	/* The rest of its stack. */
	bool has_rest;
	unsigned int rests;
	uint64_t rest_sp;
} f;

/* --- in place of process/ and stack_rest.c --- */

int proc_read_memory(uint32_t pid, uint64_t address, void *data, size_t len)
{
	uint8_t *out = data;

	assert_int_equal(pid, 17);
	assert_int_equal(len, PAGE);
	assert_int_equal(address % PAGE, 0);
	f.reads++;
	f.read_at = address;
	for (size_t i = 0; i < len; i++)
		out[i] = (uint8_t)(f.other ? f.other : (address + i) * 7 + (address >> 12));
	return address == f.unreadable ? -EFAULT : 0;
}

int stack_rest_read(struct stack_rest *rest, const struct wire_miss *miss, uint64_t sp,
		    uint64_t address, void *dst, size_t len)
{
	assert_ptr_equal(rest, &f.has_rest);
	assert_ptr_equal(miss, &f.miss);
	assert_true(address + len > address);
	f.rests++;
	f.rest_sp = sp;
	if (f.has_rest)
		memset(dst, 0xdd, len);
	return f.has_rest ? 0 : -ENOENT;
}

/* --- */

static int set_up(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	f.miss.tgid = 17;
	f.miss.pc = PC;
	f.miss.copy_at = COPY_AT;
	f.miss.copy_bytes = COPY_BYTES;
	f.miss.code_bytes = sizeof(f.miss.code);
	for (size_t i = 0; i < sizeof(f.miss.code); i++)
		f.miss.code[i] = (uint8_t)(0x80 + i);
	for (size_t i = 0; i < COPY_BYTES; i++)
		f.miss.copy[i] = (uint8_t)(1 + i);
	f.cursor.sp = 0x1234;
	f.stack = (struct unwind_stack){ .miss = &f.miss,
					 .cursor = &f.cursor,
					 .pages = unwind_pages_new(),
					 .rest = (struct stack_rest *)&f.has_rest,
					 .alive = true,
					 .failed_at = &f.failed_at };
	f.memory = unwind_stack_memory(&f.stack, NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unwind_pages_free(f.stack.pages);
	return 0;
}

static bool stack_has(uint64_t address, size_t len)
{
	uint8_t data[COPY_BYTES + 16] = { 0 };
	int r = f.memory.read_stack(f.memory.data, address, data, len);

	if (r == 0 && !f.has_rest)
		assert_memory_equal(data, f.miss.copy + (address - COPY_AT), len);
	else if (r != 0)
		assert_int_equal(r, -EFAULT);
	assert_int_equal(f.failed_at, r == 0 ? 0 : address);
	return r == 0;
}

/* -1: it cannot be read. */
static int byte_at(uint64_t address)
{
	uint8_t byte;
	int r = f.memory.read(f.memory.data, address, &byte, 1);

	if (r != 0)
		assert_int_equal(r, -EFAULT);
	return r == 0 ? byte : -1;
}

static uint8_t in_process(uint64_t address)
{
	return (uint8_t)(address * 7 + (address >> 12));
}

static void the_copy_has_its_bounds(void **state)
{
	(void)state;
	assert_true(stack_has(COPY_AT, 1));
	assert_true(stack_has(COPY_AT, COPY_BYTES));
	assert_true(stack_has(COPY_AT + COPY_BYTES - 8, 8));
	assert_false(stack_has(COPY_AT + COPY_BYTES - 8, 9));
	assert_false(stack_has(COPY_AT + COPY_BYTES, 1));
	assert_false(stack_has(COPY_AT + COPY_BYTES + 8, 1));
	assert_false(stack_has(COPY_AT - 1, 8));
	assert_false(stack_has(COPY_AT, COPY_BYTES + 1));
	assert_int_equal(f.reads, 0); /* never as it is now */
	assert_int_equal(f.rests, 5);
	assert_int_equal(f.rest_sp, 0x1234);
}

static void the_rest_of_it(void **state)
{
	uint8_t word[8];

	(void)state;
	f.has_rest = true;
	assert_int_equal(f.memory.read_stack(f.memory.data, COPY_AT + 60, word, 8), 0);
	assert_int_equal(word[0], 0xdd);
	assert_int_equal(f.failed_at, 0);
	assert_int_equal(byte_at(COPY_AT + 1000), 0xdd);
	assert_int_equal(f.rests, 2);
	/* Only while it is the same program. */
	f.stack.alive = false;
	assert_false(stack_has(COPY_AT + 60, 8));
	assert_int_equal(byte_at(COPY_AT + 1000), -1);
	assert_true(stack_has(COPY_AT + 56, 8));
	assert_int_equal(f.rests, 2);
	assert_int_equal(f.reads, 0);
}

static void code_came_with_it(void **state)
{
	const uint64_t at = PC - WIRE_MISS_CODE_BEHIND, len = sizeof(f.miss.code);
	uint8_t bytes[sizeof(f.miss.code) + 1];

	(void)state;
	f.stack.alive = false;
	assert_int_equal(byte_at(at), 0x80);
	assert_int_equal(byte_at(at + len - 1), 0x80 + (int)len - 1);
	assert_int_equal(byte_at(at - 1), -1);
	assert_int_equal(byte_at(at + len), -1);
	assert_int_equal(f.memory.read(f.memory.data, at, bytes, len), 0);
	assert_memory_equal(bytes, f.miss.code, len);
	assert_int_equal(f.memory.read(f.memory.data, at, bytes, len + 1), -EFAULT);
	f.miss.code_bytes = 4;
	assert_int_equal(byte_at(at + 3), 0x83);
	assert_int_equal(byte_at(at + 4), -1);
	f.miss.code_bytes = 0;
	assert_int_equal(byte_at(at), -1);
	/* The process's own may have been replaced since. */
	f.stack.alive = true;
	f.miss.code_bytes = 4;
	assert_int_equal(byte_at(at), 0x80);
	assert_int_equal(f.reads, 0);
}

/* Each page once in a walk. */
static void pages_are_kept(void **state)
{
	const uint64_t at = 0x10000;

	(void)state;
	assert_int_equal(byte_at(at + 5), in_process(at + 5));
	assert_int_equal(byte_at(at + PAGE - 1), in_process(at + PAGE - 1));
	assert_int_equal(f.reads, 1);
	assert_int_equal(f.read_at, at);
	for (uint64_t i = 1; i < 64; i++)
		assert_int_equal(byte_at(at + i * PAGE), in_process(at + i * PAGE));
	for (uint64_t i = 0; i < 64; i++)
		assert_int_equal(byte_at(at + i * PAGE + 9), in_process(at + i * PAGE + 9));
	assert_int_equal(f.reads, 64);
	/* One takes the place of another. */
	assert_int_equal(byte_at(at + 64 * PAGE), in_process(at + 64 * PAGE));
	assert_int_equal(byte_at(at), in_process(at));
	assert_int_equal(f.reads, 66);
	/* What could not be read leaves none behind. */
	f.unreadable = at + 64 * PAGE;
	assert_int_equal(byte_at(f.unreadable), -1);
	assert_int_equal(byte_at(f.unreadable), -1);
	f.unreadable = 0;
	assert_int_equal(byte_at(at), in_process(at));
	assert_int_equal(f.reads, 69);
	/* The next walk reads them anew. */
	unwind_pages_drop(f.stack.pages);
	f.other = 0x77;
	for (uint64_t i = 0; i < 64; i++)
		assert_int_equal(byte_at(at + i * PAGE), 0x77);
	assert_int_equal(f.reads, 69 + 64);
}

static void a_read_over_pages(void **state)
{
	static uint8_t bytes[3 * PAGE];
	const uint64_t at = 0x20ff0;

	(void)state;
	assert_int_equal(f.memory.read(f.memory.data, at, bytes, 2 * PAGE), 0);
	for (uint64_t i = 0; i < 2 * PAGE; i++)
		assert_int_equal(bytes[i], in_process(at + i));
	assert_int_equal(f.reads, 3);
	f.unreadable = 0x30000;
	assert_int_equal(f.memory.read(f.memory.data, 0x2ff00, bytes, PAGE), -EFAULT);
	/* Nothing is at the first page, and it is not asked for. */
	f.reads = 0;
	assert_int_equal(byte_at(0), -1);
	assert_int_equal(byte_at(PAGE - 1), -1);
	assert_int_equal(f.reads, 0);
}

/* --- the JavaThread --- */

static uint64_t word_at(uint64_t address)
{
	uint64_t word;

	assert_int_equal(f.memory.read(f.memory.data, address, &word, 8), 0);
	return word;
}

static bool is_sampled(uint32_t offset, uint64_t value)
{
	uint64_t word = word_at(THREAD + offset), other;

	memset(&other, 0x55, sizeof(other));
	assert_true(word == value || word == other);
	return word == value;
}

static void a_java_thread(void)
{
	f.other = 0x55;
	f.miss.thread = THREAD;
	for (uint64_t i = 0; i < 3; i++)
		f.miss.anchor[i] = 100 + i;
	f.miss.cont_entry = 200;
	f.miss.unpacking = 300;
	f.cursor.jvm = (struct wire_jvm){ .serial = 1,
					  .thread_anchor = 0x1f8,
					  .anchor_sp = 8,
					  .anchor_pc = 16,
					  .anchor_fp = 32,
					  .thread_cont_entry = 0x300,
					  .unpacking.array = 0x320 };
}

static void words_of_the_sample(void **state)
{
	uint64_t words[5];

	(void)state;
	a_java_thread();
	assert_true(is_sampled(0x200, 100));
	assert_true(is_sampled(0x208, 101));
	assert_false(is_sampled(0x210, 102));
	assert_true(is_sampled(0x218, 102));
	assert_true(is_sampled(0x300, 200));
	assert_false(is_sampled(0x2f8, 200));
	assert_true(is_sampled(0x320, 300));
	/* In a piece, where they are in it as a whole. */
	assert_int_equal(f.memory.read(f.memory.data, THREAD + 0x1f8, words, sizeof(words)), 0);
	assert_int_equal(words[1], 100);
	assert_int_equal(words[2], 101);
	assert_int_equal(words[4], 102);
	assert_true(words[0] == words[3] && words[0] != 100);
	assert_true(word_at(THREAD + 0x21c) != 102);
	assert_int_equal(word_at(THREAD + 0x21c), words[0]);
	assert_int_equal(word_at(THREAD + 0x1fc), words[0]);
}

static void words_that_are_not_known(void **state)
{
	(void)state;
	a_java_thread();
	f.cursor.jvm.thread_anchor = WIRE_JVM_ABSENT;
	assert_false(is_sampled(0x200, 100));
	assert_false(is_sampled((uint32_t)WIRE_JVM_ABSENT, 100));
	assert_true(is_sampled(0x300, 200));
	a_java_thread();
	f.miss.cont_entry = 0;
	assert_false(is_sampled(0x300, 0));
	assert_true(is_sampled(0x200, 100));
	a_java_thread();
	f.miss.unpacking = WIRE_MISS_UNKNOWN;
	assert_false(is_sampled(0x320, WIRE_MISS_UNKNOWN));
	a_java_thread();
	f.miss.unpacking = 0;
	assert_true(is_sampled(0x320, 0));
	f.cursor.jvm.unpacking.array = 0;
	assert_false(is_sampled(0, 0));
	a_java_thread();
	f.cursor.jvm.serial = 0;
	assert_false(is_sampled(0x200, 100));
	assert_false(is_sampled(0x300, 200));
	a_java_thread();
	f.miss.thread = 0;
	assert_false(is_sampled(0x200, 100));
	assert_int_equal(word_at(0x1200), word_at(THREAD)); /* as if it began at 0 */
}

/* --- the end of the copy --- */

static bool ended_at(uint64_t address)
{
	f.failed_at = address;
	return unwind_stack_ended(&f.stack);
}

static void an_end_is_near_the_copy(void **state)
{
	(void)state;
	assert_false(ended_at(0));
	assert_false(ended_at(COPY_AT - 1));
	assert_true(ended_at(COPY_AT));
	assert_true(ended_at(COPY_AT + COPY_BYTES));
	assert_true(ended_at(COPY_AT + COPY_BYTES + REACH - 1));
	assert_false(ended_at(COPY_AT + COPY_BYTES + REACH));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_copy_has_its_bounds),	TEST(the_rest_of_it),
		TEST(code_came_with_it),	TEST(pages_are_kept),
		TEST(a_read_over_pages),	TEST(words_of_the_sample),
		TEST(words_that_are_not_known), TEST(an_end_is_near_the_copy),
	};

	return cmocka_run_group_tests_name("unwind_stack_calls", tests, NULL, NULL);
}
