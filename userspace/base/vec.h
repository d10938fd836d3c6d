/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A typed growing array: `VEC(struct row) rows = VEC_INIT;`, `vec_push(&rows, row)`. Elements are
 * rows.items[0 .. rows.len-1]; pointers to them are good until the next push.
 */
#ifndef HOSTPROF_BASE_VEC_H
#define HOSTPROF_BASE_VEC_H

#include <string.h>

#include "base/alloc.h"
#include "base/macros.h"

#define VEC(type)            \
	struct {             \
		type *items; \
		size_t len;  \
		size_t cap;  \
	}
#define VEC_INIT           \
	{                  \
		NULL, 0, 0 \
	}

/* Room for NEED elements of SIZE bytes: ITEMS itself, or where they were moved to. */
static inline void *vec_grow(void *items, size_t *cap, size_t need, size_t size)
{
	if (need <= *cap)
		return items;
	*cap = MAX(need, *cap ? *cap * 2 : 8);
	return xrealloc(items, *cap * size);
}

#define vec_reserve(v, n) ((v)->items = vec_grow((v)->items, &(v)->cap, (n), sizeof((v)->items[0])))

#define vec_push(v, item)                        \
	do {                                     \
		vec_reserve(v, (v)->len + 1);    \
		(v)->items[(v)->len++] = (item); \
	} while (0)

/* Insert ITEM before index AT (AT <= len). */
#define vec_insert(v, at, item)                                         \
	do {                                                            \
		size_t vec_at_ = (at);                                  \
		vec_reserve(v, (v)->len + 1);                           \
		memmove(&(v)->items[vec_at_ + 1], &(v)->items[vec_at_], \
			((v)->len - vec_at_) * sizeof((v)->items[0]));  \
		(v)->items[vec_at_] = (item);                           \
		(v)->len++;                                             \
	} while (0)

/* Remove N elements from index AT on. */
#define vec_remove(v, at, n)                                                    \
	do {                                                                    \
		size_t vec_at_ = (at), vec_n_ = (n);                            \
		memmove(&(v)->items[vec_at_], &(v)->items[vec_at_ + vec_n_],    \
			((v)->len - vec_at_ - vec_n_) * sizeof((v)->items[0])); \
		(v)->len -= vec_n_;                                             \
	} while (0)

#define vec_release(v)                   \
	do {                             \
		free((v)->items);        \
		(v)->items = NULL;       \
		(v)->len = (v)->cap = 0; \
	} while (0)

#define vec_for_each(p, v) for ((p) = (v)->items; (p) < (v)->items + (v)->len; (p)++)

#endif
