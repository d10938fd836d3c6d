/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Whose stack is worth a walk as it wakes another thread, and whether it is that one's doing. An interrupt wakes threads, too: the
 * one that runs just then has nothing to do with it.
 */
#ifndef HOSTPROF_BPF_SAMPLE_WAKING_H
#define HOSTPROF_BPF_SAMPLE_WAKING_H

#include "sample/offcpu.h"

/* Parts of a cpu's preempt count, include/linux/preempt.h: it serves a softirq (0x200 and more: it is only kept from it), an interrupt, an NMI. */
#define WAKING_SOFTIRQ 0x00000100
#define WAKING_HARDIRQ 0x000f0000
#define WAKING_NMI     0x00f00000

/*
 * Of the wait that ends now, in THREAD->woken_ns. Its own stack was walked, and without the time that it will wait
 * for a cpu it is long enough: how long that is nobody knows yet. Who was preempted waits for nobody.
 */
static inline bool waking_is_wanted(const struct wire_offcpu *thread, wire_u64 least_ns)
{
	if (thread->fate != WIRE_OFFCPU_SENT && thread->fate != WIRE_OFFCPU_WALKED)
		return false;
	return thread->state != WIRE_STATE_QUEUED &&
	       offcpu_length(thread->out_ns, thread->woken_ns) >= least_ns;
}

/* May this cpu walk one more? As many as of those that leave, MOST in a window; which waits have none is a matter of their time. */
static inline bool waking_has_room(struct offcpu_rate *rate, wire_u64 now_ns, wire_u32 most)
{
	if (now_ns - rate->window_ns >= OFFCPU_WINDOW_NS) {
		rate->window_ns = now_ns;
		rate->taken = 0;
	}
	if (rate->taken >= most)
		return false;
	rate->taken++;
	return true;
}

/* By the COUNT of the cpu. A cpu that is idle does nothing else. A softirq may be the thread's own doing: what it sends to its own host arrives in one. */
static inline enum wire_waker waking_kind(bool is_idle, wire_u32 count)
{
	if (is_idle || count & (WAKING_HARDIRQ | WAKING_NMI))
		return WIRE_WAKER_INTERRUPT;
	return count & WAKING_SOFTIRQ ? WIRE_WAKER_UNSURE : WIRE_WAKER_THREAD;
}

#endif
