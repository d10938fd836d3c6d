/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The copy of the stack, as far as it may be had. */
#ifndef HOSTPROF_BPF_SAMPLE_MISS_MISS_COPY_H
#define HOSTPROF_BPF_SAMPLE_MISS_MISS_COPY_H

#include "native/probed.h"
#include "sample/miss/miss_buffer.h"
#include "sample/user_regs.h"

/* What is tried when the ring has no room for more: the frames of most stacks. */
#define MISS_SMALL_COPY 8192
/* So much is copied of a stack whose end is not known. */
#define MISS_BLIND_COPY 65536
/* At the very top a walk wants at most the return address of _start's caller. */
#define MISS_TOP_BYTES 64
/* More than this is the end of the stack, and no buffer on it. */
#define MISS_MAX_HOLE 131072
/*
 * A copy has a time budget of its own, as long as its walk's, and takes as long again to be put into the ring. What the walk
 * has left would be little of a deep stack, whose copy is long. The clock is asked every 32 KiB, and not for the first two: these
 * hold most stacks, and userspace reads on where a copy ends (unwind/stack_rest.c), if the thread has not gone on by then.
 */
#define MISS_STRIDE	 8
#define MISS_LEAST_TURNS 16
/* Pages that WIRE_MISS_MAX_COPY bytes lie in, and the one below the stack pointer. */
#define MISS_COPY_TURNS (WIRE_MISS_MAX_COPY / WIRE_PAGE_BYTES + 2)

/* May AT be the end of the stack that SP points into? */
static __always_inline bool miss_may_end(wire_u64 at, wire_u64 sp)
{
	return at > sp && at - sp <= MAIN_STACK_BYTES;
}

/* The end of the stack, if it is the main thread's (mm->start_stack, by fs/binfmt_elf.c: where argc is); else 0. */
static __always_inline wire_u64 miss_main_end(const struct unwind_cursor *c)
{
	wire_u64 end = c->stack_top + MISS_TOP_BYTES;

	return miss_may_end(end, c->sp) ? end : 0;
}

/*
 * Where the copy may end. The stack of a thread of the C library ends at its control block (glibc's
 * allocatestack.c and musl's pthread_create.c put it at the top), to which %fs points. What lies above
 * other stacks (a goroutine's) is not theirs.
 */
static __always_inline wire_u64 miss_top(const struct unwind_cursor *c, wire_u64 most)
{
	wire_u64 from = c->sp - WIRE_MISS_BELOW, end = c->tls;

	if (!miss_may_end(end, c->sp))
		end = miss_main_end(c);
	if (!end)
		end = from + MISS_BLIND_COPY;
	return end - from < most ? end : from + most;
}

/*
 * What stands for a page of the copy that is not there: a buffer on the stack that was not written
 * yet. As a return address or a register it ends a walk as a bad one.
 */
static const wire_u8 miss_hole[WIRE_PAGE_BYTES] = { [0 ... WIRE_PAGE_BYTES - 1] = 0xff };

struct miss_copy {
	struct miss_buffer *b;
	wire_u64 top;
	wire_u64 until_ns;
};

static __always_inline bool miss_is_late(wire_u32 turn, const struct miss_copy *copy)
{
	if (turn < MISS_LEAST_TURNS || turn % MISS_STRIDE || bpf_ktime_get_ns() <= copy->until_ns)
		return false;
	counter_add(WIRE_COUNTER_MISSES_CUT, 1);
	return true;
}

/*
 * Copy one page's piece of what is left up to top. How far it came is in the buffer, as the
 * verifier would follow a variable through every turn.
 */
static long miss_copy_turn(wire_u32 turn, struct miss_copy *copy)
{
	struct miss_buffer *b = copy->b;
	wire_u32 reached = b->reached, piece;
	wire_u64 from = b->miss.copy_at + reached;

	if (from >= copy->top || reached >= miss_copy_bytes || miss_is_late(turn, copy))
		return 1;
	piece = WIRE_PAGE_BYTES - (from & (WIRE_PAGE_BYTES - 1));
	if (piece > copy->top - from)
		piece = copy->top - from;
	UNWIND_OPAQUE(piece);
	if (piece > WIRE_PAGE_BYTES)
		return 1;
	if (!bpf_probe_read_user(b->room + reached, piece, (const void *)from)) {
		b->miss.copy_bytes = b->reached = reached + piece;
		return 0;
	}
	/*
	 * The first pages may be missing: the one below the stack pointer where a stack's mapping
	 * begins, and others while the thread is in the page fault that brings them.
	 */
	if (!reached) {
		b->miss.copy_at += piece;
		return 0;
	}
	bpf_probe_read_kernel(b->room + reached, piece, miss_hole);
	b->reached = reached + piece;
	return b->reached - b->miss.copy_bytes > MISS_MAX_HOLE;
}

/* The copy ends with a page that is there; it has no more than MOST bytes. */
MISS_ALONE miss_copy_stack(struct unwind_cursor *c, wire_u32 buffer, wire_u64 most,
			   wire_u64 until_ns)
{
	struct miss_buffer *b = miss_buffer_at(buffer);
	struct miss_copy copy = { .b = b, .until_ns = until_ns };

	if (!b || !c)
		return 0;
	copy.top = miss_top(c, most);
	b->miss.copy_at = c->sp - WIRE_MISS_BELOW;
	b->miss.copy_bytes = 0;
	b->reached = 0;
	bpf_loop(MISS_COPY_TURNS, miss_copy_turn, &copy, 0);
	b->beyond_at = b->miss.copy_at + b->reached;
	b->beyond_end = b->reached > b->miss.copy_bytes ? miss_main_end(c) : 0;
	return 0;
}

struct miss_returns {
	struct miss_buffer *b;
	struct return_instance *entered;
};

static long miss_undo_turn(wire_u32 turn, struct miss_returns *returns)
{
	struct return_instance *entered = returns->entered;
	wire_u64 at, address;

	if (!entered)
		return 1;
	at = BPF_CORE_READ(entered, stack) - returns->b->miss.copy_at;
	address = BPF_CORE_READ(entered, orig_ret_vaddr);
	returns->entered = BPF_CORE_READ(entered, next);
	UNWIND_OPAQUE(at);
	if (at < miss_copy_bytes - sizeof(address))
		__builtin_memcpy(returns->b->room + at, &address, sizeof(address));
	return 0;
}

/* Puts true return addresses into the copy, in place of return probes' (native/probed.h). */
static __always_inline void miss_undo_returns(struct miss_buffer *b, struct task_struct *task)
{
	struct miss_returns returns = { .b = b, .entered = probed_first_return(task) };

	if (returns.entered)
		bpf_loop(PROBED_MAX_RETURNS, miss_undo_turn, &returns, 0);
}

/* As many bytes of stack may be copied: at most the first half of the ring, as it is there for samples. */
static __always_inline wire_u64 miss_most(void *ring)
{
	wire_u64 used = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA);
	wire_u64 half = bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) / 2;
	wire_u64 room = half > used + MISS_SMALL_COPY ? half - used : MISS_SMALL_COPY;

	return room < miss_copy_bytes ? room : miss_copy_bytes;
}

#endif
