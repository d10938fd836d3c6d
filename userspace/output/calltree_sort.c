/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multikey quicksort (Bentley and Sedgewick, "Fast algorithms for sorting and searching strings",
 * 1997): split by the label at one depth into less, equal, greater; only "equal" goes one deeper.
 * Stacks share long prefixes, so what a range has in common is skipped in one pass over it.
 */
#include "output/calltree_sort.h"

/* Below this an insertion sort needs fewer comparisons than the bookkeeping of a split. */
#define SMALL_RANGE 8

struct range {
	size_t begin, end;
	uint32_t depth; /* labels that all keys of the range have in common */
};

struct sorter {
	const struct calltree_keys *keys;
	struct calltree_key *items;
	VEC(struct range) todo;
};

static void swap_keys(struct calltree_key *a, struct calltree_key *b)
{
	struct calltree_key temp = *a;

	*a = *b;
	*b = temp;
}

static bool key_less(const struct calltree_keys *keys, const struct calltree_key *a,
		     const struct calltree_key *b, uint32_t depth)
{
	depth = calltree_key_common(keys, a, b, depth);
	return calltree_key_label(keys, a, depth) < calltree_key_label(keys, b, depth);
}

static void sort_small(struct sorter *s, const struct range *r)
{
	for (size_t i = r->begin + 1; i < r->end; i++) {
		struct calltree_key key = s->items[i];
		size_t at = i;

		for (; at > r->begin && key_less(s->keys, &key, &s->items[at - 1], r->depth); at--)
			s->items[at] = s->items[at - 1];
		s->items[at] = key;
	}
}

static uint32_t common_depth(const struct sorter *s, const struct range *r)
{
	const struct calltree_key *first = &s->items[r->begin];
	uint32_t common = calltree_key_len(s->keys, first);

	for (size_t i = r->begin + 1; i < r->end && common > r->depth; i++) {
		uint32_t here = calltree_key_common(s->keys, first, &s->items[i], r->depth);

		common = MIN(common, here);
	}
	return common;
}

static uint32_t median(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t low = MIN(a, b), high = MAX(a, b);

	return MAX(low, MIN(high, c));
}

static uint32_t choose_pivot(const struct sorter *s, const struct range *r)
{
	const struct calltree_key *items = s->items;
	size_t middle = r->begin + (r->end - r->begin) / 2;

	return median(calltree_key_label(s->keys, &items[r->begin], r->depth),
		      calltree_key_label(s->keys, &items[middle], r->depth),
		      calltree_key_label(s->keys, &items[r->end - 1], r->depth));
}

/* Split [begin, end) into less, equal and greater, and queue the parts. */
static void split(struct sorter *s, const struct range *r)
{
	uint32_t pivot = choose_pivot(s, r);
	size_t less = r->begin, at = r->begin, greater = r->end;

	while (at < greater) {
		uint32_t label = calltree_key_label(s->keys, &s->items[at], r->depth);

		if (label < pivot)
			swap_keys(&s->items[less++], &s->items[at++]);
		else if (label > pivot)
			swap_keys(&s->items[at], &s->items[--greater]);
		else
			at++;
	}
	vec_push(&s->todo, ((struct range){ r->begin, less, r->depth }));
	vec_push(&s->todo, ((struct range){ greater, r->end, r->depth }));
	if (pivot) /* 0: these keys end here, so they are equal */
		vec_push(&s->todo, ((struct range){ less, greater, r->depth + 1 }));
}

void calltree_sort(struct calltree_keys *keys)
{
	struct sorter s = { keys, keys->keys.items, VEC_INIT };

	vec_push(&s.todo, ((struct range){ 0, keys->keys.len, 0 }));
	while (s.todo.len) {
		struct range r = s.todo.items[--s.todo.len];

		if (r.end - r.begin <= SMALL_RANGE) {
			sort_small(&s, &r);
			continue;
		}
		r.depth = common_depth(&s, &r);
		split(&s, &r);
	}
	vec_release(&s.todo);
}
