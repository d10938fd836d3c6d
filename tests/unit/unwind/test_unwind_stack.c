/* SPDX-License-Identifier: Apache-2.0 */
/* What a walk in userspace may read: the stack as it was, the rest of a process as it is. */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unwind/unwind_stack.h"

#define COPY_WORDS 128
#define COPY_BYTES ((size_t)COPY_WORDS * 8)
/* Of two pieces of the heap. */
#define HEAP_BYTES 48
#define HEAP_AT	   0x12340000ULL

struct fixture {
	union {
		struct wire_miss miss;
		char room[sizeof(struct wire_miss) + COPY_WORDS * 8 + HEAP_BYTES];
	};

	struct unwind_cursor cursor;
	struct unwind_stack stack;
	uint64_t failed_at;
	struct unwind_memory memory;
};

/* What "the process" has there: this one. */
static uint64_t beyond[1024] = { 1, 2, 3 };
/* Its stack, of which the first words are in the copy. */
static uint64_t live[COPY_WORDS + 1024];

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	f->miss.tgid = (uint32_t)getpid();
	f->miss.tid = (uint32_t)gettid();
	f->miss.copy_at = (uintptr_t)live;
	f->miss.copy_bytes = COPY_BYTES;
	memset(f->miss.copy, 0x11, COPY_BYTES);
	memset(live, 0x22, sizeof(live));
	f->stack = (struct unwind_stack){ .miss = &f->miss,
					  .cursor = &f->cursor,
					  .pages = unwind_pages_new(),
					  .rest = stack_rest_new(),
					  .alive = true,
					  .failed_at = &f->failed_at };
	f->memory = unwind_stack_memory(&f->stack, NULL);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unwind_pages_free(f->stack.pages);
	stack_rest_free(f->stack.rest);
	free(f);
	return 0;
}

static uint64_t word_of(const struct fixture *f, const void *at)
{
	uint64_t word = 0;

	assert_int_equal(memory_read(&f->memory, &word, 8, (uintptr_t)at), 0);
	return word;
}

static int read_stack_at(const struct fixture *f, const void *at)
{
	uint64_t word;

	return memory_read_stack(&f->memory, &word, 8, (uintptr_t)at);
}

static void test_stack_is_the_copy(void **state)
{
	struct fixture *f = *state;
	uint64_t word;

	assert_int_equal(memory_read_stack(&f->memory, &word, 8, (uintptr_t)&live[3]), 0);
	assert_int_equal(word, 0x1111111111111111);
	assert_int_equal(word_of(f, &live[3]), 0x1111111111111111);
	/* never from what it is now */
	assert_true(read_stack_at(f, beyond) < 0);
}

/* The copy's words are those that the stack has now. */
static void make_same(struct fixture *f)
{
	for (int i = 0; i < COPY_WORDS; i++)
		live[i] = 1000 + i;
	memcpy(f->miss.copy, live, COPY_BYTES);
	live[COPY_WORDS] = 4711;
	live[COPY_WORDS + 1023] = 4712;
	f->cursor.sp = (uintptr_t)&live[8];
}

static void check_ended(const struct fixture *f)
{
	assert_true(read_stack_at(f, &live[COPY_WORDS]) < 0);
	assert_true(unwind_stack_ended(&f->stack));
	assert_int_equal(stack_rest_count(f->stack.rest), 0);
}

static void test_goes_on(void **state)
{
	struct fixture *f = *state;
	uint64_t word;

	make_same(f);
	assert_int_equal(
		memory_read_stack(&f->memory, &word, 8, (uintptr_t)&live[COPY_WORDS + 1023]), 0);
	assert_int_equal(word, 4712);
	/* across the end of the copy, and not as it is later */
	live[COPY_WORDS] = 1;
	assert_int_equal(memory_read_stack(&f->memory, &word, 8, (uintptr_t)&live[COPY_WORDS] - 4),
			 0);
	assert_int_equal(word, (4711ULL << 32) | 0);
	assert_int_equal(word_of(f, &live[COPY_WORDS]), 4711);
	assert_int_equal(stack_rest_count(f->stack.rest), 1);
	/* of a walk that has left the stack it began on another one may lie there */
	f->cursor.elsewhere = 1;
	assert_true(read_stack_at(f, &live[COPY_WORDS]) < 0);
	assert_int_equal(word_of(f, &live[COPY_WORDS - 1]), 1000 + COPY_WORDS - 1);
	f->cursor.elsewhere = 0;
	/* another walk looks anew */
	stack_rest_drop(f->stack.rest);
	live[COPY_WORDS - 1]++;
	assert_true(read_stack_at(f, &live[COPY_WORDS]) < 0);
}

