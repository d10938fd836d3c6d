/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* What is known of a Java thread that waits for a lock, and of its waits so far. */
#ifndef HOSTPROF_BPF_SAMPLE_LOCKS_LOCK_BOOK_H
#define HOSTPROF_BPF_SAMPLE_LOCKS_LOCK_BOOK_H

#include "wire.h"

/*
 * Who waits may be woken in vain, and wait on. Who wakes it for the last time has let go of the lock; of so many of one wait it is told, for
 * of a wait that was too short to be told nobody says that it is over.
 */
#define LOCK_BOOK_WAKERS 4

/* A wait that is over, as its sample tells of it; not on the stack, of which 6.1 has 512 bytes in all. */
struct lock_told {
	wire_u64 length_ns, chance;
	wire_u64 object, klass; /* what was waited for */
	wire_u64 owner;		/* who had it */
	wire_u64 thread;	/* the VirtualThread */
	wire_u64 cause;		/* of a wait without its carrier: enum wire_cause */
	wire_u64 weight_ns;	/* likewise: what it stands for */
};

struct lock_book {
	wire_u64 park_ns; /* when it has parked, 0: it has not */
	wire_u64 owner;	  /* and who had the lock then */
	struct wire_pace looks;
	wire_u64 since_ns;     /* when it began to wait, for a monitor or parked; 0: it does not */
	wire_u32 number;       /* of that wait; never 0 */
	wire_u32 wakers;       /* of which is still to be told */
	struct lock_told told; /* of the virtual thread that has just come back */
};

/* It waits from now on. */
static inline void lock_book_begin(struct lock_book *book, wire_u64 now_ns)
{
	book->since_ns = now_ns;
	book->wakers = LOCK_BOOK_WAKERS;
	if (!++book->number)
		book->number = 1;
}

/* Its wait that began at SINCE_NS is over: that one's number, 0: nothing is known of it. */
static inline wire_u32 lock_book_end(struct lock_book *book, wire_u64 since_ns)
{
	if (!since_ns || book->since_ns != since_ns)
		return 0;
	book->since_ns = 0;
	return book->number;
}

/* Somebody wakes it at NOW_NS: of which wait is that to be told, 0: of none. A wait that is shorter than LEAST_NS so far is none that is told. */
static inline wire_u32 lock_book_wake(struct lock_book *book, wire_u64 now_ns, wire_u64 least_ns)
{
	if (!book->since_ns || !book->wakers || now_ns < book->since_ns ||
	    now_ns - book->since_ns < least_ns)
		return 0;
	book->wakers--;
	return book->number;
}

#endif
