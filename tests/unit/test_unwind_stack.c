/* SPDX-License-Identifier: Apache-2.0 */
/* What a walk in userspace may read: the stack as it was, the rest of a process as it is. */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/unwind_stack.h"

#define COPY_WORDS 64

struct fixture {
	union {
		struct wire_miss miss;
		char room[sizeof(struct wire_miss) + COPY_WORDS * 8];
	};

	struct wire_jvm jvm;
	struct unwind_stack stack;
	uint64_t failed_at;
	struct unwind_memory memory;
};

/* What "the process" has there: this one. */
static uint64_t live[COPY_WORDS];
static uint64_t beyond[1024] = { 1, 2, 3 };

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	f->miss.tgid = (uint32_t)getpid();
	f->miss.copy_at = (uintptr_t)live;
	f->miss.copy_bytes = sizeof(live);
	memset(f->miss.copy, 0x11, sizeof(live));
	memset(live, 0x22, sizeof(live));
	f->stack = (struct unwind_stack){ .miss = &f->miss,
					  .jvm = &f->jvm,
					  .pages = unwind_pages_new(),
					  .alive = true,
					  .failed_at = &f->failed_at };
	f->memory = unwind_stack_memory(&f->stack, NULL);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unwind_pages_free(f->stack.pages);
	free(f);
	return 0;
}

static uint64_t word_of(const struct fixture *f, const void *at)
{
	uint64_t word = 0;

	assert_int_equal(unwind_read(&f->memory, &word, 8, (uintptr_t)at), 0);
	return word;
}

static int read_stack_at(const struct fixture *f, const void *at)
{
	uint64_t word;

	return unwind_read_stack(&f->memory, &word, 8, (uintptr_t)at);
}

static void test_stack_is_the_copy(void **state)
{
	struct fixture *f = *state;
	uint64_t word;

	assert_int_equal(unwind_read_stack(&f->memory, &word, 8, (uintptr_t)&live[3]), 0);
	assert_int_equal(word, 0x1111111111111111);
	assert_int_equal(word_of(f, &live[3]), 0x1111111111111111);
	/* never from what it is now */
	assert_true(read_stack_at(f, beyond) < 0);
	f->stack.changed = true;
	assert_int_equal(read_stack_at(f, beyond), 0);
}

static void test_copy_ended(void **state)
{
	struct fixture *f = *state;

	assert_true(read_stack_at(f, &live[COPY_WORDS]) < 0);
	assert_true(unwind_stack_ended(&f->stack));
	/* a word elsewhere that is not there is no end of the stack */
	assert_int_equal(read_stack_at(f, live), 0);
	assert_false(unwind_stack_ended(&f->stack));
	assert_true(read_stack_at(f, NULL) < 0);
	assert_false(unwind_stack_ended(&f->stack));
}

static void test_other_memory_is_live(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(word_of(f, &beyond[1]), 2);
	/* for the length of a walk */
	beyond[1] = 7;
	assert_int_equal(word_of(f, &beyond[1]), 2);
	unwind_pages_drop(f->stack.pages);
	assert_int_equal(word_of(f, &beyond[1]), 7);
	beyond[1] = 2;
	f->stack.alive = false;
	assert_true(unwind_read(&f->memory, &(uint64_t){ 0 }, 8, (uintptr_t)beyond) < 0);
}

static void test_read_across_pages(void **state)
{
	struct fixture *f = *state;
	uint64_t came[1024];

	assert_int_equal(unwind_read(&f->memory, came, sizeof(came), (uintptr_t)beyond), 0);
	assert_memory_equal(came, beyond, sizeof(came));
}

/* Anchor and continuation of the JavaThread are those of the sample, its other words are not. */
static void test_anchor(void **state)
{
	struct fixture *f = *state;
	uint64_t came[4];

	for (int i = 0; i < 3; i++)
		f->miss.anchor[i] = 100 + i;
	f->miss.thread = (uintptr_t)beyond;
	f->jvm = (struct wire_jvm){
		.serial = 1, .thread_anchor = 16, .anchor_sp = 0, .anchor_pc = 8, .anchor_fp = 16
	};
	assert_int_equal(word_of(f, &beyond[0]), 1);
	assert_int_equal(word_of(f, &beyond[2]), 100);
	assert_int_equal(word_of(f, &beyond[3]), 101);
	assert_int_equal(unwind_read(&f->memory, came, sizeof(came), (uintptr_t)&beyond[1]), 0);
	assert_int_equal(came[0], 2);
	assert_int_equal(came[3], 102);
	f->miss.cont_entry = 200;
	f->jvm.thread_cont_entry = 8;
	assert_int_equal(word_of(f, &beyond[1]), 200);
	assert_int_equal(word_of(f, &beyond[0]), 1);
	f->miss.thread = 0;
	assert_int_equal(word_of(f, &beyond[1]), 2);
	assert_int_equal(word_of(f, &beyond[2]), 3);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_stack_is_the_copy),
		TEST(test_copy_ended),
		TEST(test_other_memory_is_live),
		TEST(test_read_across_pages),
		TEST(test_anchor),
	};

	return cmocka_run_group_tests_name("unwind_stack", tests, NULL, NULL);
}