/* What a walk reads ahead is no reason to ask the process. */
static void test_read_ahead(void **state)
{
	struct fixture *f = *state;
	uint64_t piece[64];
	const uint64_t at = (uintptr_t)&live[COPY_WORDS - 1];

	make_same(f);
	assert_true(memory_read_stack(&f->memory, piece, sizeof(piece), at) < 0);
	assert_int_equal(stack_rest_count(f->stack.rest), 0);
	assert_int_equal(read_stack_at(f, &live[COPY_WORDS]), 0);
	/* It was asked: now pieces are as good as words. */
	assert_int_equal(memory_read_stack(&f->memory, piece, sizeof(piece), at), 0);
	assert_int_equal(piece[1], 4711);
	assert_int_equal(stack_rest_count(f->stack.rest), 1);
}

static void test_changed(void **state)
{
	struct fixture *f = *state;

	make_same(f);
	live[COPY_WORDS - 64]++;
	check_ended(f);
	/* words farther down do not matter */
	stack_rest_drop(f->stack.rest);
	live[COPY_WORDS - 64]--;
	live[COPY_WORDS - 65]++;
	assert_int_equal(read_stack_at(f, &live[COPY_WORDS]), 0);
}

/* The frame that reaches beyond the copy was called from elsewhere since. */
static void test_other_call(void **state)
{
	struct fixture *f = *state;

	make_same(f);
	live[7]++;
	check_ended(f);
	live[7]--;
	stack_rest_drop(f->stack.rest);
	assert_int_equal(read_stack_at(f, &live[COPY_WORDS]), 0);
}

static void test_gone(void **state)
{
	struct fixture *f = *state;

	make_same(f);
	f->stack.alive = false;
	check_ended(f);
	f->stack.alive = true;
	f->miss.tid = 1; /* of another process */
	check_ended(f);
	stack_rest_drop(f->stack.rest);
	f->miss.tid = (uint32_t)gettid();
	f->miss.tgid = 0;
	check_ended(f);
}

/* Bytes that never came from the process are no proof, even if it has the same. */
static void test_hole(void **state)
{
	struct fixture *f = *state;

	make_same(f);
	memset(&live[COPY_WORDS - 64], 0xff, 512);
	memcpy(f->miss.copy, live, COPY_BYTES);
	check_ended(f);
}

