/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread's way to a process of the nursery: a call at a time, and never for longer than its deadline. One that does not
 * answer in time is left behind, or ended if it is hostile, and the next call goes to another one.
 */
#ifndef HOSTPROF_WALL_LANE_H
#define HOSTPROF_WALL_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "wall/nursery.h"
#include "wall/wall_call.h"

struct lane;

struct lane_patience {
	uint64_t deadline_ns;
	uint64_t
		disk_ns; /* from here on it is late also when it waits for a disk; 0: from the deadline on */
	uint64_t busy_ns; /* from here on it is late also when it only wants a cpu */
	uint64_t cpu_ns;  /* what a call may take of a cpu; 0: any */
};

struct lane_terms {
	const struct trade *trade;
	struct lane_patience patience;
	uint64_t len;  /* in the call when a process begins: what its trade wants to know */
	bool urgent;   /* it has a real-time priority */
	bool sleeping; /* neither waits for the other without sleeping */
};

/* NURSERY is borrowed; NULL: calls are carried out in place, however long they take. */
struct lane *lane_new(struct nursery *nursery, const struct lane_terms *terms);
void lane_free(struct lane *lane);

/* For the calls, and the processes, from now on. */
void lane_set_patience(struct lane *lane, const struct lane_patience *patience);
/* For the next call: its patience's disk_ns. */
void lane_wait_for_disk(struct lane *lane, uint64_t disk_ns);
void lane_set_len(struct lane *lane, uint64_t len);

/* What the next call asks for is put there. Good until it is made. */
struct wall_call *lane_begin(struct lane *lane);

/*
 * Carry it out, with FD if it is about one (-1: none). Its result, a descriptor in *RET_FD when it opened one; -ETIMEDOUT: no answer in
 * time, -ECHILD: it has died, or none can be had.
 */
int64_t lane_call(struct lane *lane, int fd, int *ret_fd);
/* Of the last call, which was late: when it was given up, did the process wait for a disk? */
bool lane_was_at_disk(const struct lane *lane);

/* What the last call brought, when it has succeeded; good until the next one. Who is hostile may write there at any time. */
const struct wall_call *lane_answer(const struct lane *lane);
/* The process need not wait awake for another call. */
void lane_rest(struct lane *lane);

/* CPU time that its processes have used since the last call of this. */
uint64_t lane_take_cpu(struct lane *lane);

/* The process of now; 0: there is none, or it has not begun. Of hostile ones only. */
uint32_t lane_pid(const struct lane *lane);

/* Larger with each process of any lane, 0 without one: what one has kept, the next one does not know. */
uint64_t lane_generation(const struct lane *lane);

/*
 * The socket of the one that was left behind: at its end when that has ended; -1: none was. *RET_ABOUT is the process that it was
 * asked about, of several the one that it had come to.
 */
int lane_take_left(struct lane *lane, uint32_t *ret_about);

#endif
