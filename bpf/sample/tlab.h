/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * How many bytes an allocation stands for that HotSpot's AllocTracer tells of.
 *
 * A thread allocates from its buffer (TLAB). AllocTracer is called for an object for which the buffer
 * has not room enough: one of SIZE is seen if and only if SIZE > room. What happens then depends on the
 * room (MemAllocator::allocate_inside_tlab_slow() in share/gc/shared/memAllocator.cpp): little of it
 * is thrown away, and the object begins a new TLAB; more is kept, and the object goes outside. Also a
 * collection takes the TLABs away, after which a thread's first object is seen whatever its size.
 *
 * So neither the TLAB's size nor the object's is a weight. With the TLAB's size for each new TLAB and the
 * object's for each outside one, a 64 kB array that falls into the last 64 kB of a TLAB of 1 MB is counted
 * once, while fifteen of its kind were not seen; and their bytes are given to small objects.
 *
 * What is exact is how many bytes a thread allocated between two calls: it keeps a count
 * (Thread::_allocated_bytes, retired TLABs and objects outside), and its TLAB has start and top. And
 * the room that was left behind a call is known. Take the objects from there to the next call:
 *
 *   - One larger than that room was certain to be seen. It stands for itself.
 *   - One that would have fitted when the room was as it began is seen when it crosses the end of
 *     the room. A walk of many steps over a mark meets it in a step of some length with a chance that grows
 *     as that length (the renewal theorem), so that each byte had the same chance. It stands for
 *     all bytes on the way: the room, and on the average what it reaches beyond.
 *   - When another one came first (it was larger, or a collection came), the bytes on the way were those of
 *     objects that fitted into that room. They are kept, by the room, for one that crosses the end of
 *     such a room later, and was small enough to be among them.
 *
 * A byte that was allocated is in one weight, up to those that wait; and of each class there are as many as
 * were allocated, on the average. What crosses reaches beyond by half of its size. To give that to it alone would
 * count large objects twice as long as small ones, so it is spread over the thread's next ones.
 *
 * test_tlab.c has a model of HotSpot's TLABs against which this is held; test_alloc_outside.py has JVMs.
 * Bytes of a thread that ends before its first TLAB is full are not seen, but for its first object's.
 *
 * Where collections always come before a TLAB is full, no object crosses the end of a room: so it is with threads that allocate
 * little beside others that allocate much. But what a thread allocates first after a collection is any of its objects, by
 * chance: each has the same, whatever its size. So after some collections without a crossing all that waits goes to
 * these, to each as much as it is larger than they are on the average.
 */
#ifndef HOSTPROF_BPF_SAMPLE_TLAB_H
#define HOSTPROF_BPF_SAMPLE_TLAB_H

#include "wire.h"

/* Bytes that wait for a sample, by the room in which they were allocated: 256 B to 8 MB, doubling. */
#define TLAB_POTS	     16
#define TLAB_LEAST_POT_SHIFT 8
/* An object that crosses takes this part (a power of two) of what others reached beyond. */
#define TLAB_BEYOND_SHIFT 4
/* After so many collections without a crossing nothing waits for one any more. */
#define TLAB_PATIENCE 8
/* The mean of first objects' sizes is that of about so many. */
#define TLAB_FIRSTS 64
/* A thread is waited for; past this it has been away for long (a map that was full, a lost count). */
#define TLAB_MAX_STEP (1ULL << 40)

/* What is known of a thread behind a call of AllocTracer. */
struct tlab_state {
	wire_u64 allocated; /* bytes since the thread began, the object's included */
	wire_u64 room;	    /* bytes that are free in its TLAB; 0: it has none */
	wire_u64 desired;   /* bytes that a TLAB of it is to have */
	bool fresh;	    /* the TLAB was made for this object */
	bool emptied; /* there was no TLAB before: the thread is new, or a collection took it */
};

