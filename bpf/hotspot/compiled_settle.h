/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * A compiled frame that native code returns to may lie above registers that were saved for the
 * call: the code behind the call says how far.
 */
#ifndef HOSTPROF_BPF_HOTSPOT_COMPILED_SETTLE_H
#define HOSTPROF_BPF_HOTSPOT_COMPILED_SETTLE_H

#include "hotspot/compiled_saved.h"

/* Arguments that a native wrapper saves: six registers, eight of floating point, alignment. */
#define COMPILED_MAX_ALIGNED 256
#define COMPILED_ALIGN_SP    0xf0e48348 /* and $-16,%rsp */

/* Compiled code leaves %rbp as it was: the frame pointer of an older interpreted frame, say. */
static inline bool compiled_fp_is_interpreted(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 slot = c->fp + (wire_u64)(c->jvm.sender_sp_slot * 8LL), sender;

	return !cursor_load(c, memory, slot, &sender) && sender >= c->fp + 16 &&
	       sender - c->fp < UNWIND_MAX_FRAME_BYTES;
}

/* and $-16,%rsp at c->text + AT? */
static inline bool compiled_aligns(const struct unwind_cursor *c, wire_u32 at)
{
	return leaf_u32(c->text + at) == COMPILED_ALIGN_SP;
}

#ifdef __bpf__

UNWIND_ALONE_AT(bool, compiled_aligns, 0, UNWIND_TEXT_BEHIND, false)

#define compiled_aligns(c, at) compiled_aligns_alone(c, at)

#endif

/* Was sp aligned for the call before pc? Uses c->text. */
static inline bool compiled_was_aligned(struct unwind_cursor *c, struct unwind_memory *memory)
{
	if (compiled_read_text(c, memory))
		return false;
	for (wire_u32 at = 0; at < UNWIND_TEXT_BEHIND - 4; at++)
		if (compiled_aligns(c, at))
			return true;
	return false;
}

#ifdef __bpf__

UNWIND_ALONE(bool, compiled_was_aligned, (struct unwind_cursor * c), c, (c, NULL), false)

#define compiled_was_aligned(c, memory) compiled_was_aligned_alone(c)

#endif

/*
 * May %rbp be that of the frame that begins LOWERED bytes above sp? Of the blobs that never say where
 * their frame is complete those set it that align sp; C2's stubs of the runtime (generate_stub() in
 * share/opto/runtime.cpp) leave it as it was. The deoptimisation blob's lies below interpreted frames,
 * which are not aligned.
 */
static inline bool compiled_fp_fits(struct unwind_cursor *c, struct unwind_memory *memory,
				    wire_u32 lowered)
{
	wire_u64 ra;

	if (blob_frame_complete(c) < 0)
		return !cursor_load(c, memory, c->fp + 8, &ra) && blob_owns(c, ra) &&
		       compiled_was_aligned(c, memory);
	return !compiled_fp_is_interpreted(c, memory) && compiled_is_lowered(c, memory, lowered);
}

/*
 * How far above sp a frame begins that %rbp says: of blobs that align sp for a call
 * (generate_deopt_blob(), generate_uncommon_trap_blob() in sharedRuntime_x86_64.cpp, call_RT() in
 * c1_Runtime1_x86.cpp), of native wrappers that save their arguments for one (save_args()).
 */
static inline wire_u32 compiled_lowered_by_fp(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 lowered = c->fp + 16 - 8ULL * c->compiled_seen.frame_size - c->sp;

	if ((lowered & 7) || lowered > COMPILED_MAX_ALIGNED ||
	    !compiled_fp_fits(c, memory, (wire_u32)lowered))
		return 0;
	return (wire_u32)lowered;
}

/* Does the frame begin at sp beyond doubt? Its frame pointer, or the call of this code, say so. */
static inline bool compiled_is_settled(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 end = c->sp + 8ULL * c->compiled_seen.frame_size, ra;

	return c->fp + 16 == end ||
	       (!cursor_load(c, memory, end - 8, &ra) && compiled_target(c, memory, ra));
}

/*
 * A compiled frame that native code returns to, and that may begin above sp. Puts sp to where it
 * does.
 */
static inline enum unwind_verdict compiled_settle(struct unwind_cursor *c,
						  struct unwind_memory *memory)
{
	wire_u32 lowered = 0;
	int fits;

	if (blob_read(c, memory, c->compiled_seen.blob))
		return UNWIND_STOP;
	fits = compiled_is_lowered(c, memory, 0);
	if (!fits || blob_frame_complete(c) < 0)
		lowered = compiled_lowered_by_fp(c, memory);
	if (!lowered && fits && compiled_is_settled(c, memory))
		return UNWIND_GO_ON;
	if (!lowered)
		lowered = compiled_saved_bytes(c, memory);
	c->sp += lowered;
	return UNWIND_GO_ON;
}

#ifdef __bpf__

UNWIND_ALONE(enum unwind_verdict, compiled_settle, (struct unwind_cursor * c), c, (c, NULL),
	     UNWIND_STOP)

#define compiled_settle(c, memory) (compiled_settle_alone(c) & UNWIND_STOP)

#endif

#endif
