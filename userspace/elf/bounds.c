// SPDX-License-Identifier: Apache-2.0
#include "elf/bounds.h"

#include <stdlib.h>

/* Nobody's text is so high; what is added to a base has room above it. */
#define MAX_ADDRESS (UINT64_MAX - 2ULL * UINT32_MAX)

void bounds_add(struct bounds *bounds, uint64_t start, uint64_t end)
{
	if (end <= start || start > MAX_ADDRESS)
		return;
	/* Text below the first one may come later. */
	if (bounds->v.len == 0)
		bounds->base = start > INT32_MAX ? start - INT32_MAX : 0;
	if (start < bounds->base || start - bounds->base > UINT32_MAX)
		return;
	vec_push(&bounds->v, ((struct bound){ (uint32_t)(start - bounds->base),
					      (uint32_t)MIN(end - start, UINT32_MAX) }));
}

static int compare_bounds(const void *a, const void *b)
{
	const struct bound *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->size > y->size) - (x->size < y->size);
}

void bounds_end(struct bounds *bounds)
{
	struct bound *items = bounds->v.items;
	size_t kept = 0;

	if (bounds->v.len)
		qsort(items, bounds->v.len, sizeof(*items), compare_bounds);
	for (size_t i = 0; i < bounds->v.len; i++) {
		/* Of two that begin together the longer one, which comes later. */
		if (kept && items[kept - 1].start == items[i].start)
			kept--;
		else if (kept)
			items[kept - 1].size =
				MIN(items[kept - 1].size, items[i].start - items[kept - 1].start);
		items[kept++] = items[i];
	}
	bounds->v.len = kept;
}

void bounds_release(struct bounds *bounds)
{
	vec_release(&bounds->v);
	bounds->base = 0;
}

bool bounds_are_sound(const struct bounds *bounds)
{
	const struct bound *bound;
	uint64_t end = 0;

	if (bounds->base > MAX_ADDRESS)
		return false;
	vec_for_each (bound, &bounds->v) {
		if (bound->size == 0 || bound->start < end)
			return false;
		end = (uint64_t)bound->start + bound->size;
	}
	return true;
}

bool bounds_find(const struct bounds *bounds, uint64_t address, uint64_t *ret_start)
{
	size_t low = 0, high = bounds->v.len;
	const struct bound *bound;

	if (address < bounds->base)
		return false;
	address -= bounds->base;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (bounds->v.items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	bound = &bounds->v.items[low - 1];
	if (address - bound->start >= bound->size)
		return false;
	*ret_start = bounds->base + bound->start;
	return true;
}