static void test_short_copy(void **state)
{
	struct fixture *f = *state;

	make_same(f);
	f->miss.copy_bytes = 504;
	assert_true(read_stack_at(f, &live[63]) < 0);
	assert_int_equal(stack_rest_count(f->stack.rest), 0);
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

/* By both ways, only whole, and whether the process is there or not. */
static void test_pieces_of_the_heap(void **state)
{
	struct fixture *f = *state;
	uint64_t word;

	f->miss.heap[0] = (struct wire_piece){ .at = HEAP_AT, .bytes = 16 };
	f->miss.heap[1] = (struct wire_piece){ .at = HEAP_AT + 64, .bytes = 32 };
	f->miss.heap_bytes = HEAP_BYTES;
	for (unsigned int i = 0; i < HEAP_BYTES; i++)
		f->miss.copy[COPY_BYTES + i] = (uint8_t)(i / 8 + 1);
	f->stack.alive = false;
	assert_true(memory_read_stack(&f->memory, &word, 8, HEAP_AT) < 0);
	f->miss.heap_count = 2;
	assert_int_equal(memory_read_stack(&f->memory, &word, 8, HEAP_AT + 8), 0);
	assert_int_equal(word, 0x0202020202020202);
	assert_int_equal(memory_read(&f->memory, &word, 8, HEAP_AT + 64 + 24), 0);
	assert_int_equal(word, 0x0606060606060606);
	assert_true(memory_read_stack(&f->memory, &word, 8, HEAP_AT + 12) < 0);
	assert_true(memory_read_stack(&f->memory, &word, 8, HEAP_AT + 64 + 28) < 0);
	assert_true(memory_read_stack(&f->memory, &word, 8, HEAP_AT - 4) < 0);
}

/* What is there of the stack beyond the copy comes behind the heap's pieces. */
static void test_pieces_of_the_stack(void **state)
{
	struct fixture *f = *state;
	uint64_t word;

	f->miss.heap[0] = (struct wire_piece){ .at = HEAP_AT, .bytes = 16 };
	f->miss.heap_bytes = 16;
	f->miss.heap_count = 1;
	f->miss.beyond[0] = (struct wire_piece){ .at = HEAP_AT + 4096, .bytes = 8 };
	f->miss.beyond[1] = (struct wire_piece){ .at = HEAP_AT + 8192, .bytes = 16 };
	f->miss.beyond_bytes = 24;
	for (unsigned int i = 0; i < HEAP_BYTES; i++)
		f->miss.copy[COPY_BYTES + i] = (uint8_t)(i / 8 + 1);
	f->stack.alive = false;
	assert_true(memory_read_stack(&f->memory, &word, 8, HEAP_AT + 4096) < 0);
	f->miss.beyond_count = 2;
	assert_int_equal(memory_read_stack(&f->memory, &word, 8, HEAP_AT + 4096), 0);
	assert_int_equal(word, 0x0303030303030303);
	assert_int_equal(memory_read(&f->memory, &word, 8, HEAP_AT + 8192 + 8), 0);
	assert_int_equal(word, 0x0505050505050505);
	assert_int_equal(memory_read_stack(&f->memory, &word, 8, HEAP_AT + 8), 0);
	assert_int_equal(word, 0x0202020202020202);
	assert_true(memory_read_stack(&f->memory, &word, 8, HEAP_AT + 4096 + 4) < 0);
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
	assert_true(memory_read(&f->memory, &(uint64_t){ 0 }, 8, (uintptr_t)beyond) < 0);
}

static void test_read_across_pages(void **state)
{
	struct fixture *f = *state;
	uint64_t came[1024];

	assert_int_equal(memory_read(&f->memory, came, sizeof(came), (uintptr_t)beyond), 0);
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
	f->cursor.jvm = (struct wire_jvm){
		.serial = 1, .thread_anchor = 16, .anchor_sp = 0, .anchor_pc = 8, .anchor_fp = 16
	};
	assert_int_equal(word_of(f, &beyond[0]), 1);
	assert_int_equal(word_of(f, &beyond[2]), 100);
	assert_int_equal(word_of(f, &beyond[3]), 101);
	assert_int_equal(memory_read(&f->memory, came, sizeof(came), (uintptr_t)&beyond[1]), 0);
	assert_int_equal(came[0], 2);
	assert_int_equal(came[3], 102);
	f->miss.cont_entry = 200;
	f->cursor.jvm.thread_cont_entry = 8;
	assert_int_equal(word_of(f, &beyond[1]), 200);
	assert_int_equal(word_of(f, &beyond[0]), 1);
	f->miss.thread = 0;
	assert_int_equal(word_of(f, &beyond[1]), 2);
	assert_int_equal(word_of(f, &beyond[2]), 3);
}

/* A frame that is still there has had its method all the time; one that has returned proves nothing. */
static void test_still_there(void **state)
{
	enum { FP = 20, SLOT = -3 };
	struct fixture *f = *state;
	uint64_t fp = (uintptr_t)&live[FP];

	make_same(f);
	f->cursor.jvm.method_slot = SLOT;
	assert_true(unwind_stack_still_has(&f->stack, fp, 1000 + FP + SLOT));
	unwind_pages_drop(f->stack.pages);
	assert_false(unwind_stack_still_has(&f->stack, fp, 4711));
	for (int i = -1; i < 2; i++) {
		uint64_t *word = &live[i < 0 ? FP + SLOT : FP + i];

		unwind_pages_drop(f->stack.pages);
		(*word)++;
		assert_false(unwind_stack_still_has(&f->stack, fp, 1000 + FP + SLOT));
		(*word)--;
	}
	unwind_pages_drop(f->stack.pages);
	f->stack.alive = false;
	assert_false(unwind_stack_still_has(&f->stack, fp, 1000 + FP + SLOT));
	f->stack.alive = true;
	/* Nobody knows what was there. */
	assert_false(unwind_stack_still_has(&f->stack, (uintptr_t)&beyond[3], 1));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_stack_is_the_copy),
		TEST(test_copy_ended),
		TEST(test_goes_on),
		TEST(test_read_ahead),
		TEST(test_changed),
		TEST(test_other_call),
		TEST(test_gone),
		TEST(test_hole),
		TEST(test_short_copy),
		TEST(test_other_memory_is_live),
		TEST(test_pieces_of_the_heap),
		TEST(test_pieces_of_the_stack),
		TEST(test_read_across_pages),
		TEST(test_anchor),
		TEST(test_still_there),
	};

	return cmocka_run_group_tests_name("unwind_stack", tests, NULL, NULL);
}
