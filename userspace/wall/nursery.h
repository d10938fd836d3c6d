/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that makes brokers, and those who do other things that may never end, and does nothing else. It is forked while
 * ours is small, and while it has all rights: a broker that never comes back must hold no file, no event and no memory of
 * ours, and another one must be there at once, when we have no rights any more. A second process, its
 * keeper, makes it anew when somebody has killed it.
 */
#ifndef HOSTPROF_WALL_NURSERY_H
#define HOSTPROF_WALL_NURSERY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct nursery;

enum nursery_child {
	NURSERY_BROKER, /* for the calls in a memory file */
	NURSERY_URGENT, /* the same, with a real-time priority, as its caller */
	NURSERY_HELPER,
};

/* What a helper does: it gets SOCKET and FD as the asker gave them, and ends when it returns. */
typedef void (*nursery_help_fn)(int socket, int fd);

/*
 * Before threads are made, and before what brokers must not hold is open. HELP: what helpers do, with the rights to attach;
 * NULL: there are none.
 */
int nursery_new(nursery_help_fn help, struct nursery **ret_nursery, struct err *err);
/* Its children end with it, as soon as they can. */
void nursery_free(struct nursery *nursery);

bool nursery_has_helpers(const struct nursery *nursery);

/*
 * A child with FD and SOCKET; both stay ours. Any thread may ask. -ECHILD: there can be none, both processes have
 * been killed.
 */
int nursery_ask(struct nursery *nursery, int fd, int socket, enum nursery_child child);

#endif
