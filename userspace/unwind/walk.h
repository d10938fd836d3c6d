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
	uint64_t pc;
	uint64_t
		regs[16]; /* by DWARF number: 6 rbp, 7 rsp; a caller's maybe 3, 6, 7, 13, 15 only */
	bool caller;	  /* pc is a caller's, not the thread's own: a walk is gone on with */
	bool linked;	  /* of a caller: struct unwind_cursor's */
	bool guessed;	  /* of a caller: the same */
	bool regs_kept;	  /* of a caller: all of regs are known */
	bool exact;	  /* pc is where the thread is, not where a call returns to */
	bool at_entry;	  /* not of a caller: pc is its function's first instruction */
	uint64_t stack_top, tls;    /* struct unwind_cursor's; 0: not known */
	uint64_t trampoline;	    /* of return probes; 0: none */
	uint32_t max_frames;	    /* 0: WIRE_DEFAULT_USER_FRAMES */
	const struct wire_jvm *jvm; /* borrowed; NULL: no JVM, or not known yet: */
	uint32_t jvm_serial;	    /* wire_space.jvm */
	/* The JavaThread, 0: not known; if has_anchor its sp, pc and fp as they were then. */
	uint64_t thread;
	uint64_t anchor[3];
	bool has_anchor;
	bool has_unpacking; /* what the JavaThread knows of frames that it puts in place is that of the stack's time, too */
	bool has_heap; /* the memory is that of the stack's time: frames in the JVM's heap are read */
	uint64_t
		chunk; /* not 0: the newest chunk of a virtual thread without a carrier, whose frames are all there is */
	/* The process's ranges in the memory's tables; serial 0: none, every frame in a file is missing. */
	uint32_t serial, first, count;
	bool listed; /* all of its code is in them */
};

/* An interpreted frame that a walk has found. */
struct walk_interpreted {
	uint64_t fp;
	uint32_t at; /* where its words begin */
};

struct walk_result {
	enum unwind_reason reason;
	uint32_t frames;
	uint32_t word_count;
	uint64_t words[UNWIND_OUT_WORDS]; /* as in struct wire_sample, leaf first */
	uint32_t interpreted_count;	  /* of those that were found here */
	struct walk_interpreted interpreted[UNWIND_OUT_WORDS / WIRE_INTERPRETED_WORDS];
};

/*
 * A step at a time, so that the caller can make rows that are missing: walk_go_on()
 * returns true when it stopped for that, at walk_missing(); false when RESULT is complete. The
 * words and frames of RESULT grow from what they were at walk_begin() (0, or a part walked in BPF).
 * `interpreted` begins empty.
 */
struct walk {
	struct unwind_cursor cursor;
	struct unwind_memory *memory;
	struct walk_result *result;
	bool is_chunk; /* walk_request.chunk */
};

void walk_begin(struct walk *walk, const struct walk_request *request, struct unwind_memory *memory,
		struct walk_result *result);
bool walk_go_on(struct walk *walk);
/* The address of which the rule is not known. */
uint64_t walk_missing(const struct walk *walk);

#endif
