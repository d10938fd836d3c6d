/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step functions of bpf/unwind.h seated in userspace: the same walk as at sample time, on a
 * copy of a stack.
 */
#ifndef HOSTPROF_UNWIND_WALK_H
#define HOSTPROF_UNWIND_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "unwind.h"

struct walk_request {
	uint64_t pc, sp, fp;
	uint64_t r13;		    /* x86-64: HotSpot's bytecode pointer, of the leaf */
	bool exact;		    /* pc is where the thread is, not where a call returns to */
	uint32_t max_frames;	    /* 0: WIRE_DEFAULT_USER_FRAMES */
	const struct wire_jvm *jvm; /* borrowed; NULL: no JVM */
};

struct walk_result {
	enum unwind_reason reason;
	uint32_t frames;
	uint32_t word_count;
	uint64_t words[UNWIND_OUT_WORDS]; /* as in struct wire_sample, leaf first */
};

void walk_stack(const struct walk_request *request, struct unwind_memory *memory,
		struct walk_result *ret_result);

/* A copy of some pieces of memory. Reads that are not wholly inside one piece fail. */
struct walk_piece {
	uint64_t address;
	size_t len;
	const uint8_t *data; /* borrowed */
};

struct walk_copy {
	const struct walk_piece *pieces; /* borrowed */
	size_t count;
};

struct unwind_memory walk_memory_of_copy(const struct walk_copy *copy);

#endif
