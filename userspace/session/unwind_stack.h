/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a process that a walk in userspace may read: the stack copy that came with a miss. */
#ifndef HOSTPROF_SESSION_UNWIND_STACK_H
#define HOSTPROF_SESSION_UNWIND_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/walk.h"
#include "wire.h"

struct unwind_stack {
	const struct wire_miss *miss; /* borrowed */
	bool alive;		      /* what does not change may be read from the process itself */
	bool changed;		      /* and what does: nobody believes the walk any more */
	uint64_t *failed_at;	      /* borrowed: where the last read failed; 0: it did not */
};

/* The seam of the step functions; STACK must stay. */
struct unwind_memory unwind_stack_memory(const struct unwind_stack *stack,
					 const struct unwind_tables *tables);

/* Did the walk end because the copy did? */
bool unwind_stack_ended(const struct unwind_stack *stack);

#endif
