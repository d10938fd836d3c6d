/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * A virtual thread's frames that lie in the heap: objects of jdk.internal.vm.StackChunk, the newest of
 * which its Continuation knows, each the next older one. Their frames are as on a stack, but what an
 * interpreted one has of its own addresses is relative, and the saved %rbp below it, too
 * (relativize_interpreted_frame_metadata() in cpu/x86/continuationFreezeThaw_x86.inline.hpp). The walk
 * makes a detour through them, and goes on at the ContinuationEntry on the stack. Most collectors move objects at
 * safepoints only; a copy that one has left behind is told by its mark, ZGC's objects are not read. Userspace, which finishes a walk a moment
 * later, reads what came with it (sample/miss/miss_heap.h): objects and frames as stacks are.
 */
#ifndef HOSTPROF_BPF_HOTSPOT_FROZEN_H
#define HOSTPROF_BPF_HOTSPOT_FROZEN_H

#include "hotspot/interpreted.h"

/* ContinuationEntry::_cont, the Continuation's address (share/runtime/continuationEntry.hpp), JDK 21 to 28. */
#define FROZEN_ENTRY_CONT 16
/* More chunks than this has none: each time that its frames do not fit into one adds one. */
#define FROZEN_MAX_CHUNKS 64
/* Words of a chunk's stack. */
#define FROZEN_MAX_WORDS (1U << 20)
/* The lowest bits of an object's mark when nobody has it locked, or has moved it (share/oops/markWord.hpp). */
#define FROZEN_MARK_MASK 3
#define FROZEN_MARK_FREE 1
/* Words of doYield()'s frame: %rbp and the return address (gen_continuation_yield()). */
#define FROZEN_YIELD_WORDS 2

enum frozen_kind { FROZEN_LOST, FROZEN_COMPILED, FROZEN_INTERPRETED };

/* --- a chunk ---------------------------------------------------------------------------------- */

static inline wire_u32 frozen_u32(const struct unwind_cursor *c, wire_u32 offset)
{
	UNWIND_OPAQUE(offset);
	if (offset > WIRE_CHUNK_BYTES - 8)
		return 0;
	return leaf_u32(c->frozen_at.chunk + offset);
}

static inline wire_u64 frozen_u64(const struct unwind_cursor *c, wire_u32 offset)
{
	return frozen_u32(c, offset) | (wire_u64)frozen_u32(c, offset + 4) << 32;
}

/* The address that a reference with these bits means. */
static inline wire_u64 frozen_oop(const struct unwind_cursor *c, wire_u64 bits)
{
	if (c->jvm.chunks.oop_bytes != 4)
		return bits;
	bits &= 0xffffffff;
	return bits ? c->jvm.chunks.oop_base + (bits << (c->jvm.chunks.oop_shift & 31)) : 0;
}

/* Nobody has the object with this mark locked or moved; else it may be a copy that is not written any more. */
static inline bool frozen_is_free(wire_u64 mark)
{
	return (mark & FROZEN_MARK_MASK) == FROZEN_MARK_FREE;
}

/* The fields of the object at CHUNK into c->frozen_at.chunk, when it is a chunk that has not moved. */
static inline bool frozen_read_fields(struct unwind_cursor *c, struct unwind_memory *memory,
				      wire_u64 chunk)
{
	wire_u32 bytes = c->jvm.chunks.stack;

	UNWIND_OPAQUE(bytes);
	if (!cursor_is_user(chunk) || (chunk & 7) || bytes > WIRE_CHUNK_BYTES ||
	    memory_read_stack(memory, c->frozen_at.chunk, bytes, chunk))
		return false;
	return frozen_is_free(frozen_u64(c, 0)) &&
	       (frozen_u64(c, c->jvm.chunks.klass_at) & c->jvm.chunks.klass_mask) ==
		       c->jvm.chunks.klass;
}

/* Stand in front of the frame that begins at SP: below it are the words that its callee would have saved. */
static inline bool frozen_stand(struct unwind_cursor *c, struct unwind_memory *memory, wire_u64 sp)
{
	c->frozen_at.sp = sp;
	c->frozen_at.link = sp - 16;
	return !cursor_load(c, memory, sp - 8, &c->frozen_at.pc);
}

