// SPDX-License-Identifier: Apache-2.0
#include "capture/rings/record_queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "capture/rings/record_check.h"
#include "wire.h"

/* A queue that had to be larger is not kept. */
#define KEPT_BYTES (1U * 1024 * 1024)
/* A copy that is smaller is quickly kept. */
#define LEAST_BYTES (16U * 1024)
/* What is compared at once. */
#define STEP_BYTES 512U

/* Before each record's own bytes, which are padded to 8. */
struct entry {
	uint32_t len;	     /* of the whole record */
	uint32_t shared;     /* so many of its bytes are others' */
	uint32_t shared_end; /* where those end in the queue */
	uint32_t behind;     /* so many of its own stand behind them: what was copied of the heap */
};

static size_t padded(size_t len)
{
	return (len + 7) & ~(size_t)7;
}

/* --- stacks that end alike --- */

static struct queued_stack *stack_of(struct record_queue *queue, const struct wire_miss *miss)
{
	return &queue->stacks[miss->tid % RECORD_QUEUE_THREADS];
}

/* How many of MOST bytes before both ends are the same. */
static size_t same_end(const uint8_t *a_end, const uint8_t *b_end, size_t most)
{
	size_t len = 0;

	while (most - len >= STEP_BYTES &&
	       memcmp(a_end - len - STEP_BYTES, b_end - len - STEP_BYTES, STEP_BYTES) == 0)
		len += STEP_BYTES;
	return len;
}

/* Of MISS's copy so much is that of the thread's stack that is known; little is not worth a search of its own. */
static size_t find_shared(struct record_queue *queue, const struct wire_miss *miss)
{
	const struct queued_stack *known = stack_of(queue, miss);
	size_t len;

	if (known->tid != miss->tid || known->top != miss->copy_at + miss->copy_bytes)
		return 0;
	len = same_end(queue->data + known->end, miss->copy + miss->copy_bytes,
		       MIN(known->len, miss->copy_bytes));
	return len >= miss->copy_bytes / 2 ? len : 0;
}

/* Of a miss: where its copy of the stack ends. */
static size_t copy_end(const struct wire_miss *miss)
{
	return sizeof(*miss) + miss->copy_bytes;
}

static bool is_large_miss(const void *record, size_t len)
{
	const struct wire_miss *miss = record;

	return miss_check(record, len) == 0 && miss->copy_bytes >= LEAST_BYTES;
}

/* --- the queue --- */

static void push(struct record_queue *queue, const struct entry *entry, const void *record)
{
	const uint8_t *bytes = record;
	size_t own = entry->len - entry->shared, len = queue->len, before = own - entry->behind;
	uint8_t *to;

	queue->data = vec_grow(queue->data, &queue->room, len + sizeof(*entry) + padded(own), 1);
	to = queue->data + len;
	memcpy(to, entry, sizeof(*entry));
	memcpy(to + sizeof(*entry), bytes, before);
	memcpy(to + sizeof(*entry) + before, bytes + before + entry->shared, entry->behind);
	queue->len = len + sizeof(*entry) + padded(own);
}

static void push_miss(struct record_queue *queue, const struct wire_miss *miss, size_t len)
{
	struct queued_stack *stack = stack_of(queue, miss);
	struct entry entry = { .len = (uint32_t)len, .shared = (uint32_t)find_shared(queue, miss) };
	size_t at = queue->len;

	if (entry.shared) {
		entry.shared_end = (uint32_t)stack->end;
		entry.behind = (uint32_t)(len - copy_end(miss));
	}
	push(queue, &entry, miss);
	if (!entry.shared)
		*stack = (struct queued_stack){ .tid = miss->tid,
						.top = miss->copy_at + miss->copy_bytes,
						.end = at + sizeof(entry) + copy_end(miss),
						.len = miss->copy_bytes };
}

void record_queue_push(struct record_queue *queue, const void *record, size_t len)
{
	const struct entry entry = { .len = (uint32_t)len };

	if (is_large_miss(record, len))
		push_miss(queue, record, len);
	else
		push(queue, &entry, record);
}

void record_queue_give(const struct record_queue *queue,
		       void (*fn)(const void *record, size_t len, void *data), void *data)
{
	_cleanup_free_ uint8_t *whole = NULL;
	size_t room = 0, own, before;

	for (size_t at = 0; at < queue->len; at += sizeof(struct entry) + padded(own)) {
		const uint8_t *record = queue->data + at + sizeof(struct entry);
		struct entry entry;

		memcpy(&entry, queue->data + at, sizeof(entry));
		own = entry.len - entry.shared;
		if (entry.shared) {
			before = own - entry.behind;
			whole = vec_grow(whole, &room, entry.len, 1);
			memcpy(whole, record, before);
			memcpy(whole + before, queue->data + entry.shared_end - entry.shared,
			       entry.shared);
			memcpy(whole + before + entry.shared, record + before, entry.behind);
			record = whole;
		}
		fn(record, entry.len, data);
	}
}

void record_queue_clear(struct record_queue *queue)
{
	queue->len = 0;
	memset(queue->stacks, 0, sizeof(queue->stacks));
	if (queue->room > KEPT_BYTES)
		record_queue_release(queue);
}

void record_queue_release(struct record_queue *queue)
{
	free(queue->data);
	*queue = (struct record_queue){ 0 };
}
