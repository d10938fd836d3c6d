/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stack that is kept by what the processor was seen to do: a call puts a return address on it, a
 * return or a jump there takes it off, a signal puts the interrupted instruction on it. It starts
 * with a stack that other tools gave and needs no knowledge of frames; when something happens that is
 * none of these (a frame that is thrown away or replaced) it ends.
 */
#ifndef HOSTPROF_TESTS_SEEN_CALLS_H
#define HOSTPROF_TESTS_SEEN_CALLS_H

#include "live_walk.h"
#include "witness.h"

struct seen_frame {
	uint64_t address;
	uint64_t slot;	     /* where the return address lies; 0: not known */
	bool is_interrupted; /* by a signal: no return address */
};

struct seen_calls {
	bool valid;
	unsigned int in_air; /* so long the last return address is in a register */
	uint64_t pc;	     /* the leaf */
	struct seen_frame frames[WITNESS_FRAMES]; /* of callers, outermost first */
	size_t count;
	struct seen_frame pushed; /* address and slot, until a jump makes it a call */
};

/* The thread is at REGS, and STACK is right. */
void seen_calls_start(struct seen_calls *seen, const struct live_walk *walk,
		      const struct user_regs_struct *regs, const struct witness_stack *stack);

/* One instruction, or a signal's delivery, led from FROM to TO. */
void seen_calls_step(struct seen_calls *seen, const struct live_walk *walk,
		     const struct user_regs_struct *from, const struct user_regs_struct *to,
		     bool is_signal);

/* Are the return addresses still where they were put? A stack that was changed since is not valid. */
bool seen_calls_check(struct seen_calls *seen, const struct live_walk *walk,
		      const struct user_regs_struct *regs);

size_t seen_calls_count(const struct seen_calls *seen);
/* Leaf first. */
uint64_t seen_calls_address(const struct seen_calls *seen, size_t i);

#endif