/* In front of the youngest frame of the chunk at CHUNK, or at its end when it has none. */
static inline bool frozen_open(struct unwind_cursor *c, struct unwind_memory *memory,
			       wire_u64 chunk)
{
	struct frozen_walk *f = &c->frozen_at;
	wire_u32 size, sp, bottom;

	if (!frozen_read_fields(c, memory, chunk))
		return false;
	size = frozen_u32(c, c->jvm.chunks.size);
	sp = frozen_u32(c, c->jvm.chunks.sp);
	if (c->jvm.chunks.bottom != WIRE_JVM_ABSENT)
		bottom = frozen_u32(c, c->jvm.chunks.bottom);
	else
		bottom = size - frozen_u32(c, c->jvm.chunks.argsize);
	/* An empty one's stack pointer is above its arguments. */
	if (size > FROZEN_MAX_WORDS || sp > size || bottom > size)
		return false;
	f->parent = frozen_oop(c, frozen_u64(c, c->jvm.chunks.parent));
	f->sp = chunk + c->jvm.chunks.stack + 8ULL * sp;
	f->end = chunk + c->jvm.chunks.stack + 8ULL * bottom;
	return f->sp >= f->end || (sp >= 2 && frozen_stand(c, memory, f->sp));
}

#ifdef __bpf__

UNWIND_ALONE(bool, frozen_open, (struct unwind_cursor * c, wire_u64 chunk), c, (c, NULL, chunk),
	     false)

#define frozen_open(c, memory, chunk) (frozen_open_alone(c, chunk) & 1)

#endif

/* Behind the frames of a chunk: those of its parents, one of which may be empty. False: something is wrong. */
static inline bool frozen_next(struct unwind_cursor *c, struct unwind_memory *memory)
{
	struct frozen_walk *f = &c->frozen_at;

	for (int i = 0; i < 2; i++) {
		if (f->sp < f->end || !f->parent)
			return true;
		if (++f->chunks > FROZEN_MAX_CHUNKS || !frozen_open(c, memory, f->parent))
			return false;
	}
	return f->sp < f->end || !f->parent;
}

/* --- a frame ---------------------------------------------------------------------------------- */

static inline enum frozen_kind frozen_look_compiled(struct unwind_cursor *c,
						    struct unwind_memory *memory)
{
	struct frozen_walk *f = &c->frozen_at;
	wire_u64 top;

	if (!blob_owns(c, c->pc) || compiled_find(c, memory) || !c->compiled_seen.frame_size)
		return FROZEN_LOST;
	top = c->sp + 8ULL * c->compiled_seen.frame_size;
	if (top > f->end || cursor_load(c, memory, top - 8, &f->pc))
		return FROZEN_LOST;
	f->sp = top;
	f->link = top - 16;
	return FROZEN_COMPILED;
}

/* Slots of an interpreted frame, words from its frame pointer. */
static inline bool frozen_load_slots(struct unwind_cursor *c, struct unwind_memory *memory,
				     wire_u64 fp)
{
	struct interpreted_frame *frame = &c->interpreted;
	wire_u64 sender;

	c->fp = fp;
	if (interpreted_slot(c, memory, c->jvm.method_slot, &frame->method) ||
	    interpreted_slot(c, memory, c->jvm.bcp_slot, &frame->bcp) ||
	    interpreted_slot(c, memory, c->jvm.sender_sp_slot, &sender) ||
	    interpreted_slot(c, memory, 1, &frame->ra))
		return false;
	frame->sender_sp = fp + 8 * sender;
	frame->fp = fp;
	return true;
}

static inline enum frozen_kind frozen_look_interpreted(struct unwind_cursor *c,
						       struct unwind_memory *memory)
{
	struct interpreted_frame *frame = &c->interpreted;
	struct frozen_walk *f = &c->frozen_at;
	wire_u64 fp;

	if (cursor_load(c, memory, f->link, &fp))
		return FROZEN_LOST;
	fp = f->link + 8 * fp;
	if (fp < c->sp || fp >= f->end || !frozen_load_slots(c, memory, fp))
		return FROZEN_LOST;
	if (frame->sender_sp <= fp || frame->sender_sp > f->end || (frame->sender_sp & 7))
		return FROZEN_LOST;
	interpreted_identify(c, memory, frame->method);
	if (!c->seen.identity)
		return FROZEN_LOST;
	f->pc = frame->ra;
	f->sp = frame->sender_sp;
	f->link = fp;
	return FROZEN_INTERPRETED;
}

