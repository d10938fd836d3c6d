/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * From the thread's own stack back to the goroutine whose stack is to grow (runtime/asm_amd64.s, morestack; runtime2.go,
 * g, m and gobuf; Go 1.19 to 1.26). morestack writes where the goroutine stands to g.sched, clears %rbp and calls
 * newstack(), which copies the stack or lets another goroutine run. Before the latter m.curg becomes 0: what follows is
 * the scheduler's time and nobody else's, and its stack begins here, as Go's own tracebacks have it
 * (traceback.go, topofstack()).
 */
#ifndef HOSTPROF_BPF_NATIVE_GOROUTINE_H
#define HOSTPROF_BPF_NATIVE_GOROUTINE_H

#include "native/frame_pointer.h"

#define GOROUTINE_M	48 /* g.m */
#define GOROUTINE_SCHED 56 /* g.sched: sp, pc */

/* The call of morestack leads to it, or to the few instructions of morestack_noctxt behind it. */
#define GOROUTINE_NEAR 256

/* In the cursor's context[], as a BPF stack is short. */
enum { GOROUTINE_SP, GOROUTINE_PC, GOROUTINE_FP, GOROUTINE_G };

/* The g that the thread runs, 0: none. */
static inline bool goroutine_current(struct unwind_cursor *c, struct unwind_memory *memory,
				     wire_u32 g_slot, wire_u32 curg)
{
	wire_u64 *g = &c->context[GOROUTINE_G];

	return c->tls && !memory_read_stack(memory, g, 8, c->tls - 8ULL * g_slot) &&
	       !memory_read_stack(memory, g, 8, *g + GOROUTINE_M) &&
	       !memory_read_stack(memory, g, 8, *g + curg);
}

static inline bool goroutine_read(struct unwind_cursor *c, struct unwind_memory *memory,
				  wire_u32 bp_slot)
{
	wire_u64 *words = c->context;

	return !memory_read_stack(memory, &words[GOROUTINE_SP], 16,
				  words[GOROUTINE_G] + GOROUTINE_SCHED) &&
	       !memory_read_stack(memory, &words[GOROUTINE_FP], 8,
				  words[GOROUTINE_G] + 8ULL * bp_slot);
}

/* Does the call before the goroutine's pc lead to where the walk is? Another's registers were not written by morestack. Uses c->code. */
static inline bool goroutine_called(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 pc = c->context[GOROUTINE_PC], target;

	if (!cursor_is_user(pc))
		return false;
	target = leaf_call_target(c, memory, pc);
	return target && target - c->pc + GOROUTINE_NEAR < 2 * GOROUTINE_NEAR;
}

/* UNKNOWN: it cannot be read, or is no goroutine that called morestack. */
enum goroutine_found { GOROUTINE_FOUND, GOROUTINE_NONE, GOROUTINE_UNKNOWN };

/* A moment later it is another one, as is what lies on a stack. */
static inline enum goroutine_found goroutine_find(struct unwind_cursor *c,
						  struct unwind_memory *memory, wire_u32 g_slot,
						  wire_u32 curg, wire_u32 bp_slot)
{
	if (!goroutine_current(c, memory, g_slot, curg))
		return GOROUTINE_UNKNOWN;
	if (!c->context[GOROUTINE_G])
		return GOROUTINE_NONE;
	return goroutine_read(c, memory, bp_slot) && goroutine_called(c, memory)
		       ? GOROUTINE_FOUND
		       : GOROUTINE_UNKNOWN;
}

#ifdef __bpf__

UNWIND_ALONE(enum goroutine_found, goroutine_find,
	     (struct unwind_cursor * c, wire_u32 g_slot, wire_u32 curg, wire_u32 bp_slot), c,
	     (c, NULL, g_slot, curg, bp_slot), GOROUTINE_UNKNOWN)

#define goroutine_find(c, memory, g_slot, curg, bp_slot) \
	goroutine_find_alone(c, g_slot, curg, bp_slot)

#endif

static inline enum unwind_verdict goroutine_step(struct unwind_cursor *c,
						 struct unwind_memory *memory,
						 const struct wire_rule *rule)
{
	enum goroutine_found found = GOROUTINE_NONE;

	if (rule->kind == WIRE_RULE_GOROUTINE)
		found = goroutine_find(c, memory, rule->ra_slot, (wire_u32)rule->cfa_offset,
				       rule->rbp_slot);
	if (found == GOROUTINE_NONE)
		return frame_pointer_switch(c, memory, rule);
	if (found != GOROUTINE_FOUND)
		return cursor_stop(c, UNWIND_NO_START);
	return frame_pointer_leave(c, c->context[GOROUTINE_PC], c->context[GOROUTINE_SP],
				   c->context[GOROUTINE_FP]);
}

#endif
