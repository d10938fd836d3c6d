// SPDX-License-Identifier: Apache-2.0
#include "elf/infer/infer_gaps.h"

#include <stdlib.h>

/* Records are found for so much text at once: not more of it than fde_index_find() gives. */
#define STRIDE (64U << 10)

static int compare_gaps(const void *a, const void *b)
{
	const struct infer_gap *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void add_described(struct cfi_layer *layer, uint64_t start, uint64_t end,
			  struct infer_gaps *described)
{
	const struct fde_place *place;
	struct cfi_fde fde;

	fde_index_find(&layer->index, start, end, &layer->places);
	vec_for_each (place, &layer->places.v)
		if (cfi_section_fde(&layer->section, place->offset, &fde) == 0 && fde.end > start &&
		    fde.start < end)
			vec_push(&described->v, ((struct infer_gap){ fde.start, fde.end }));
	cfi_section_trim(&layer->section);
}

static void add_gap(struct infer_gaps *gaps, uint64_t start, uint64_t end)
{
	struct infer_gap *last = gaps->v.len ? &gaps->v.items[gaps->v.len - 1] : NULL;

	if (last && last->end == start)
		last->end = end;
	else if (end > start)
		vec_push(&gaps->v, ((struct infer_gap){ start, end }));
}

static void find_in(struct cfi_layer *const *layers, size_t count, uint64_t start, uint64_t end,
		    struct infer_gaps *gaps)
{
	struct infer_gaps described = { VEC_INIT };
	const struct infer_gap *it;

	for (size_t i = 0; i < count; i++)
		add_described(layers[i], start, end, &described);
	if (described.v.len)
		qsort(described.v.items, described.v.len, sizeof(described.v.items[0]),
		      compare_gaps);
	vec_for_each (it, &described.v) {
		if (it->start > start)
			add_gap(gaps, start, MIN(it->start, end));
		start = MAX(start, it->end);
	}
	if (start < end)
		add_gap(gaps, start, end);
	vec_release(&described.v);
}

void infer_gaps_find(struct cfi_layer *const *layers, size_t count, uint64_t start, uint64_t end,
		     struct infer_gaps *gaps)
{
	size_t kept = 0;

	gaps->v.len = 0;
	for (uint64_t next; start < end; start = next) {
		next = MIN(end, start + STRIDE);
		find_in(layers, count, start, next, gaps);
	}
	for (size_t i = 0; i < gaps->v.len; i++)
		if (gaps->v.items[i].end - gaps->v.items[i].start >= INFER_LEAST_GAP)
			gaps->v.items[kept++] = gaps->v.items[i];
	gaps->v.len = kept;
}
