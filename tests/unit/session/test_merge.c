/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "heap_use.h"
#include "session/merge.h"

static void push_sample(struct merge_queue *queue, uint64_t time_ns, uint32_t tid)
{
	struct wire_sample sample = { .size = sizeof(sample), .time_ns = time_ns, .tid = tid };

	merge_push_sample(queue, &sample, NULL, false);
}

static void push_side(struct merge_queue *queue, uint64_t time_ns, const char *name)
{
	struct side_event event = { .kind = SIDE_COMM, .time_ns = time_ns, .name = name };

	merge_push_side(queue, &event);
}

static void test_order(void **state)
{
	struct merge_queue queue = { 0 };
	uint64_t last = 0;

	(void)state;
	srand(7);
	for (int i = 0; i < 1000; i++)
		push_sample(&queue, (uint64_t)(rand() % 500), 1);
	for (int i = 0; i < 1000; i++) {
		const struct merge_item *item = merge_peek(&queue);

		assert_true(item->time_ns >= last);
		last = item->time_ns;
		merge_drop_oldest(&queue);
	}
	assert_null(merge_peek(&queue));
	assert_int_equal(queue.bytes, 0);
	merge_release(&queue);
}

/* A mapping and a sample of the same nanosecond: the sample must see the mapping. */
static void test_side_first(void **state)
{
	struct merge_queue queue = { 0 };

	(void)state;
	push_sample(&queue, 5, 1);
	push_side(&queue, 5, "exec");
	push_sample(&queue, 5, 2);
	push_side(&queue, 5, "map");
	assert_string_equal(merge_peek(&queue)->side->name, "exec");
	merge_drop_oldest(&queue);
	assert_string_equal(merge_peek(&queue)->side->name, "map");
	merge_drop_oldest(&queue);
	assert_int_equal(merge_peek(&queue)->sample->tid, 1);
	merge_drop_oldest(&queue);
	assert_int_equal(merge_peek(&queue)->sample->tid, 2);
	merge_drop_oldest(&queue);
	merge_release(&queue);
}

/* What is never popped. */
static void test_released(void **state)
{
	struct wire_sample *large = calloc(1, 4096);
	size_t before = heap_use();
	struct merge_queue queue = { 0 };

	(void)state;
	large->size = 4096;
	for (uint64_t i = 0; i < 100; i++) {
		large->time_ns = i;
		merge_push_sample(&queue, large, NULL, false);
	}
	assert_int_equal(queue.bytes, 100 * 4096);
	merge_release(&queue);
	assert_int_equal(queue.bytes, 0);
	assert_true(heap_use() < before + 2048);
	free(large);
}

