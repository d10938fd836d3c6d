/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Deoptimised frames become interpreted ones in two steps: generate_deopt_blob() in sharedRuntime_x86_64.cpp makes frames of a size and leaves
 * their slots as they were, but for a last sp of 0; Deoptimization::unpack_frames() fills them in, the oldest one first. Until it is through, the
 * thread's vframeArray has the method of each and its place in it, the youngest first (share/runtime/vframeArray.hpp).
 */
#ifndef HOSTPROF_BPF_HOTSPOT_UNPACKING_H
#define HOSTPROF_BPF_HOTSPOT_UNPACKING_H

#include "hotspot/blob.h"

/* interpreter_frame_last_sp_offset in cpu/x86/frame_x86.hpp, in words from %rbp. */
#define UNPACKING_LAST_SP_SLOT (-2)

/* That c->unpacks can count, from 1 on; and where it is still to be found out. */
#define UNPACKING_MAX_FRAMES 253
#define UNPACKING_FROM_LEAF  255
/* Frames of one blob that are counted; no more methods are inlined into each other. */
#define UNPACKING_MAX_CHAIN 64

enum unpacking {
	UNPACKING_NONE,	  /* the frame is as any other */
	UNPACKING_FILLED, /* it was empty, and its slots are written now */
	UNPACKING_TOLD,	  /* its slots are not written; the array tells what they will have */
	UNPACKING_EMPTY,  /* nobody tells */
};

/* What will be in a frame's slots. */
struct unpacking_frame {
	wire_u64 method;
	wire_s32 bci;
};

/* The array of the thread: its address and how many frames it has. */
struct unpacking_array {
	wire_u64 at;
	wire_u32 frames;
};

/* UNPACKING_TOLD: it is there. FILLED: there is none any more. A moment later there may be another one. */
static inline enum unpacking unpacking_find(struct unwind_cursor *c, struct unwind_memory *memory,
					    struct unpacking_array *ret)
{
	const struct wire_unpacking *at = &c->jvm.unpacking;
	wire_u64 thread = blob_thread(c);

	if (!at->array || !c->unpacking_live || !cursor_is_user(thread) ||
	    memory_read(memory, &ret->at, 8, thread + at->array))
		return UNPACKING_EMPTY;
	if (!ret->at)
		return UNPACKING_FILLED;
	if (!cursor_is_user(ret->at) || memory_read(memory, &ret->frames, 4, ret->at + at->frames))
		return UNPACKING_EMPTY;
	return UNPACKING_TOLD;
}

/* Of the frame that so many others of them lie below. */
static inline enum unpacking unpacking_read(struct unwind_cursor *c, struct unwind_memory *memory,
					    const struct unpacking_array *array, wire_u32 index,
					    struct unpacking_frame *ret)
{
	const struct wire_unpacking *at = &c->jvm.unpacking;
	wire_u64 element = array->at + at->elements + (wire_u64)index * at->element_bytes;

	if (index >= array->frames || memory_read(memory, &ret->method, 8, element + at->method) ||
	    memory_read(memory, &ret->bci, 4, element + at->bci))
		return UNPACKING_EMPTY;
	return UNPACKING_TOLD;
}

/* Is the interpreted frame at FP an empty one? */
static inline bool unpacking_is_empty(struct unwind_cursor *c, struct unwind_memory *memory,
				      wire_u64 fp)
{
	wire_u64 last_sp;

	return !cursor_load(c, memory, fp + UNPACKING_LAST_SP_SLOT * 8LL, &last_sp) && !last_sp;
}

struct unpacking_chain {
	struct unwind_cursor *c;
	struct unwind_memory *memory;
	wire_u64 fp;
	wire_u32 count;
};

static long unpacking_chain_turn(wire_u32 turn, struct unpacking_chain *chain)
{
	(void)turn;
	if (!unpacking_is_empty(chain->c, chain->memory, chain->fp))
		return 1;
	chain->count++;
	return cursor_load(chain->c, chain->memory, chain->fp, &chain->fp) != UNWIND_GO_ON;
}

/* The blob itself pushes the oldest frame first: where it is sampled the younger ones may not be there yet. */
static inline wire_u32 unpacking_first(struct unwind_cursor *c, struct unwind_memory *memory,
				       wire_u32 frames)
{
	struct unpacking_chain chain = { .c = c, .memory = memory, .fp = c->fp };

	unwind_loop(UNPACKING_MAX_CHAIN, unpacking_chain_turn, &chain);
	return frames - chain.count;
}

/*
 * The blob itself, where it was sampled, has taken the compiled frame off the stack, and may not have pushed all others: the walk stands at the
 * youngest that is there, or at who called them. Those that are still to come are written from the array, the youngest of all first.
 */
static inline int unpacking_begin(struct unwind_cursor *c, struct unwind_memory *memory)
{
	struct unpacking_array array = {};
	wire_u32 first;

	if (unpacking_find(c, memory, &array) != UNPACKING_TOLD)
		return 0;
	first = array.frames;
	if (blob_is_interpreter(c, c->pc))
		first = unpacking_first(c, memory, array.frames);
	if (first >= UNPACKING_MAX_FRAMES)
		return 0;
	c->unpacking_end = (wire_u8)first;
	c->unpacks = (wire_u8)(first + 1);
	return 0;
}

#ifdef __bpf__

UNWIND_ALONE(int, unpacking_begin, (struct unwind_cursor * c), c, (c, NULL), 0)

#define unpacking_begin(c, memory) unpacking_begin_alone(c)

#endif

/* Of the interpreted frame at fp. Who called Java has a last sp: there, and behind it, nothing is put in place any more. */
static inline enum unpacking unpacking_look(struct unwind_cursor *c, struct unwind_memory *memory,
					    struct unpacking_frame *ret)
{
	struct unpacking_array array = {};
	enum unpacking found;
	wire_u32 index;

	if (!c->unpacks)
		return UNPACKING_NONE;
	if (!unpacking_is_empty(c, memory, c->fp)) {
		c->unpacks = 0;
		return UNPACKING_NONE;
	}
	found = unpacking_find(c, memory, &array);
	/* Of the leaf nothing says that it is such a blob but an array. */
	if (found == UNPACKING_EMPTY && c->unpacks == UNPACKING_FROM_LEAF)
		return UNPACKING_NONE;
	if (found != UNPACKING_TOLD)
		return found;
	index = c->unpacks - 1U;
	if (c->unpacks == UNPACKING_FROM_LEAF)
		index = unpacking_first(c, memory, array.frames);
	if (index >= UNPACKING_MAX_FRAMES)
		return UNPACKING_EMPTY;
	c->unpacks = (wire_u8)(index + 2);
	return unpacking_read(c, memory, &array, index, ret);
}

#endif
