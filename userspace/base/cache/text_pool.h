/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that many entries of a cache share: each is kept once, for as long as somebody refers to it. */
#ifndef HOSTPROF_BASE_CACHE_TEXT_POOL_H
#define HOSTPROF_BASE_CACHE_TEXT_POOL_H

#include "base/hmap.h"

struct text_pool {
	struct hmap texts; /* by its hash or a number near it; owned */
	size_t bytes;	   /* of all texts, with what keeping them costs */
};

/* One of zeros is empty; so is one that was released, whoever still referred to its texts. */
void text_pool_release(struct text_pool *pool);

/* A text equal to TEXT; it stays until text_pool_unref() was called for it as often. */
const char *text_pool_ref(struct text_pool *pool, const char *text);
/* One more of TEXT, which a pool gave out. */
void text_pool_ref_again(const char *text);
bool text_pool_has(const struct text_pool *pool, const char *text);
/* TEXT: one that this pool gave out, or NULL. */
void text_pool_unref(struct text_pool *pool, const char *text);

#endif
