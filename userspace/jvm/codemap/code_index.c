/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/codemap/code_index.h"

void code_index_release(struct code_index *index)
{
	for (size_t i = 0; i < index->slots.len; i++)
		code_entry_free(index->slots.items[i].entry);
	vec_release(&index->slots);
	index->bytes = 0;
}

/* The first slot whose entry starts at STOP or later. */
size_t code_index_seek(const struct code_index *index, uint64_t stop)
{
	size_t low = 0, high = index->slots.len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (index->slots.items[mid].entry->start < stop)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct code_entry *code_index_prev(const struct code_index *index, size_t *at, uint64_t start)
{
	while (*at > 0) {
		const struct code_slot *slot = &index->slots.items[*at - 1];

		if (slot->max_stop <= start)
			break;
		(*at)--;
		if (code_entry_stop(slot->entry) > start)
			return slot->entry;
	}
	*at = 0;
	return NULL;
}

static void update_max_stop(struct code_index *index, size_t from)
{
	for (size_t i = from; i < index->slots.len; i++) {
		struct code_slot *slot = &index->slots.items[i];
		uint64_t before = i ? index->slots.items[i - 1].max_stop : 0;
		uint64_t max_stop = MAX(before, code_entry_stop(slot->entry));

		/* The rest was right for this value already. */
		if (i > from && slot->max_stop == max_stop)
			break;
		slot->max_stop = max_stop;
	}
}

void code_index_add(struct code_index *index, struct code_entry *entry)
{
	struct code_slot slot = { entry, 0 };
	size_t at = code_index_seek(index, entry->start + 1);

	vec_insert(&index->slots, at, slot);
	index->bytes += code_entry_bytes(entry) + sizeof(slot);
	update_max_stop(index, at);
}

void code_index_expire(struct code_index *index, uint64_t horizon_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < index->slots.len; i++) {
		struct code_slot slot = index->slots.items[i];

		if (slot.entry->end_ns < horizon_ns) {
			index->bytes -= code_entry_bytes(slot.entry) + sizeof(slot);
			code_entry_free(slot.entry);
			continue;
		}
		slot.max_stop = MAX(code_entry_stop(slot.entry),
				    kept ? index->slots.items[kept - 1].max_stop : 0);
		index->slots.items[kept++] = slot;
	}
	index->slots.len = kept;
}
