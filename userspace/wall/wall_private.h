/* SPDX-License-Identifier: Apache-2.0 */
/* How calls are made. */
#ifndef HOSTPROF_WALL_WALL_PRIVATE_H
#define HOSTPROF_WALL_WALL_PRIVATE_H

#include <stdbool.h>

#include "wall/lane.h"
#include "wall/wall.h"

/* May PID be asked now? 0 is what is ours. */
bool wall_may_ask(uint32_t pid);

/* A call about PID, who may be asked, that is to be filled in; NULL: there is nobody who could answer. */
struct wall_call *wall_start_call(enum wall_op op, uint32_t pid, struct lane **ret_lane);

/* The same, when PID may be asked; NULL: *RET_ERROR says why not. */
struct wall_call *wall_begin_call(enum wall_op op, uint32_t pid, struct lane **ret_lane,
				  int *ret_error);

/* Make it, with GIVEN (-1: no file); what it brought is lane_answer()'s. */
int64_t wall_finish_call(struct lane *lane, int given, int *ret_fd);

#endif
