/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * From the thread's own stack back to the goroutine that was left for it (runtime/asm_amd64.s, morestack, mcall, systemstack and asmcgocall;
 * runtime2.go, g, m and gobuf; Go 1.19 to 1.26). Each writes where the goroutine stands to g.sched. morestack clears %rbp and
 * calls newstack(), which copies the stack or lets another goroutine run; mcall lets one run at once. Then m.curg becomes 0, and soon
 * another one: what follows is the scheduler's time and nobody else's, and its stack begins here, as Go's own tracebacks have it
 * (traceback.go, topofstack()). From 1.21 on frame pointers lead from all but morestack to who called them; but the goroutine that
 * mcall has left runs elsewhere then, and has another stack there; and one that waits for the garbage collector in systemstack may
 * get another. From 1.25 on mcall clears %rbp.
 */
#ifndef HOSTPROF_BPF_NATIVE_GOROUTINE_H
#define HOSTPROF_BPF_NATIVE_GOROUTINE_H

#include "native/frame_pointer.h"

#define GOROUTINE_M	48 /* g.m */
#define GOROUTINE_SCHED 56 /* g.sched: sp, pc */

/* The call leads to the function, or to the few instructions of morestack_noctxt behind it. */
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

/* systemstack's own frame: sched.sp points to it, and goes along where the garbage collector moves the stack meanwhile. */
static inline bool goroutine_read_frame(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 *words = c->context, at = words[GOROUTINE_SP];

	words[GOROUTINE_SP] = at + 16;
	return !memory_read_stack(memory, &words[GOROUTINE_FP], 8, at) &&
	       !memory_read_stack(memory, &words[GOROUTINE_PC], 8, at + 8);
}

static inline bool goroutine_read(struct unwind_cursor *c, struct unwind_memory *memory,
				  wire_u32 bp_slot, wire_u32 left)
{
	wire_u64 *words = c->context;

	if (memory_read_stack(memory, &words[GOROUTINE_SP], 16,
			      words[GOROUTINE_G] + GOROUTINE_SCHED) ||
	    memory_read_stack(memory, &words[GOROUTINE_FP], 8, words[GOROUTINE_G] + 8ULL * bp_slot))
		return false;
	if (left == WIRE_LEFT_BY_SYSTEMSTACK_FRAMED)
		return goroutine_read_frame(c, memory);
	if (left != WIRE_LEFT_BY_SYSTEMSTACK)
		return true;
	/* systemstack and asmcgocall themselves still are on the goroutine's stack (gosave_systemstack_switch), and have no frame. */
	words[GOROUTINE_SP] += 8;
	return !memory_read_stack(memory, &words[GOROUTINE_PC], 8, words[GOROUTINE_SP] - 8);
}

/* Does the call before the goroutine's pc lead to where the walk is? Another's registers were not written there. Uses c->code. */
static inline bool goroutine_called(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 pc = c->context[GOROUTINE_PC], target;

	if (!cursor_is_user(pc))
		return false;
	target = leaf_call_target(c, memory, pc);
	return target && target - c->pc + GOROUTINE_NEAR < 2 * GOROUTINE_NEAR;
}

/* OTHER: one that has not called this function. UNKNOWN: it cannot be read. */
enum goroutine_found { GOROUTINE_FOUND, GOROUTINE_NONE, GOROUTINE_OTHER, GOROUTINE_UNKNOWN };

/* A moment later it is another one, as is what lies on a stack. */
static inline enum goroutine_found goroutine_find(struct unwind_cursor *c,
						  struct unwind_memory *memory, wire_u32 g_slot,
						  wire_u32 curg, wire_u32 bp_slot, wire_u32 left)
{
	if (!goroutine_current(c, memory, g_slot, curg))
		return GOROUTINE_UNKNOWN;
	if (!c->context[GOROUTINE_G])
		return GOROUTINE_NONE;
	if (!goroutine_read(c, memory, bp_slot, left))
		return GOROUTINE_UNKNOWN;
	return goroutine_called(c, memory) ? GOROUTINE_FOUND : GOROUTINE_OTHER;
}

#ifdef __bpf__

UNWIND_ALONE(enum goroutine_found, goroutine_find,
	     (struct unwind_cursor * c, wire_u32 g_slot, wire_u32 curg, wire_u32 bp_slot,
	      wire_u32 left),
	     c, (c, NULL, g_slot, curg, bp_slot, left), GOROUTINE_UNKNOWN)

#define goroutine_find(c, memory, g_slot, curg, bp_slot, left) \
	goroutine_find_alone(c, g_slot, curg, bp_slot, left)

#endif

static inline bool goroutine_is_left_for_good(const struct wire_rule *rule)
{
	return rule->cfa_add == WIRE_LEFT_BY_MCALL || rule->cfa_add == WIRE_LEFT_BY_MCALL_FRAMED;
}

/* Of a thread that has left a goroutine, and knows none, or not which. */
static inline enum unwind_verdict goroutine_without(struct unwind_cursor *c,
						    struct unwind_memory *memory,
						    const struct wire_rule *rule,
						    enum goroutine_found found)
{
	if (rule->cfa_add == WIRE_LEFT_BY_MORESTACK)
		return cursor_stop(c, found == GOROUTINE_NONE ? UNWIND_DONE : UNWIND_NO_START);
	if (goroutine_is_left_for_good(rule) && found != GOROUTINE_UNKNOWN)
		return cursor_stop(c, UNWIND_DONE);
	return rule->cfa_add >= WIRE_LEFT_BY_MCALL_FRAMED ? frame_pointer_follow(c, memory)
							  : frame_pointer_return(c, memory);
}

static inline enum unwind_verdict goroutine_step(struct unwind_cursor *c,
						 struct unwind_memory *memory,
						 const struct wire_rule *rule)
{
	enum goroutine_found found;

	if (rule->kind != WIRE_RULE_GOROUTINE)
		return frame_pointer_switch(c, memory, rule);
	found = goroutine_find(c, memory, rule->ra_slot, (wire_u32)rule->cfa_offset, rule->rbp_slot,
			       (wire_u32)rule->cfa_add);
	if (found != GOROUTINE_FOUND)
		return goroutine_without(c, memory, rule, found);
	return frame_pointer_leave(c, c->context[GOROUTINE_PC], c->context[GOROUTINE_SP],
				   c->context[GOROUTINE_FP]);
}

#endif
