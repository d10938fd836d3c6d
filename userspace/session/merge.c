/* SPDX-License-Identifier: Apache-2.0 */
#include "session/merge.h"

#include <stdlib.h>
#include <string.h>

static uint64_t item_bytes(const struct merge_item *item)
{
	if (!item->sample)
		return sizeof(*item->side);
	return item->sample->size + (item->miss ? item->miss->size : 0);
}

static bool item_before(const struct merge_item *a, const struct merge_item *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	if (!a->side != !b->side)
		return a->side != NULL;
	return a->seq < b->seq;
}

static struct merge_item *push(struct merge_queue *queue, struct merge_item item)
{
	size_t at = queue->heap.len;

	item.seq = queue->next_seq++;
	queue->bytes += item_bytes(&item);
	queue->again_count += item.again;
	vec_push(&queue->heap, item);
	while (at > 0 && item_before(&item, &queue->heap.items[(at - 1) / 2])) {
		queue->heap.items[at] = queue->heap.items[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	queue->heap.items[at] = item;
	return &queue->heap.items[at];
}

void merge_push_side(struct merge_queue *queue, const struct side_event *event)
{
	const char *name = event->name ? event->name : "";
	size_t len = strlen(name) + 1;
	struct side_event *copy = xmalloc(sizeof(*copy) + len);
	char *text = (char *)(copy + 1);

	*copy = *event;
	memcpy(text, name, len);
	copy->name = text;
	push(queue, (struct merge_item){ .time_ns = event->time_ns, .side = copy });
}

struct merge_item *merge_push_owned(struct merge_queue *queue, struct wire_sample *sample,
				    struct wire_miss *miss, bool again)
{
	return push(queue, (struct merge_item){ .time_ns = sample->time_ns,
						.sample = sample,
						.miss = miss,
						.again = again });
}

struct merge_item *merge_peek(const struct merge_queue *queue)
{
	return queue->heap.len ? &queue->heap.items[0] : NULL;
}

void merge_keep_for_later(struct merge_queue *queue, struct merge_item *item)
{
	queue->again_count -= item->again;
	item->again = false;
}

void merge_keep_process_for_later(struct merge_queue *queue, uint32_t tgid)
{
	struct merge_item *item;

	if (!queue->again_count)
		return;
	vec_for_each (item, &queue->heap)
		if (item->again && item->sample->tgid == tgid)
			merge_keep_for_later(queue, item);
}

void merge_finish(struct merge_queue *queue, struct merge_item *item, struct wire_sample *sample)
{
	merge_keep_for_later(queue, item);
	queue->bytes -= item_bytes(item);
	free(item->sample);
	free(TAKE_PTR(item->miss));
	item->sample = sample;
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
	struct merge_item *item;

	if (!queue->again_count)
		return;
	vec_for_each (item, &queue->heap)
		if (item->again)
			vec_push(&items, item);
	if (items.items) /* there are, says again_count */
		qsort(items.items, items.len, sizeof(*items.items), newest_first);
	for (size_t i = 0; i < items.len && fn(items.items[i], data); i++)
		;
	vec_release(&items);
}

struct merge_item merge_pop(struct merge_queue *queue)
{
	struct merge_item *heap = queue->heap.items;
	struct merge_item top = heap[0];
	struct merge_item last = heap[--queue->heap.len];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= queue->heap.len)
			break;
		if (child + 1 < queue->heap.len && item_before(&heap[child + 1], &heap[child]))
			child++;
		if (!item_before(&heap[child], &last))
			break;
		heap[at] = heap[child];
		at = child;
	}
	if (queue->heap.len)
		heap[at] = last;
	queue->bytes -= item_bytes(&top);
	queue->again_count -= top.again;
	return top;
}

void merge_item_release(struct merge_item *item)
{
	free(item->side);
	free(item->sample);
	free(item->miss);
	*item = (struct merge_item){ 0 };
}

void merge_release(struct merge_queue *queue)
{
	for (size_t i = 0; i < queue->heap.len; i++)
		merge_item_release(&queue->heap.items[i]);
	vec_release(&queue->heap);
	queue->bytes = 0;
	queue->again_count = 0;
}
