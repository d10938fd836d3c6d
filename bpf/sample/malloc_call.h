/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Calls of functions that give memory: how much each asks for, and which of them are sampled. A thread has a book, in which
 * the bytes to its next sample point count down: a call that does not reach it costs one subtraction.
 *
 * A function that is called by another one of them (calloc() by malloc(), malloc() by operator new) is told by its stack, in
 * userspace (session/malloc/malloc_nested.h). One that another one *jumps* to has that one's caller in its stack, and no
 * more: it is told here, by its stack pointer, return address and size, which are the same.
 */
#ifndef HOSTPROF_BPF_SAMPLE_MALLOC_CALL_H
#define HOSTPROF_BPF_SAMPLE_MALLOC_CALL_H

#include "sample/draw.h"
#include "sample/thin.h"
#include "wire.h"

/* Of mmap(), as in include/uapi/asm-generic/mman-common.h. */
#define MALLOC_MAP_ANONYMOUS 0x20
#define MALLOC_MAP_NORESERVE 0x4000

#define MALLOC_MAP_STACK 0x20000
#define MALLOC_MAP_FIXED 0x10
/* Calls of one thread that are sampled and have not returned, as each may have made the next one: of musl posix_memalign() to mmap(). */
#define MALLOC_PENDING 4

/* The registers of a function's first instruction. */
struct malloc_call {
	wire_u64 arguments[4];
	wire_u64 ip, sp;
	wire_u64 back; /* the return address; 0: not known */
	wire_u32 form; /* enum wire_malloc_form */
};

/* A sampled call, of which the address is not known yet. */
struct malloc_pending {
	wire_u64 id;   /* 0: none */
	wire_u64 sp;   /* at its function's entry */
	wire_u64 into; /* where the address will be; 0: it is the result */
};

struct malloc_book {
	wire_u64 left;	   /* bytes before the next sample point */
	wire_u64 interval; /* by which that was drawn; 0: it was not yet */
	/* The last call. */
	wire_u64 ip, sp, back, size;
	struct malloc_pending pending[MALLOC_PENDING];
	struct malloc_call call; /* that is looked at now */

	/* The last one that was chosen. */
	struct {
		wire_u64 weight, size, interval, object, pages;
	} taken;
};

/* A range that is reserved only, as a JVM reserves its heap, is no memory yet; nor is what a file has. */
static inline bool malloc_maps_memory(const struct malloc_call *call)
{
	wire_u64 protection = call->arguments[2], flags = call->arguments[3];

	return flags & MALLOC_MAP_ANONYMOUS && (protection || !(flags & MALLOC_MAP_NORESERVE));
}

/* Threads' stacks are no allocator's. */
static inline bool malloc_asks_for_pages(const struct malloc_call *call)
{
	return call->form == WIRE_MALLOC_REMAP ||
	       (call->form == WIRE_MALLOC_MAP && !(call->arguments[3] & MALLOC_MAP_STACK));
}

static inline wire_u64 malloc_product(wire_u64 count, wire_u64 size)
{
	if (count >= WIRE_MALLOC_MOST_BYTES || (count && size > WIRE_MALLOC_MOST_BYTES / count))
		return 0;
	return count * size;
}

/* The bytes that it asks for; 0: none, or more than there can be. */
static inline wire_u64 malloc_call_bytes(const struct malloc_call *call)
{
	wire_u64 size = 0;

	switch (call->form) {
	case WIRE_MALLOC_SIZE:
	case WIRE_MALLOC_NEW: size = call->arguments[0]; break;
	case WIRE_MALLOC_ARRAY:
		size = malloc_product(call->arguments[0], call->arguments[1]);
		break;
	case WIRE_MALLOC_AGAIN:
	case WIRE_MALLOC_ALIGNED: size = call->arguments[1]; break;
	case WIRE_MALLOC_INTO:
	case WIRE_MALLOC_REMAP: size = call->arguments[2]; break;
	case WIRE_MALLOC_MAP: size = malloc_maps_memory(call) ? call->arguments[1] : 0; break;
	}
	return size < WIRE_MALLOC_MOST_BYTES ? size : 0;
}