/* Of frames that were taken out of the chunk the last one ends where its own begin. False: this one does not, and is none of them. */
static inline bool frozen_fits(struct unwind_cursor *c)
{
	struct frozen_walk *f = &c->frozen_at;

	if (f->sp < f->taken_to)
		return true;
	if (f->taken_to && f->sp != f->taken_to)
		return false;
	f->taken_to = 0;
	return true;
}

/* What the frame at c->pc is, and into c->frozen_at where its caller is. */
static inline enum frozen_kind frozen_look(struct unwind_cursor *c, struct unwind_memory *memory)
{
	enum frozen_kind kind;

	if (interpreted_is_at_pc(c))
		kind = frozen_look_interpreted(c, memory);
	else
		kind = frozen_look_compiled(c, memory);
	/* Userspace would see the heap of another time. */
	c->missed = 0;
	if (!frozen_fits(c))
		return FROZEN_LOST;
	if (kind != FROZEN_LOST && !frozen_next(c, memory))
		c->frozen_at.cut = 1;
	return kind;
}

/* --- the way in ------------------------------------------------------------------------------- */

enum frozen_twice { FROZEN_ONCE, FROZEN_TWICE, FROZEN_MAYBE };

/*
 * Are the thread's frames being put into the heap, and are those on the stack there already? The anchor is
 * set to the entry before that, the chunk's stack pointer when all of them are copied (freeze_fast_copy(),
 * finish_freeze() in share/runtime/continuationFreezeThaw.cpp). The youngest is then who called doYield(),
 * or who waits for a monitor. When doYield() has got its answer the anchor is gone, and the frames are there
 * for some instructions more.
 */
static inline enum frozen_twice frozen_twice(struct unwind_cursor *c, struct unwind_memory *memory,
					     wire_u64 thread)
{
	wire_u64 at = thread + c->jvm.thread_anchor + c->jvm.anchor_sp, sp;

	if (c->frozen_at.pc != c->frozen_at.young[0] && c->frozen_at.pc != c->frozen_at.young[1])
		return FROZEN_ONCE;
	if (c->frozen_at.yields)
		return FROZEN_TWICE;
	if (c->jvm.thread_anchor == WIRE_JVM_ABSENT || c->jvm.anchor_sp == WIRE_JVM_ABSENT ||
	    memory_read(memory, &sp, 8, at))
		return FROZEN_MAYBE;
	return sp == c->frozen_at.entry ? FROZEN_TWICE : FROZEN_ONCE;
}

static inline wire_u64 frozen_mix(wire_u64 pcs, wire_u64 pc)
{
	return (pcs ^ pc) * 0x9e3779b97f4a7c15ULL + 1;
}

/* Those in front of the chunk's walk that were written as frames of the stack. */
static inline void frozen_skip_mounted(struct unwind_cursor *c)
{
	struct frozen_walk *f = &c->frozen_at;
	int from = f->pc == f->young[1];

	f->skip = f->count[from];
	f->wanted = f->pcs[from];
	f->skipped = 0;
}

/* Called at such a frame. False: it was the last one, and they are others. */
static inline bool frozen_skip(struct unwind_cursor *c)
{
	struct frozen_walk *f = &c->frozen_at;

	f->skipped = frozen_mix(f->skipped, c->pc);
	return --f->skip || f->skipped == f->wanted;
}

/* Called at each Java frame of the stack, before it is looked at. */
static inline void frozen_note_caller(struct unwind_cursor *c)
{
	struct frozen_walk *f = &c->frozen_at;

	if (!c->java_r15)
		c->java_r15 = c->r15;
	if (c->native) {
		f->young[0] = c->pc;
		f->young[1] = f->pcs[0] = f->pcs[1] = 0;
		f->count[0] = f->count[1] = 0;
	} else {
		if (!f->young[1])
			f->young[1] = c->pc;
		f->pcs[1] = frozen_mix(f->pcs[1], c->pc);
		f->count[1]++;
	}
	f->pcs[0] = frozen_mix(f->pcs[0], c->pc);
	f->count[0]++;
}

