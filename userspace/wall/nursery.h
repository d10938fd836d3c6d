/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that makes others (brokers, readers, and those who do things that may never end), and does nothing else. It is
 * forked while ours is small, and while it has all rights: one that never comes back must hold no file, no event and no memory
 * of ours, and another one must be there at once, when we have no rights any more. A second process, its keeper, makes it
 * anew when somebody has killed it.
 */
#ifndef HOSTPROF_WALL_NURSERY_H
#define HOSTPROF_WALL_NURSERY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "wall/trade.h"

struct nursery;

/* What a helper does: it gets SOCKET and FD as the asker gave them, and ends when it returns. */
typedef void (*nursery_help_fn)(int socket, int fd);

/* All that it can make; borrowed. */
struct nursery_plan {
	const struct trade *const *trades; /* NULL is behind the last */
	nursery_help_fn help; /* with the rights to attach; NULL: there are no helpers */
};

/* Before threads are made, and before what must not be held is open. */
int nursery_new(const struct nursery_plan *plan, struct nursery **ret_nursery, struct err *err);
/* Those that it has made end with it, as soon as they can. */
void nursery_free(struct nursery *nursery);

bool nursery_has_helpers(const struct nursery *nursery);

/*
 * One of TRADE for the calls in the memory file CALL_FD, with SOCKET for descriptors; both stay ours.
 * URGENT: with a real-time priority, as its caller. Any thread may ask. -ECHILD: there can be none, nursery and keeper
 * have been killed.
 */
int nursery_ask(struct nursery *nursery, const struct trade *trade, int call_fd, int socket,
		bool urgent);
/* The same of a helper, with SOCKET and FD. */
int nursery_ask_helper(struct nursery *nursery, int fd, int socket);

#endif