/*
 * Has the thread's last call jumped here? It has not returned then, so its place on the stack is the same. Notes the call.
 * TRAMPOLINE: what the kernel puts in the place of a return address that it probes.
 */
static inline bool malloc_is_jump(struct malloc_book *book, const struct malloc_call *call,
				  wire_u64 size, wire_u64 trampoline)
{
	bool same = book->sp == call->sp && book->size == size && book->ip != call->ip &&
		    call->back && (book->back == call->back || call->back == trampoline);

	/* The one that was called stays the last one: it may come again from the same place. */
	if (same)
		return true;
	book->ip = call->ip;
	book->sp = call->sp;
	book->size = size;
	book->back = call->back;
	return false;
}

/* The memory that the call gives back; 0: none. */
static inline wire_u64 malloc_call_frees(const struct malloc_call *call)
{
	switch (call->form) {
	case WIRE_MALLOC_FREE:
	case WIRE_MALLOC_AGAIN:
	case WIRE_MALLOC_REMAP: return call->arguments[0];
	case WIRE_MALLOC_MAP: return call->arguments[3] & MALLOC_MAP_FIXED ? call->arguments[0] : 0;
	}
	return 0;
}

/*
 * Can its return be probed? While it is, the kernel's own address stands in the place of the return address (bpf/native/probed.h), and
 * an exception that leaves the function (std::bad_alloc) would find no way past it: the process would be ended.
 */
static inline bool malloc_may_return(const struct malloc_call *call)
{
	return call->form != WIRE_MALLOC_NEW;
}

/*
 * The call's address is to be known as ID's when it returns. Whoever stood no higher on the stack has returned by now, seen or
 * not. False: there is no room.
 */
static inline bool malloc_expect(struct malloc_book *book, const struct malloc_call *call,
				 wire_u64 id)
{
	for (wire_u32 i = 0; i < MALLOC_PENDING; i++) {
		struct malloc_pending *p = &book->pending[i];

		if (p->id && p->sp > call->sp)
			continue;
		p->id = id;
		p->sp = call->sp;
		p->into = call->form == WIRE_MALLOC_INTO ? call->arguments[0] : 0;
		return true;
	}
	return false;
}

/* A function has returned, and left SP: the call that was expected, or NULL. It is forgotten when its id is taken. */
static inline struct malloc_pending *malloc_returned(struct malloc_book *book, wire_u64 sp)
{
	for (wire_u32 i = 0; i < MALLOC_PENDING; i++)
		if (book->pending[i].id && book->pending[i].sp + sizeof(wire_u64) == sp)
			return &book->pending[i];
	return NULL;
}

/* The interval that is asked for now, of samples on a cpu of this pace (NULL: it has none). */
static inline wire_u64 malloc_interval_now(wire_u64 interval, const struct wire_pace *pace)
{
	return pace ? interval << (pace->doubled % (THIN_MOST_DOUBLED + 1)) : interval;
}

/* Does the sample point lie within the SIZE bytes of the call? If not they are behind us. */
static inline bool malloc_is_due(struct malloc_book *book, wire_u64 size)
{
	if (book->left < size)
		return true;
	book->left -= size;
	return false;
}

/* The next point. INTERVAL 0: in each call. */
static inline void malloc_draw(struct malloc_book *book, wire_u64 interval, wire_u32 random)
{
	book->interval = interval;
	book->left = interval ? draw_distance(interval, random) : 0;
}

/*
 * A call of SIZE bytes: gives the interval by which it was chosen, -1: it was not. INTERVAL and RANDOM are for what is drawn.
 */
static inline wire_s64 malloc_choose(struct malloc_book *book, wire_u64 size, wire_u64 interval,
				     wire_u32 random, wire_u32 random_next)
{
	wire_u64 by;

	if (!interval)
		return 0;
	if (!book->interval)
		malloc_draw(book, interval, random);
	by = book->interval;
	if (!malloc_is_due(book, size))
		return -1;
	malloc_draw(book, interval, random_next);
	return (wire_s64)by;
}

#endif
