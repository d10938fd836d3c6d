// SPDX-License-Identifier: Apache-2.0
/* That records come out as they went in, and that stacks which end alike are kept once. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "capture/rings/record_queue.h"
#include "wire.h"

#define TOP   0x7f0000100000ULL
#define BYTES 200000U
#define HEAD  16U /* what the queue has before a record */

struct kept {
	uint8_t *bytes; /* owned */
	size_t len;
};

static struct {
	struct record_queue queue;
	VEC(struct kept) pushed;
	size_t seen;
} f;

static int setup(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	srand(1);
	return 0;
}

static void drop(void)
{
	struct kept *kept;

	vec_for_each (kept, &f.pushed)
		free(kept->bytes);
	vec_release(&f.pushed);
	f.seen = 0;
}

static int teardown(void **state)
{
	(void)state;
	drop();
	record_queue_release(&f.queue);
	return 0;
}

static void push(const void *record, size_t len)
{
	struct kept kept = { xmalloc(len), len };

	memcpy(kept.bytes, record, len);
	vec_push(&f.pushed, kept);
	record_queue_push(&f.queue, record, len);
}

static struct wire_miss *make_miss(uint32_t tid, uint64_t top, uint32_t bytes)
{
	struct wire_miss *miss = xcalloc(1, sizeof(*miss) + bytes);

	miss->kind = WIRE_MISS;
	miss->size = (uint32_t)sizeof(*miss) + bytes;
	miss->tgid = miss->tid = tid;
	miss->copy_at = top - bytes;
	miss->copy_bytes = bytes;
	for (uint32_t i = 0; i < bytes; i++)
		miss->copy[i] = (uint8_t)rand();
	return miss;
}

/* As FROM, BYTES long, and but for the last SAME bytes with others in it. */
static struct wire_miss *make_like(const struct wire_miss *from, uint32_t bytes, uint32_t same)
{
	struct wire_miss *miss = make_miss(from->tid, from->copy_at + from->copy_bytes, bytes);

	memcpy(miss->copy + bytes - same, from->copy + from->copy_bytes - same, same);
	miss->copy[bytes - same - 1] = (uint8_t)~from->copy[from->copy_bytes - same - 1];
	return miss;
}

/* So many bytes of the heap behind MISS's copy of the stack. */
static struct wire_miss *add_heap(struct wire_miss *miss, uint32_t bytes)
{
	uint32_t size = miss->size;

	miss = xrealloc(miss, size + bytes);
	miss->size += bytes;
	miss->heap_bytes = miss->heap[0].bytes = bytes;
	miss->heap_count = 1;
	for (uint32_t i = 0; i < bytes; i++)
		((uint8_t *)miss)[size + i] = (uint8_t)rand();
	return miss;
}

/* What the queue grew by. */
static size_t push_miss(struct wire_miss *miss)
{
	size_t before = f.queue.len;

	push(miss, miss->size);
	free(miss);
	return f.queue.len - before;
}

static void see(const void *record, size_t len, void *data)
{
	const struct kept *kept = &f.pushed.items[f.seen++];

	assert_ptr_equal(data, &f);
	assert_int_equal((uintptr_t)record % 8, 0);
	assert_int_equal(len, kept->len);
	assert_memory_equal(record, kept->bytes, len);
}

static void expect_all(void)
{
	record_queue_give(&f.queue, see, &f);
	assert_int_equal(f.seen, f.pushed.len);
	record_queue_clear(&f.queue);
	assert_int_equal(f.queue.len, 0);
	drop();
}

static void whole_size(size_t grew, uint32_t bytes)
{
	size_t len = HEAD + sizeof(struct wire_miss) + bytes;

	assert_in_range(grew, len, len + 7);
}

static void records_of_any_length(void **state)
{
	uint8_t bytes[300];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	for (int again = 0; again < 3; again++) {
		for (size_t len = 0; len < sizeof(bytes); len += 1 + len / 3)
			push(bytes, len);
		expect_all();
	}
}

static void stacks_that_end_alike(void **state)
{
	struct wire_miss *first = make_miss(7, TOP, BYTES);
	struct wire_miss *longer = make_like(first, BYTES + 4000, BYTES - 1024);
	struct wire_miss *shorter = make_like(first, BYTES - 30001, BYTES - 50000);
	struct wire_miss *same = make_like(first, BYTES, BYTES - 1);

	(void)state;
	memcpy(same->copy, first->copy, BYTES);
	whole_size(push_miss(first), BYTES);
	assert_in_range(push_miss(longer), 5024, 6500);
	assert_in_range(push_miss(shorter), 19999, 21500);
	assert_in_range(push_miss(same), HEAD + sizeof(struct wire_miss), 1024);
	expect_all();
}

