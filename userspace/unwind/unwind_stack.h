/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a process that a walk in userspace may read: the stack copy that came with a miss
 * and what is surely unchanged above it, the JavaThread's anchor as it was then, and for all else
 * the process itself while it lives.
 */
#ifndef HOSTPROF_UNWIND_UNWIND_STACK_H
#define HOSTPROF_UNWIND_UNWIND_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/exits/code_exits.h"
#include "unwind/stack_rest.h"
#include "unwind/walk.h"
#include "wire.h"

/*
 * Pages of a process, for one walk: a read of another process takes a microsecond, and a walk of a
 * hundred Java frames makes a thousand, in a few dozen pages.
 */
struct unwind_pages;

struct unwind_pages *unwind_pages_new(void);
void unwind_pages_free(struct unwind_pages *pages);
/* What was read is old. */
void unwind_pages_drop(struct unwind_pages *pages);

struct unwind_stack {
	const struct wire_miss *miss;	    /* borrowed, as is all here */
	const struct unwind_cursor *cursor; /* of the walk */
	struct unwind_pages *pages;
	struct stack_rest *rest;
	struct code_exits *exits;
	bool alive;	     /* the process still runs the same program, and may be read */
	uint64_t *failed_at; /* where the last read of the stack failed; 0: it did not */
};

/* The seam of the step functions; STACK must stay. */
struct unwind_memory unwind_stack_memory(const struct unwind_stack *stack,
					 const struct unwind_tables *tables);

/*
 * Is the interpreted frame at FP, of METHOD, there as it was at the sample? Then so was its method all the time. Read anew, but
 * for pages that were read since unwind_pages_drop().
 */
bool unwind_stack_still_has(const struct unwind_stack *stack, uint64_t fp, uint64_t method);

/* Did the walk end because the copy did? */
bool unwind_stack_ended(const struct unwind_stack *stack);

#endif
