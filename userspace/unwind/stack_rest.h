/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies above the stack copy of a miss, from the process as it is now. Frames above a point of
 * a stack change only after those at that point have returned; so where the words at the copy's end
 * are still the same, and the call that crosses it is, the rest is that of the sample.
 */
#ifndef HOSTPROF_UNWIND_STACK_REST_H
#define HOSTPROF_UNWIND_STACK_REST_H

#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "wire.h"

/* So much of the copy's end is compared; less does not tell whether the stack is the same. */
#define STACK_REST_COMPARED 512

struct stack_rest;

struct stack_rest *stack_rest_new(void);
void stack_rest_free(struct stack_rest *rest);
DEFINE_CLEANUP(struct stack_rest *, stack_rest_free);
/* Another walk. */
void stack_rest_drop(struct stack_rest *rest);

/*
 * Read words above MISS's copy of a process that still runs the same program; SP: the stack pointer
 * of the frame that they belong to. 0, or -ENOENT: they are not those of the sample. Asks the
 * process once in a walk.
 */
int stack_rest_read(struct stack_rest *rest, const struct wire_miss *miss, uint64_t sp,
		    uint64_t address, void *dst, size_t len);

/* Walks that went on in it, since the beginning. */
uint64_t stack_rest_count(const struct stack_rest *rest);

#endif
