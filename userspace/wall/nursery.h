/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that makes brokers and does nothing else. It is forked while ours is small: a broker that never
 * comes back must hold no file, no event and no memory of ours, and another one must be there at once.
 */
#ifndef HOSTPROF_WALL_NURSERY_H
#define HOSTPROF_WALL_NURSERY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct nursery;

/* Before threads are made, and before what brokers must not hold is open. */
int nursery_new(struct nursery **ret_nursery, struct err *err);
/* Its brokers end with it, as soon as they can. */
void nursery_free(struct nursery *nursery);

/*
 * A broker for the calls in the memory file CALL_FD, with SOCKET for what it opens; both stay ours.
 * URGENT: with a real-time priority, as its caller. Any thread may ask. A nursery that
 * somebody has killed is made anew; -ECHILD: that is not possible.
 */
int nursery_ask(struct nursery *nursery, int call_fd, int socket, bool urgent);

#endif
