/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Virtual threads: the frames on the carrier's stack end at the return barrier, and the older ones
 * lie in the heap. The carrier's own go on at Continuation.enterSpecial(), in whose frame the
 * ContinuationEntry lies: share/runtime/continuationEntry.hpp, generate_cont_thaw() in
 * cpu/x86/stubGenerator_x86_64.cpp.
 */
#ifndef HOSTPROF_BPF_HOTSPOT_CONTINUATION_H
#define HOSTPROF_BPF_HOTSPOT_CONTINUATION_H

#include "hotspot/frozen.h"
#include "hotspot/stub.h"

/* The thaw stub lies before the return barrier; behind it are the one for exceptions, and others. */
#define CONTINUATION_BEFORE 160
#define CONTINUATION_BEHIND 512
/* Arguments of the last frame, or the room for frames that are being brought back. */
#define CONTINUATION_MAX_BYTES (64U << 10)
/* What the thaw stub saves before it has made room for frames: the returned values, and alignment. */
#define CONTINUATION_SAVED_BYTES 32
/* What a method returned that returned to the barrier: rax, xmm0 in 16 bytes (MacroAssembler::push_d()), and what aligns the stack for a call. */
#define CONTINUATION_RESULT_BYTES 32
/* What is room of frames, and none of theirs. */
#define CONTINUATION_ROOM_WORDS 4

/* JavaThread::_cont_entry, 0: not known. */
static inline wire_u64 continuation_of_thread(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 thread = blob_thread(c), entry;

	if (!thread || c->jvm.thread_cont_entry == WIRE_JVM_ABSENT ||
	    memory_read(memory, &entry, 8, thread + c->jvm.thread_cont_entry))
		return 0;
	return entry;
}

static inline bool continuation_may_be(const struct unwind_cursor *c, wire_u64 entry)
{
	return entry >= c->sp && entry - c->sp < CONTINUATION_MAX_BYTES && (entry & 7) == 0;
}

#ifdef __bpf__

/* Right behind the frames on the stack, when the last one has no arguments there. */
static inline wire_u64 continuation_entry(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 entry = continuation_of_thread(c, memory);

	return continuation_may_be(c, entry) ? entry : c->sp;
}

#else

/* Words of enterSpecial's frame, 0: not found. */
static inline wire_u32 continuation_frame(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 pc = c->pc;
	enum unwind_verdict stop;

	c->pc = c->jvm.enter_return;
	stop = compiled_find(c, memory);
	c->pc = pc;
	c->missed = 0;
	return stop ? 0 : c->compiled_seen.frame_size;
}

/*
 * The thread may have gone on: the first place where enterSpecial's frame can be. The stubs keep
 * its frame pointer in %rbp; at their stack pointer are old words.
 */
static inline wire_u64 continuation_entry(struct unwind_cursor *c, struct unwind_memory *memory)
{
	const wire_u64 places[] = {
		c->pc == c->jvm.return_barrier ? c->sp : 0,
		continuation_of_thread(c, memory),
		c->fp + 16 - 8ULL * continuation_frame(c, memory),
	};

	for (unsigned int i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (continuation_may_be(c, places[i]) &&
		    compiled_checks_out(c, memory, c->jvm.enter_return, places[i]))
			return places[i];
	return c->sp;
}

#endif

/*
 * Where the stack goes on, into c->frozen_at. True: frames may be on their way from the heap, and neither
 * there nor here.
 */
static inline bool continuation_find(struct unwind_cursor *c, struct unwind_memory *memory)
{
	struct frozen_walk *f = &c->frozen_at;

	f->entry = continuation_entry(c, memory);
	f->fp = c->fp;
	f->room = f->entry - c->sp;
	if (c->pc == c->jvm.return_barrier || f->room <= CONTINUATION_SAVED_BYTES)
		return false;
	/* What was returned to the barrier is kept below. */
	if (c->pc > c->jvm.return_barrier)
		f->room -= CONTINUATION_RESULT_BYTES;
	return true;
}

/* --- frames on their way from the heap to the stack ------------------------------------------- */

/*
 * In front of the first frame of those that are being brought back. The stub has made room for all that the chunk wanted (thaw_size() in
 * share/runtime/continuationFreezeThaw.cpp: two words for the first frame's return address, and two for alignment; then it aligns the
 * stack, generate_cont_thaw() in cpu/x86/stubGenerator_x86_64.cpp), and frames are taken out of the chunk before they are written to the
 * stack, by its stack pointer and by what it still wants: the difference is theirs. Their words in the chunk are as they were.
 */
static inline bool thawing_begin(struct unwind_cursor *c, struct unwind_memory *memory)
{
	struct frozen_walk *f = &c->frozen_at;
	wire_u64 least, own, begin;

	if (!frozen_begin_at_tail(c, memory))
		return false;
	least = f->parent + c->jvm.chunks.stack + 16;
	if (!frozen_open(c, memory, f->parent))
		return false;
	own = f->sp < f->end ? f->sp : f->end;
	begin = own - f->room +
		8 * (CONTINUATION_ROOM_WORDS + (wire_u64)frozen_u32(c, c->jvm.chunks.room));
	for (int i = 0; i < 2; i++, begin += 8) {
		if (begin < least || begin >= f->end)
			return false;
		if (!frozen_stand(c, memory, begin) || !blob_owns(c, f->pc))
			continue;
		f->taken_to = begin == own ? 0 : own;
		f->taken_from = c->words;
		f->taken = 0;
		return true;
	}
	return false;
}

/* Unwrite them: one of them does not end where it must. */
static inline void thawing_take_back(struct unwind_cursor *c)
{
	struct frozen_walk *f = &c->frozen_at;

	c->words = f->taken_from;
	c->frames -= f->taken;
	c->java_frames -= f->taken;
	c->frozen_frames -= f->taken;
}

/*
 * In the stubs that bring frames back: they were called from enterSpecial, and took that return
 * address off the stack, or were returned to in its place.
 */
static inline bool continuation_thaws(const struct unwind_cursor *c)
{
	wire_u64 from = c->jvm.return_barrier - CONTINUATION_BEFORE;

	return c->jvm.return_barrier && c->compiled_seen.frame_size == 0 &&
	       c->pc - from < CONTINUATION_BEFORE + CONTINUATION_BEHIND;
}

#ifdef __bpf__

UNWIND_ALONE(bool, continuation_find, (struct unwind_cursor * c), c, (c, NULL), false)

UNWIND_ALONE(bool, thawing_begin, (struct unwind_cursor * c), c, (c, NULL), false)

#define continuation_find(c, memory) (continuation_find_alone(c) & 1)
#define thawing_begin(c, memory)     (thawing_begin_alone(c) & 1)

#endif
#endif
