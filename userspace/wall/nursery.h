/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that makes others (brokers, readers) and does nothing else. It is forked while ours is small: one that never
 * comes back must hold no file, no event and no memory of ours, and another one must be there at once.
 */
#ifndef HOSTPROF_WALL_NURSERY_H
#define HOSTPROF_WALL_NURSERY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "wall/trade.h"

struct nursery;

/*
 * Before threads are made, and before what must not be held is open. TRADES: all that it can make, with NULL behind the
 * last; borrowed.
 */
int nursery_new(const struct trade *const *trades, struct nursery **ret_nursery, struct err *err);
/* Those that it has made end with it, as soon as they can. */
void nursery_free(struct nursery *nursery);

/*
 * One of TRADE for the calls in the memory file CALL_FD, with SOCKET for descriptors; both stay ours.
 * URGENT: with a real-time priority, as its caller. Any thread may ask. A nursery that
 * somebody has killed is made anew; -ECHILD: that is not possible.
 */
int nursery_ask(struct nursery *nursery, const struct trade *trade, int call_fd, int socket,
		bool urgent);

#endif
