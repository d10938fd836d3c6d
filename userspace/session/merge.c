/* SPDX-License-Identifier: Apache-2.0 */
#include "session/merge.h"

#include <stdlib.h>
#include <string.h>

static uint64_t item_bytes(const struct merge_item *item)
{
	if (!item->sample)
		return sizeof(*item->side) + strlen(item->side->name) + 1;
	return item->sample->size + (item->miss ? item->miss->size : 0);
}

/* Of two that arrived at equal times the one of side-band has the lower number. */
#define ORDER_OF_SAMPLES (1ULL << 63)

static bool slot_before(const struct merge_slot *a, const struct merge_slot *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	return a->order < b->order;
}

/* With BYTES of room. */
static struct merge_item *item_new(uint64_t time_ns, size_t bytes)
{
	struct merge_item *item = xmalloc(sizeof(*item) + bytes);

	*item = (struct merge_item){ .time_ns = time_ns };
	return item;
}

static void item_free_sample(struct merge_item *item)
{
	if ((char *)item->sample != item->room)
		free(item->sample);
}

static void item_free(struct merge_item *item)
{
	item_free_sample(item);
	free(item->miss);
	free(item);
}

static struct merge_item *push(struct merge_queue *queue, struct merge_item *item)
{
	uint64_t class = item->side ? 0 : ORDER_OF_SAMPLES;
	struct merge_slot slot = { item->time_ns, class | queue->next_seq++, item };
	size_t at = queue->heap.len;

	queue->bytes += item_bytes(item);
	queue->again_count += item->again;
	vec_push(&queue->heap, slot);
	while (at > 0 && slot_before(&slot, &queue->heap.items[(at - 1) / 2])) {
		queue->heap.items[at] = queue->heap.items[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	queue->heap.items[at] = slot;
	return item;
}

void merge_push_side(struct merge_queue *queue, const struct side_event *event)
{
	const char *name = event->name ? event->name : "";
	size_t len = strlen(name) + 1;
	struct merge_item *item = item_new(event->time_ns, sizeof(*event) + len);
	char *text = item->room + sizeof(*event);

	item->side = (void *)item->room;
	*item->side = *event;
	item->side->name = memcpy(text, name, len);
	push(queue, item);
}

struct merge_item *merge_push_sample(struct merge_queue *queue, const struct wire_sample *sample,
				     struct wire_miss *miss, bool again)
{
	return merge_push_wait(queue, sample, miss, again, NULL);
}

struct merge_item *merge_push_wait(struct merge_queue *queue, const struct wire_sample *sample,
				   struct wire_miss *miss, bool again,
				   const struct merge_wait *wait)
{
	uint64_t length_ns = wait ? wait->length_ns : 0;
	struct merge_item *item = item_new(sample->time_ns + length_ns, sample->size);

	item->sample = memcpy(item->room, sample, sample->size);
	item->miss = miss;
	item->again = again;
	if (wait)
		item->wait = *wait;
	return push(queue, item);
}

struct merge_item *merge_peek(const struct merge_queue *queue)
{
	return queue->heap.len ? queue->heap.items[0].item : NULL;
}

void merge_keep_for_later(struct merge_queue *queue, struct merge_item *item)
{
	queue->again_count -= item->again;
	item->again = false;
}

void merge_keep_process_for_later(struct merge_queue *queue, uint32_t tgid)
{
	struct merge_slot *slot;

	if (!queue->again_count)
		return;
	vec_for_each (slot, &queue->heap)
		if (slot->item->again && slot->item->sample->tgid == tgid)
			merge_keep_for_later(queue, slot->item);
}

void merge_finish(struct merge_queue *queue, struct merge_item *item, struct wire_sample *sample)
{
	merge_keep_for_later(queue, item);
	queue->bytes -= item_bytes(item);
	item_free_sample(item);
	free(TAKE_PTR(item->miss));
	item->sample = sample;
	queue->bytes += item_bytes(item);
}

void merge_forget_miss(struct merge_queue *queue, struct merge_item *item)
{
	merge_keep_for_later(queue, item);
	queue->bytes -= item_bytes(item);
	free(TAKE_PTR(item->miss));
	queue->bytes += item_bytes(item);
}

static int newest_first(const void *left, const void *right)
{
	const struct merge_item *a = *(struct merge_item *const *)left;
	const struct merge_item *b = *(struct merge_item *const *)right;

	return a->time_ns != b->time_ns ? (a->time_ns < b->time_ns ? 1 : -1) : 0;
}

void merge_walk_again(struct merge_queue *queue, bool (*fn)(struct merge_item *item, void *data),
		      void *data)
{
	VEC(struct merge_item *) items = VEC_INIT;
	struct merge_slot *slot;

	if (!queue->again_count)
		return;
	vec_for_each (slot, &queue->heap)
		if (slot->item->again)
			vec_push(&items, slot->item);
	if (items.items) /* there are, says again_count */
		qsort(items.items, items.len, sizeof(*items.items), newest_first);
	for (size_t i = 0; i < items.len && fn(items.items[i], data); i++)
		;
	vec_release(&items);
}

void merge_drop_oldest(struct merge_queue *queue)
{
	struct merge_slot *heap = queue->heap.items;
	struct merge_item *top = heap[0].item;
	struct merge_slot last = heap[--queue->heap.len];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= queue->heap.len)
			break;
		if (child + 1 < queue->heap.len && slot_before(&heap[child + 1], &heap[child]))
			child++;
		if (!slot_before(&heap[child], &last))
			break;
		heap[at] = heap[child];
		at = child;
	}
	if (queue->heap.len)
		heap[at] = last;
	queue->bytes -= item_bytes(top);
	queue->again_count -= top->again;
	item_free(top);
}

void merge_release(struct merge_queue *queue)
{
	for (size_t i = 0; i < queue->heap.len; i++)
		item_free(queue->heap.items[i].item);
	vec_release(&queue->heap);
	queue->bytes = 0;
	queue->again_count = 0;
}
