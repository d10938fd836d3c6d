/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The steps of a JVM's code that has no frame size: StubRoutines, the call stub, adapters, vtable
 * and itable stubs, method handle intrinsics (cpu/x86/stubGenerator_x86_64*.cpp,
 * sharedRuntime_x86_64.cpp, vtableStubs_x86_64.cpp). What they call from has a frame pointer's
 * frame; as a leaf they have none, or one word, or that: hotspot/stub_leaf.h.
 */
#ifndef HOSTPROF_BPF_HOTSPOT_STUB_H
#define HOSTPROF_BPF_HOTSPOT_STUB_H

#include "hotspot/stub_adapter.h"

/* Adapters move sp by the arguments, 255 words at most, and leave the caller's in %r13. */
#define STUB_MAX_ARGUMENTS 4096
/* All registers, and what a stub has pushed. */
#define STUB_MAX_SAVED 1024

static inline enum unwind_verdict stub_slot(struct unwind_cursor *c, struct unwind_memory *memory,
					    int slot, wire_u64 *ret_word)
{
	return cursor_load(c, memory, c->fp + (wire_u64)((wire_s64)slot * 8), ret_word);
}

/* The C++ code that called Java gets its registers back; the anchor of older Java frames is known. */
static inline enum unwind_verdict stub_leave_java(struct unwind_cursor *c,
						  struct unwind_memory *memory, wire_u64 *ret_rbx,
						  wire_u64 *ret_r13)
{
	wire_u64 wrapper;

	if (stub_slot(c, memory, WIRE_ENTRY_WRAPPER, &wrapper) ||
	    stub_slot(c, memory, WIRE_ENTRY_RBX, ret_rbx) ||
	    stub_slot(c, memory, WIRE_ENTRY_R13, ret_r13) ||
	    stub_slot(c, memory, WIRE_ENTRY_R15, &c->r15))
		return UNWIND_STOP;
	c->anchor_at = 0;
	c->anchor_own = 0;
	if (c->jvm.wrapper_anchor != WIRE_JVM_ABSENT && cursor_is_user(wrapper))
		c->anchor_at = wrapper + c->jvm.wrapper_anchor;
	return UNWIND_GO_ON;
}

/*
 * The nmethod entry barrier pushes -1 above its frame: generate_method_entry_barrier() in
 * stubGenerator_x86_64.cpp. Is that at AT, with the return address behind it?
 */
static inline bool stub_has_cookie(struct unwind_cursor *c, struct unwind_memory *memory,
				   wire_u64 at)
{
	wire_u64 word, ra;

	return !cursor_load(c, memory, at, &word) && word == ~0ULL &&
	       !cursor_load(c, memory, at + 8, &ra) && blob_owns(c, ra);
}

/*
 * Into a method that is not to be entered any more it does not return: the cookie is where the
 * return address of that method lies now, and its frame is gone (BarrierSetNMethod::deoptimize() in
 * barrierSetNMethod_x86.cpp). That place, of a cookie at AT, or 0.
 */
static inline wire_u64 stub_new_sp(struct unwind_cursor *c, struct unwind_memory *memory,
				   wire_u64 at)
{
	wire_u64 sp, ra;

	if (cursor_load(c, memory, at, &sp) || sp <= at || sp - at > UNWIND_MAX_FRAME_BYTES ||
	    cursor_load(c, memory, sp, &ra))
		return 0;
	return blob_owns(c, ra) ? sp : 0;
}

#ifdef __bpf__

UNWIND_ALONE(wire_u64, stub_new_sp, (struct unwind_cursor * c, wire_u64 at), c, (c, NULL, at), 0)

#define stub_new_sp(c, memory, at) stub_new_sp_alone(c, at)

#endif

static inline bool stub_is_left_barrier(struct unwind_cursor *c, struct unwind_memory *memory,
					struct unwind_rule *rule)
{
	wire_u64 sp = frame_pointer_is_near(c) ? stub_new_sp(c, memory, c->fp + 8) : 0;

	*rule = (struct unwind_rule){ sp + 8, sp, c->fp };
	return sp != 0;
}

/* The frame pointer of a stub that a barrier's frame is within (compiled_is_inner()), or 0. */
static inline wire_u64 stub_outer_fp(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 outer, ra;

	if (!frame_pointer_is_near(c) || !compiled_is_inner(c, memory, &outer) || outer <= c->fp ||
	    outer - c->fp > STUB_MAX_SAVED || cursor_load(c, memory, outer + 8, &ra))
		return 0;
	return compiled_target(c, memory, ra) ? outer : 0;
}

