/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread's way to a broker: a call at a time, and never for longer than its deadline. A broker
 * that does not answer in time is left behind, the next call goes to another one.
 */
#ifndef HOSTPROF_WALL_LANE_H
#define HOSTPROF_WALL_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "wall/nursery.h"
#include "wall/wall_call.h"

struct lane;

/* NURSERY is borrowed; NULL: calls are carried out in place, however long they take. */
struct lane *lane_new(struct nursery *nursery, uint64_t deadline_ns, bool urgent);
void lane_free(struct lane *lane);

/* What the next call asks for is put there. Good until it is made. */
struct wall_call *lane_begin(struct lane *lane);

/*
 * Carry it out, with FD if it is about one (-1: none). Its result, a descriptor in *RET_FD when it opened one; -ETIMEDOUT: no answer in
 * time, -ECHILD: there is no broker any more.
 */
int64_t lane_call(struct lane *lane, int fd, int *ret_fd);

/* What the last call brought, when it has succeeded; good until the next one. */
const struct wall_call *lane_answer(const struct lane *lane);

/* CPU time that brokers have used for it since the last call of this. */
uint64_t lane_take_cpu(struct lane *lane);

/* The socket of the broker that was left behind: at its end when that has ended; -1: none was. */
int lane_take_left(struct lane *lane);

#endif