/* What is behind a stack is not its end: neither of the one that is compared to, nor of the one that is like it. */
static void stacks_with_heap_behind(void **state)
{
	struct wire_miss *first = make_miss(7, TOP, BYTES);
	struct wire_miss *more = make_like(first, BYTES, BYTES - 1024);
	struct wire_miss *other = make_miss(8, TOP, BYTES);
	struct wire_miss *none = make_like(other, BYTES, BYTES - 1024);
	struct wire_miss *both = make_like(other, BYTES, BYTES - 1024);

	(void)state;
	push_miss(first);
	assert_in_range(push_miss(add_heap(more, 4096)), 4096, 6500);
	push_miss(add_heap(other, 16384));
	assert_in_range(push_miss(none), 1024, 2500);
	assert_in_range(push_miss(add_heap(both, 12347)), 12347, 15000);
	expect_all();
}

/* It is compared to the last one that is there whole; one that has little of it takes its place. */
static void another_stack(void **state)
{
	struct wire_miss *first = make_miss(7, TOP, BYTES);
	struct wire_miss *other = make_like(first, BYTES, BYTES / 2 - 1000);
	struct wire_miss *as_other = make_like(other, BYTES, BYTES - 512);

	(void)state;
	push_miss(first);
	whole_size(push_miss(other), BYTES);
	assert_in_range(push_miss(as_other), sizeof(struct wire_miss) + 384,
			sizeof(struct wire_miss) + 1000);
	expect_all();
}

/* The same bytes elsewhere, of another thread in the same place of the table, or with little to gain, are kept as they are. */
static void nothing_shared(void **state)
{
	struct wire_miss *first = make_miss(7, TOP, BYTES);
	struct wire_miss *lower = make_like(first, BYTES, BYTES - 512);
	struct wire_miss *other = make_like(first, BYTES, BYTES - 512);
	struct wire_miss *small = make_miss(9, TOP, 8192);
	struct wire_miss *as_small = make_like(small, 8192, 8000);

	(void)state;
	lower->copy_at -= 4096;
	other->tid += RECORD_QUEUE_THREADS;
	other->copy_at -= 4096;
	push_miss(first);
	whole_size(push_miss(lower), BYTES);
	whole_size(push_miss(other), BYTES);
	push_miss(small);
	whole_size(push_miss(as_small), 8192);
	expect_all();
}

/* What a record says of its length is not believed. */
static void records_that_lie(void **state)
{
	struct wire_miss *first = make_miss(7, TOP, BYTES);
	struct wire_miss *lies = make_like(first, BYTES, BYTES - 512);
	/* It has more of the stack than there is. */
	struct wire_miss *short_one = make_like(first, BYTES, BYTES - 512);

	(void)state;
	memcpy(lies->copy, first->copy + 4096, BYTES - 4096);
	lies->copy_at += 4096;
	lies->copy_bytes -= 4096;
	push_miss(first);
	push(lies, lies->size);
	free(lies);
	short_one->size -= 4096;
	push(short_one, short_one->size);
	free(short_one);
	expect_all();
}

/* After what was before is taken there is nothing to compare to. */
static void a_queue_that_was_emptied(void **state)
{
	struct wire_miss *first = make_miss(7, TOP, BYTES);
	struct wire_miss *same = make_like(first, BYTES, BYTES - 512);
	struct wire_miss *large = make_like(first, 8 * BYTES / 2, BYTES - 512);

	(void)state;
	push_miss(first);
	expect_all();
	whole_size(push_miss(same), BYTES);
	expect_all();
	push_miss(large);
	push("rest", 4);
	for (int i = 0; i < 3; i++)
		push_miss(make_miss(7, TOP, 4 * BYTES));
	expect_all();
	assert_int_equal(f.queue.room, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(records_of_any_length, setup, teardown),
		cmocka_unit_test_setup_teardown(stacks_that_end_alike, setup, teardown),
		cmocka_unit_test_setup_teardown(stacks_with_heap_behind, setup, teardown),
		cmocka_unit_test_setup_teardown(another_stack, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_shared, setup, teardown),
		cmocka_unit_test_setup_teardown(records_that_lie, setup, teardown),
		cmocka_unit_test_setup_teardown(a_queue_that_was_emptied, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