#ifdef __bpf__

UNWIND_ALONE(wire_u64, stub_outer_fp, (struct unwind_cursor * c), c, (c, NULL), 0)

#define stub_outer_fp(c, memory) stub_outer_fp_alone(c)

#endif

static inline bool stub_is_nested(struct unwind_cursor *c, struct unwind_memory *memory,
				  struct unwind_rule *rule)
{
	wire_u64 outer = stub_outer_fp(c, memory);

	*rule = (struct unwind_rule){ outer + 16, outer + 8, outer };
	return outer != 0;
}

static inline bool stub_is_barrier(struct unwind_cursor *c, struct unwind_memory *memory,
				   struct unwind_rule *rule)
{
	if (!frame_pointer_is_near(c) || !stub_has_cookie(c, memory, c->fp + 8))
		return stub_is_left_barrier(c, memory, rule) || stub_is_nested(c, memory, rule);
	*rule = (struct unwind_rule){ c->fp + 24, c->fp + 16, c->fp };
	return true;
}

/*
 * An adapter to the interpreter that calls native code to have its caller call another way
 * (patch_callers_callsite() in sharedRuntime_x86_64.cpp): the return address is where %r13 points.
 * A call leads here, or to a stub that jumps here, or elsewhere already: if not PATCHES, it must.
 */
static inline bool stub_is_adapter(struct unwind_cursor *c, struct unwind_memory *memory,
				   int patches, struct unwind_rule *rule)
{
	wire_u64 ra;

	if (!compiled_is_sender_sp(c, c->r13, STUB_MAX_ARGUMENTS) ||
	    cursor_load(c, memory, c->r13, &ra) || !blob_owns(c, ra))
		return false;
	if (!patches && !compiled_target(c, memory, ra))
		return false;
	*rule = (struct unwind_rule){ .cfa = c->r13 + 8, .ra_at = c->r13 };
	return true;
}

/*
 * Stubs that are jumped to and call on may have no frame (C1's unwind_exception): the return
 * address is where sp points, or above a word of alignment.
 */
static inline void stub_caller_rule(struct unwind_cursor *c, struct unwind_memory *memory,
				    struct unwind_rule *rule)
{
	struct unwind_rule other = { .cfa = c->sp + 8, .ra_at = c->sp };
	wire_u64 ra;

	if (stub_is_barrier(c, memory, rule) ||
	    stub_is_adapter(c, memory, stub_called_patcher(c, memory), rule))
		return;
	*rule = compiled_fp_rule(c);
	if (!cursor_load(c, memory, rule->ra_at, &ra) && compiled_target(c, memory, ra))
		return;
	if (compiled_fits(c, memory, &other)) {
		*rule = other;
		return;
	}
	other = (struct unwind_rule){ .cfa = c->sp + 16, .ra_at = c->sp + 8 };
	if (compiled_fits(c, memory, &other))
		*rule = other;
}

static inline enum unwind_verdict stub_step(struct unwind_cursor *c, struct unwind_memory *memory)
{
	struct unwind_rule rule = compiled_fp_rule(c);
	wire_u64 rbx = 0, r13 = 0;

	if (c->pc == c->jvm.call_stub_return) {
		if (stub_leave_java(c, memory, &rbx, &r13))
			return UNWIND_STOP;
	} else {
		/* It came from the cache, so that the blob is still to be read. */
		if (blob_read(c, memory, c->compiled_seen.blob))
			return UNWIND_STOP;
		stub_caller_rule(c, memory, &rule);
	}
	if (rule.fp_at && !frame_pointer_is_near(c))
		return cursor_stop(c, UNWIND_JAVA_FRAME);
	if (compiled_follow(c, memory, &rule))
		return UNWIND_STOP;
	c->rbx = rbx;
	c->r13 = r13;
	return UNWIND_GO_ON;
}

#ifdef __bpf__

UNWIND_ALONE(enum unwind_verdict, stub_step, (struct unwind_cursor * c), c, (c, NULL), UNWIND_STOP)

#define stub_step(c, memory) (stub_step_alone(c) & UNWIND_STOP)

#endif
#endif
