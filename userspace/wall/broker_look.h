/* SPDX-License-Identifier: Apache-2.0 */
/* Which file is mapped somewhere, without opening it; for brokers. */
#ifndef HOSTPROF_WALL_BROKER_LOOK_H
#define HOSTPROF_WALL_BROKER_LOOK_H

#include "wall/wall_call.h"

/* Carry out WALL_LOOK: 0 and CALL's id, or a negative errno. -ESTALE: what is there is not what was asked for at first sight. */
int64_t broker_look(struct wall_call *call);

/* The file behind a mapping of process PID. 0 or a negative errno. */
int broker_look_at_mapping(uint32_t pid, uint64_t start, uint64_t end, struct file_id *ret_id);

#endif
