/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has woken a thread, until its wait is told: the waker's sample has its place in the order when it woke, the wait's when the thread
 * was back. They find each other by the thread and when it had left.
 */
#ifndef HOSTPROF_SESSION_WAKERS_H
#define HOSTPROF_SESSION_WAKERS_H

#include <stdint.h>

#include "base/hmap.h"
#include "profile/profile.h"

struct wakers {
	struct hmap waiting; /* to struct waker_entry *, owned */
	uint64_t missing;    /* waits that somebody has ended of whom nothing is known */
};

void wakers_release(struct wakers *wakers);

/* WAKER, by ids of the profile's tables, has woken at NOW_NS thread TID, which had left at OUT_NS. */
void wakers_put(struct wakers *wakers, uint32_t tid, uint64_t out_ns,
		const struct profile_waker *waker, uint64_t now_ns);
/* Of that thread's wait since OUT_NS, as it is told; an id of PROFILE's, 0: nobody is known. */
uint32_t wakers_take(struct wakers *wakers, uint32_t tid, uint64_t out_ns, struct profile *profile);
/* That wait is not told. */
void wakers_drop(struct wakers *wakers, uint32_t tid, uint64_t out_ns);
/* Forget those from before BEFORE_NS: their waits were lost. */
void wakers_expire(struct wakers *wakers, uint64_t before_ns);
/* The tables are others now. */
void wakers_move(struct wakers *wakers, const struct profile *from, struct profile *to);

#endif