/* Called at a compiled frame that was found. */
static inline void frozen_note_yield(struct unwind_cursor *c)
{
	if (!c->leaf || c->compiled_seen.frame_size != FROZEN_YIELD_WORDS)
		return;
	c->frozen_at.yields = 1;
	c->frozen_at.young[1] = c->frozen_at.pcs[1] = 0;
	c->frozen_at.count[1] = 0;
}

/* The newest chunk of the entry's Continuation, 0: not known. */
static inline wire_u64 frozen_tail(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u32 bytes = c->jvm.chunks.oop_bytes == 4 ? 4 : 8;
	wire_u64 cont, mark, tail = 0;

	if (memory_read_stack(memory, &cont, 8, c->frozen_at.entry + FROZEN_ENTRY_CONT) ||
	    (cont & 7) || memory_read_stack(memory, &mark, 8, cont) || !frozen_is_free(mark) ||
	    memory_read_stack(memory, &tail, bytes, cont + c->jvm.chunks.tail))
		return 0;
	return frozen_oop(c, tail);
}

/* In front of all frames of the chunk at NEWEST and those behind it; 0: there is none. */
static inline bool frozen_begin_at(struct unwind_cursor *c, wire_u64 newest)
{
	struct frozen_walk *f = &c->frozen_at;

	f->chunks = 0;
	f->sp = f->end = 0;
	f->parent = newest;
	f->cut = 0;
	f->skip = 0;
	f->taken_to = 0;
	return newest;
}

/* The same of all chunks of the Continuation of c->frozen_at.entry, when the heap can be read. */
static inline bool frozen_begin_at_tail(struct unwind_cursor *c, struct unwind_memory *memory)
{
	if (!c->frozen_at.live || !c->jvm.chunks.klass_mask)
		return false;
	return frozen_begin_at(c, frozen_tail(c, memory));
}

/* Into c->frozen_at the first frame of those that belong to c->frozen_at.entry. */
static inline bool frozen_begin(struct unwind_cursor *c, struct unwind_memory *memory)
{
	struct frozen_walk *f = &c->frozen_at;
	wire_u64 thread = blob_thread(c);
	enum frozen_twice twice;

	if (!thread || !frozen_begin_at_tail(c, memory))
		return false;
	/* There is a frame, or else nobody would return to the barrier. */
	if (!frozen_next(c, memory) || f->sp >= f->end)
		return false;
	twice = frozen_twice(c, memory, thread);
	if (twice == FROZEN_TWICE)
		frozen_skip_mounted(c);
	return twice != FROZEN_MAYBE;
}

#ifdef __bpf__

UNWIND_ALONE(enum frozen_kind, frozen_look, (struct unwind_cursor * c), c, (c, NULL), FROZEN_LOST)
UNWIND_ALONE(bool, frozen_begin, (struct unwind_cursor * c), c, (c, NULL), false)

#define frozen_look(c, memory)	frozen_look_alone(c)
#define frozen_begin(c, memory) (frozen_begin_alone(c) & 1)

#endif

/* Stand in the frame that was found. */
static inline void frozen_enter(struct unwind_cursor *c)
{
	cursor_move(c, c->frozen_at.pc, c->frozen_at.sp, 0);
	c->frozen_at.inside = 1;
	c->regs_kept = 0;
	c->anchor_own = 0;
}

/* Go on at the entry. */
static inline enum unwind_verdict frozen_leave(struct unwind_cursor *c)
{
	c->frozen_at.inside = 0;
	/* For compiled_enter() a caller is higher. */
	c->sp = c->frozen_at.entry - 8;
	return compiled_enter(c, c->jvm.enter_return, c->frozen_at.entry, c->frozen_at.fp);
}

/* Writes the frame at c->pc; not the way to its caller. */
static inline enum unwind_verdict frozen_put(struct unwind_cursor *c, wire_u64 *out,
					     enum frozen_kind kind)
{
	c->java_frames++;
	if (kind == FROZEN_INTERPRETED)
		return interpreted_put(c, out, c->seen.const_method, c->seen.identity);
	return compiled_put(c, out) ? UNWIND_STOP : UNWIND_GO_ON;
}

#endif
