/* SPDX-License-Identifier: Apache-2.0 */
/* Which file is mapped somewhere, without opening it; for brokers. */
#ifndef HOSTPROF_WALL_BROKER_LOOK_H
#define HOSTPROF_WALL_BROKER_LOOK_H

#include "wall/wall_call.h"

/* Carry out WALL_LOOK: 0 and CALL's id, or a negative errno. -ESTALE: what is there is not what was asked for at first sight. */
int64_t broker_look(struct wall_call *call);

#endif
