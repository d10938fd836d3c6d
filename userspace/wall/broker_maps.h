/* SPDX-License-Identifier: Apache-2.0 */
/* The executable mappings of a process, as the kernel is asked for them (Linux 6.11 on). */
#ifndef HOSTPROF_WALL_BROKER_MAPS_H
#define HOSTPROF_WALL_BROKER_MAPS_H

#include "wall/wall_call.h"

/*
 * Those of the maps file `path` from address `offset` on into `data`. Returns the bytes that they take, with
 * `offset` where to go on (UINT64_MAX: that was all), or a negative errno: -ENOTTY on older kernels.
 */
int64_t broker_read_maps(struct wall_call *call);

#endif
