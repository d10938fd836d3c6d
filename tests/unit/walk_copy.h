/* SPDX-License-Identifier: Apache-2.0 */
/* Walks at one go, over copies of memory: for tests, fuzzers and tools. */
#ifndef HOSTPROF_TESTS_WALK_COPY_H
#define HOSTPROF_TESTS_WALK_COPY_H

#include <errno.h>
#include <string.h>

#include "unwind/walk.h"

/* The whole walk; the product makes what is missing on the way. */
static inline void walk_stack(const struct walk_request *request, struct unwind_memory *memory,
			      struct walk_result *ret_result)
{
	struct walk walk;

	ret_result->frames = 0;
	ret_result->word_count = 0;
	walk_begin(&walk, request, memory, ret_result);
	walk_go_on(&walk);
}

/*
 * A copy of some pieces of memory. Reads that are not wholly inside one
 * piece fail.
 */
struct walk_piece {
	uint64_t address;
	size_t len;
	const uint8_t *data; /* borrowed */
};

struct walk_copy {
	const struct walk_piece *pieces; /* borrowed */
	size_t count;
};

static inline int read_copy(const void *data, uint64_t address, void *dst, size_t len)
{
	const struct walk_copy *copy = data;

	for (size_t i = 0; i < copy->count; i++) {
		const struct walk_piece *piece = &copy->pieces[i];

		if (address < piece->address || address - piece->address > piece->len ||
		    len > piece->len - (address - piece->address))
			continue;
		memcpy(dst, piece->data + (address - piece->address), len);
		return 0;
	}
	return -EFAULT;
}

static inline struct unwind_memory walk_memory_of_copy(const struct walk_copy *copy)
{
	return (struct unwind_memory){ .read = read_copy, .data = copy };
}

#endif
