/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * A compiled frame that native code returns to may lie above registers that were saved for the
 * call: the code behind the call says how far.
 */
#ifndef HOSTPROF_CODE_SETTLE_H
#define HOSTPROF_CODE_SETTLE_H

#include "code_rule.h"

/* All registers with AVX-512 are less. */
#define CODE_MAX_SAVED 8192

/* add $imm,%rsp at c->text + AT, and it is no epilogue's: how much, or 0. */
static inline wire_u32 code_added(const struct unwind_cursor *c, wire_u32 at)
{
	const wire_u8 *p = c->text + at;
	wire_u32 op = leaf_u24(p);

	if (op == CODE_ADD8 && p[4] != LEAF_POP_RBP)
		return p[3];
	if (op != CODE_ADD32 || p[7] == LEAF_POP_RBP || leaf_u32(p + 3) > CODE_MAX_SAVED)
		return 0;
	return leaf_u32(p + 3);
}

#ifdef __bpf__

__attribute__((noinline)) wire_u32 code_added_alone(struct unwind_cursor *c, wire_u32 at)
{
	UNWIND_OPAQUE(at);
	return c && at < UNWIND_TEXT_BYTES - 8 ? code_added(c, at) : 0;
}

#define code_added(c, at) code_added_alone(c, at)

#endif

/* The first such instruction in c->text: where << 16 | how much, or 0. */
static inline wire_u32 code_find_added(struct unwind_cursor *c)
{
	for (wire_u32 at = 0; at < UNWIND_TEXT_BYTES - 8; at++) {
		wire_u32 added = code_added(c, at);

		if (added)
			return at << 16 | (added & 0xffff);
	}
	return 0;
}

#ifdef __bpf__

__attribute__((noinline)) wire_u32 code_find_added_alone(struct unwind_cursor *c)
{
	return c ? code_find_added(c) : 0;
}

#define code_find_added(c) code_find_added_alone(c)

#endif

/* Does the frame begin LOWERED bytes above sp? */
static inline int code_is_lowered(struct unwind_cursor *c, struct unwind_memory *memory,
				  wire_u32 lowered)
{
	wire_u64 end = c->sp + lowered + 8ULL * c->code_seen.frame_size, ra;

	return !unwind_load(c, memory, end - 8, &ra) && blob_owns(c, ra);
}

/*
 * How far above sp a frame begins that %rbp says: of blobs that align sp for a call
 * (generate_deopt_blob(), generate_uncommon_trap_blob() in sharedRuntime_x86_64.cpp, call_RT() in
 * c1_Runtime1_x86.cpp), of native wrappers that save their arguments for one (save_args()).
 */
static inline wire_u32 code_lowered_by_fp(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 lowered = c->fp + 16 - 8ULL * c->code_seen.frame_size - c->sp;

	if ((lowered & 7) || lowered > CODE_MAX_SAVED)
		return 0;
	return code_is_lowered(c, memory, (wire_u32)lowered) ? (wire_u32)lowered : 0;
}

/*
 * A compiled frame that native code returns to: a barrier's stub (SaveLiveRegisters of ZGC and G1)
 * or JDK 8's trigonometry has saved registers below it, and adds that up again behind the call, in
 * two steps at the most. Puts sp to where the frame begins.
 */
static inline int code_settle(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u32 found, lowered;

	if (code_is_lowered(c, memory, 0))
		return UNWIND_GO_ON;
	lowered = code_lowered_by_fp(c, memory);
	if (lowered) {
		c->sp += lowered;
		return UNWIND_GO_ON;
	}
	if (unwind_read(memory, c->text, UNWIND_TEXT_BYTES, c->pc))
		return UNWIND_GO_ON;
	found = code_find_added(c);
	lowered = found & 0xffff;
	if (found && !code_is_lowered(c, memory, lowered) &&
	    !unwind_read(memory, c->text, UNWIND_TEXT_BYTES, c->pc + (found >> 16) + 4))
		lowered += code_find_added(c) & 0xffff;
	if (lowered && code_is_lowered(c, memory, lowered))
		c->sp += lowered;
	return UNWIND_GO_ON;
}

#ifdef __bpf__

__attribute__((noinline)) int code_settle_alone(struct unwind_cursor *c)
{
	return c ? code_settle(c, NULL) : UNWIND_STOP;
}

#define code_settle(c, memory) (code_settle_alone(c) & UNWIND_STOP)

#endif

#endif