struct tlab_book {
	wire_u64 allocated; /* as of the last call */
	wire_u64 room;	    /* likewise */
	wire_s64 beyond;    /* what objects that crossed reached beyond, and is not given yet */
	wire_u64 waiting[TLAB_POTS]; /* bytes of objects that were not seen */
	wire_u32 known;		     /* 0: there was no call yet */
	wire_u32 full;		     /* the room is that of a whole new TLAB */
	wire_u32 collections;	     /* since an object crossed */
	wire_u32 firsts;	     /* objects that were the first after a collection, */
	wire_u64 firsts_bytes;	     /* and their bytes */
};

static inline wire_u32 tlab_pot(wire_u64 room)
{
	wire_u32 pot = 0;

	for (wire_u32 i = 1; i < TLAB_POTS; i++)
		if (room >> (TLAB_LEAST_POT_SHIFT + i))
			pot = i;
	return pot;
}

/* What waits and can have been of objects as large as this one, which crossed the end of the book's room. */
static inline wire_u64 tlab_take_waiting(struct tlab_book *book, wire_u64 size)
{
	wire_u64 taken = 0;

	for (wire_u32 i = 0; i < TLAB_POTS; i++) {
		wire_u64 least = 1ULL << (TLAB_LEAST_POT_SHIFT + i);

		if (size > least || (least > book->room && !book->full))
			continue;
		taken += book->waiting[i];
		book->waiting[i] = 0;
	}
	return taken;
}

/* UNSEEN bytes were allocated on the way through the book's room, whose end the object crossed. */
static inline wire_u64 tlab_cross(struct tlab_book *book, wire_u64 size, wire_u64 unseen)
{
	wire_s64 weight;

	book->beyond += (wire_s64)(unseen + size) - (wire_s64)book->room;
	weight = book->beyond >> TLAB_BEYOND_SHIFT;
	/* It stands for itself at least; what others lacked stays owed. */
	if (weight + (wire_s64)book->room < (wire_s64)size)
		weight = (wire_s64)size - (wire_s64)book->room;
	book->beyond -= weight;
	return (wire_u64)(weight + (wire_s64)book->room) + tlab_take_waiting(book, size);
}

static inline wire_u64 tlab_take_all_waiting(struct tlab_book *book)
{
	wire_u64 taken = 0;

	for (wire_u32 i = 0; i < TLAB_POTS; i++) {
		taken += book->waiting[i];
		book->waiting[i] = 0;
	}
	return taken;
}

/* The object of SIZE is the first after a collection. */
static inline wire_u64 tlab_first(struct tlab_book *book, wire_u64 size)
{
	wire_u64 objects; /* that wait, in parts of 256 */

	book->firsts++;
	book->firsts_bytes += size;
	if (book->firsts > TLAB_FIRSTS) {
		book->firsts_bytes -= book->firsts_bytes / book->firsts;
		book->firsts--;
	}
	if (++book->collections <= TLAB_PATIENCE || !book->firsts_bytes)
		return size;
	/* Bytes that wait are of fewer than TLAB_MAX_STEP. */
	objects = (tlab_take_all_waiting(book) % TLAB_MAX_STEP * book->firsts << 8) /
		  book->firsts_bytes;
	return size + (objects >> 32 ? (objects >> 8) * size : (objects * size) >> 8);
}

/* The bytes that the object of SIZE stands for, which AllocTracer tells of; the books are carried on. */
static inline wire_u64 tlab_weigh(struct tlab_book *book, wire_u64 size,
				  const struct tlab_state *now)
{
	wire_u64 unseen = now->allocated - book->allocated - size, weight = size;

	/* Of a thread that was not looked at before, half a TLAB has passed on the average. */
	if (!book->known && !now->emptied && size < now->desired)
		weight = now->desired / 2 > size ? now->desired / 2 : size;
	if (book->known && unseen < TLAB_MAX_STEP) {
		if (!now->emptied && size <= book->room) {
			book->collections = 0;
			weight = tlab_cross(book, size, unseen);
		} else {
			book->waiting[tlab_pot(book->room)] += unseen;
			if (now->emptied)
				weight = tlab_first(book, size);
		}
	}
	book->known = 1;
	book->allocated = now->allocated;
	book->room = now->room;
	book->full = now->fresh && now->room >= now->desired / 2;
	return weight;
}

#endif
