/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Who waits for a lock of the kernel's, and since when: the kernel tells of the begin of a wait and of its end (include/trace/events/lock.h,
 * from Linux 5.19 on). Waits lie within one another: an interrupt may meet a lock while the thread below it waits for another one. So
 * a book has a few of them, the innermost one last. Those that spin are in the cpu's book, since nothing but interrupts comes
 * between their begin and their end; the others are in the thread's.
 */
#ifndef HOSTPROF_BPF_KERNEL_CONTENTION_H
#define HOSTPROF_BPF_KERNEL_CONTENTION_H

#include "wire.h"

/* A thread, and what interrupts it: softirq, hardirq, NMI. */
#define CONTENTION_LEVELS 4

/* LCB_F_… of include/trace/events/lock.h. */
#define CONTENTION_SPIN	  1
#define CONTENTION_READ	  2
#define CONTENTION_WRITE  4
#define CONTENTION_RT	  8
#define CONTENTION_PERCPU 16
#define CONTENTION_MUTEX  32

struct contention_wait {
	wire_u64 lock; /* its address */
	wire_u64 begin_ns;
	wire_u32 flags;
	wire_u32 tid;
};

struct contention_book {
	struct contention_wait waits[CONTENTION_LEVELS];
	wire_u32 depth;
	wire_u32 busy; /* of a cpu: a sample is being taken, and what is met for that is our own */
};

/* A mutex is spun for while its owner runs, and slept for then: that is one wait, and other cpus may see its end. */
static inline bool contention_spins(wire_u32 flags)
{
	return (flags & (CONTENTION_SPIN | CONTENTION_MUTEX)) == CONTENTION_SPIN;
}

static inline enum wire_cause contention_either(wire_u32 flags, enum wire_cause read,
						enum wire_cause write)
{
	return flags & CONTENTION_READ ? read : write;
}

/* What kind of lock it is: a semaphore has no flags. */
static inline enum wire_cause contention_cause(wire_u32 flags)
{
	wire_u32 side = flags & (CONTENTION_READ | CONTENTION_WRITE);

	if (flags & CONTENTION_MUTEX)
		return WIRE_CAUSE_MUTEX;
	if (flags & CONTENTION_PERCPU)
		return contention_either(flags, WIRE_CAUSE_PERCPU_RWSEM_READ,
					 WIRE_CAUSE_PERCPU_RWSEM_WRITE);
	if (side && flags & (CONTENTION_SPIN | CONTENTION_RT))
		return contention_either(flags, WIRE_CAUSE_KERNEL_RWLOCK_READ,
					 WIRE_CAUSE_KERNEL_RWLOCK_WRITE);
	if (side)
		return contention_either(flags, WIRE_CAUSE_RWSEM_READ, WIRE_CAUSE_RWSEM_WRITE);
	if (flags & CONTENTION_RT)
		return WIRE_CAUSE_RT_MUTEX;
	return flags & CONTENTION_SPIN ? WIRE_CAUSE_SPINLOCK : WIRE_CAUSE_SEMAPHORE;
}

/* Where in BOOK thread TID waits for LOCK, from the innermost on; CONTENTION_LEVELS: nowhere. */
static inline wire_u32 contention_find(const struct contention_book *book, wire_u64 lock,
				       wire_u32 tid)
{
	wire_u32 found = CONTENTION_LEVELS;

	for (wire_u32 i = 0; i < CONTENTION_LEVELS; i++)
		if (i < book->depth && book->waits[i].lock == lock && book->waits[i].tid == tid)
			found = i;
	return found;
}

/*
 * Thread TID begins to wait. A mutex's wait has several begins, of which the first one counts. Who spins loses its cpu to
 * interrupts only: what another thread has left in the book, or more than there can be, has ended without our being told.
 */
static inline void contention_begin(struct contention_book *book, wire_u64 lock, wire_u32 flags,
				    wire_u32 tid, wire_u64 now_ns)
{
	wire_u32 at = contention_find(book, lock, tid);
	wire_u64 begin_ns = now_ns;

	if (at < CONTENTION_LEVELS && flags & CONTENTION_MUTEX)
		begin_ns = book->waits[at].begin_ns;
	if (at == CONTENTION_LEVELS) {
		if (book->depth && book->waits[0].tid != tid)
			book->depth = 0;
		at = book->depth < CONTENTION_LEVELS ? book->depth : 0;
	}
	at &= CONTENTION_LEVELS - 1;
	book->waits[at].lock = lock;
	book->waits[at].begin_ns = begin_ns;
	book->waits[at].flags = flags;
	book->waits[at].tid = tid;
	book->depth = at + 1;
}

/* It has the lock, or has given up: its wait, with all within it, leaves the book. False: its begin was not seen. */
static inline bool contention_end(struct contention_book *book, wire_u64 lock, wire_u32 tid,
				  struct contention_wait *ret_wait)
{
	wire_u32 at = contention_find(book, lock, tid);

	if (at >= CONTENTION_LEVELS)
		return false;
	*ret_wait = book->waits[at];
	book->depth = at;
	return true;
}

#endif