static void test_copies_name(void **state)
{
	const size_t len = (size_t)sysconf(_SC_PAGESIZE);
	char name[] = "before", *page;
	struct merge_queue queue = { 0 };

	(void)state;
	push_side(&queue, 1, name);
	name[0] = 'X';
	assert_string_equal(merge_peek(&queue)->side->name, "before");
	merge_release(&queue);
	/* Behind its last byte there may be nothing. */
	page = mmap(NULL, 2 * len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(page, MAP_FAILED);
	assert_int_equal(mprotect(page + len, len, PROT_NONE), 0);
	page[len - 2] = 'x';
	push_side(&queue, 1, page + len - 2);
	assert_string_equal(merge_peek(&queue)->side->name, "x");
	merge_release(&queue);
	munmap(page, 2 * len);
}

/* A miss counts until its walk is finished. */
static void test_miss(void **state)
{
	const struct wire_sample sample = { .size = sizeof(sample), .time_ns = 5, .tid = 1 };
	const struct wire_miss miss = { .size = sizeof(miss) + 4096 };
	struct wire_sample finished = sample;
	struct merge_queue queue = { 0 };
	struct wire_miss *copy = calloc(1, miss.size);

	(void)state;
	memcpy(copy, &miss, sizeof(miss));
	push_sample(&queue, 6, 2);
	merge_push_sample(&queue, &sample, copy, false);
	assert_int_equal(queue.bytes, 2 * sizeof(sample) + miss.size);
	assert_ptr_equal(merge_peek(&queue)->miss, copy);
	finished.reason = UNWIND_DEPTH;
	merge_finish(&queue, merge_peek(&queue), xmemdup(&finished, sizeof(finished)));
	assert_int_equal(queue.bytes, 2 * sizeof(sample));
	assert_null(merge_peek(&queue)->miss);
	assert_int_equal(merge_peek(&queue)->sample->reason, UNWIND_DEPTH);
	merge_drop_oldest(&queue);
	assert_int_equal(queue.bytes, sizeof(sample));
	merge_release(&queue);
}

struct tries {
	struct merge_queue *queue;
	uint64_t times[8];
	size_t count, most;
};

/* The one of time 3 is in vain, the others are finished. */
static bool try_again(struct merge_item *item, void *data)
{
	struct tries *tries = data;

	assert_true(item->again);
	tries->times[tries->count++] = item->time_ns;
	if (item->time_ns == 3)
		merge_keep_for_later(tries->queue, item);
	else
		merge_finish(tries->queue, item, xmemdup(item->sample, item->sample->size));
	return tries->count < tries->most;
}

/* As long as there is time, the newest first, each once. */
static void test_again(void **state)
{
	struct merge_queue queue = { 0 };
	struct tries tries = { .queue = &queue, .most = 2 };
	const struct wire_miss miss = { .size = sizeof(miss) };
	uint64_t time_ns = 0;

	(void)state;
	for (uint64_t i = 1; i <= 5; i++) {
		struct wire_sample sample = { .size = sizeof(sample), .time_ns = i };

		merge_push_sample(&queue, &sample, xmemdup(&miss, sizeof(miss)), i != 4);
	}
	merge_walk_again(&queue, try_again, &tries);
	assert_int_equal(tries.count, 2);
	assert_int_equal(tries.times[0], 5);
	assert_int_equal(tries.times[1], 3);
	merge_drop_oldest(&queue);
	assert_int_equal(queue.again_count, 1);
	tries.most = 8;
	merge_walk_again(&queue, try_again, &tries);
	merge_walk_again(&queue, try_again, &tries);
	assert_int_equal(tries.count, 3);
	assert_int_equal(tries.times[2], 2);
	while (queue.heap.len) {
		const struct merge_item *item = merge_peek(&queue);

		assert_true(item->time_ns > time_ns);
		time_ns = item->time_ns;
		/* 3 was tried in vain, 4 need not be */
		assert_int_equal(item->miss != NULL, time_ns == 3 || time_ns == 4);
		merge_drop_oldest(&queue);
	}
	assert_int_equal(queue.bytes, 0);
	merge_release(&queue);
}

/* An exec: what its process was before is known only to the registry. */
static void test_again_until_exec(void **state)
{
	struct merge_queue queue = { 0 };
	struct tries tries = { .queue = &queue, .most = 8 };
	const struct wire_miss miss = { .size = sizeof(miss) };

	(void)state;
	for (uint32_t i = 1; i <= 5; i++) {
		struct wire_sample sample = { .size = sizeof(sample), .time_ns = i, .tgid = i % 2 };

		merge_push_sample(&queue, &sample, xmemdup(&miss, sizeof(miss)), true);
	}
	merge_keep_process_for_later(&queue, 1);
	merge_walk_again(&queue, try_again, &tries);
	assert_int_equal(tries.count, 2);
	assert_int_equal(tries.times[0], 4);
	assert_int_equal(tries.times[1], 2);
	assert_int_equal(queue.again_count, 0);
	merge_release(&queue);
}

/* Of what is held back, whatever it is. */
static void test_bytes(void **state)
{
	struct merge_queue queue = { 0 };

	(void)state;
	push_side(&queue, 1, "a");
	assert_int_equal(queue.bytes,
			 sizeof(struct side_event) + sizeof("a")); /* a path of 4 kB counts */
	push_sample(&queue, 2, 1);
	assert_int_equal(queue.bytes,
			 sizeof(struct side_event) + sizeof("a") + sizeof(struct wire_sample));
	merge_drop_oldest(&queue);
	assert_int_equal(queue.bytes, sizeof(struct wire_sample));
	merge_release(&queue);
	assert_int_equal(queue.bytes, 0);
}

/* Of many, in any order, each is where it belongs. */
static void test_many(void **state)
{
	struct merge_queue queue = { 0 };
	uint32_t random = 1;
	uint64_t last = 0;

	(void)state;
	for (uint32_t i = 0; i < 3000; i++) {
		random = random * 1103515245 + 12345;
		push_sample(&queue, random >> 16, i);
		if (i % 3 == 2)
			merge_drop_oldest(&queue);
	}
	assert_int_equal(queue.heap.len, 2000);
	while (merge_peek(&queue)) {
		assert_true(merge_peek(&queue)->time_ns >= last);
		last = merge_peek(&queue)->time_ns;
		merge_drop_oldest(&queue);
	}
	merge_release(&queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_side_first),
		cmocka_unit_test(test_copies_name),
		cmocka_unit_test(test_miss),
		cmocka_unit_test(test_released),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_again_until_exec),
	};

	return cmocka_run_group_tests_name("merge", tests, NULL, NULL);
}
