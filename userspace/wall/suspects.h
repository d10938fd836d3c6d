/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom a broker was lost to. A process that let one wait is asked again after a while, which doubles, or, for the first few times, as soon as the broker has
 * come back: on a busy host, whose threads wait for a cpu with their process's memory locked, or whose disk is slow, that is a moment later. A user
 * to whom several are lost, or much time, is asked nothing more until they come back: no user can take the brokers, or
 * the time, of the others.
 */
#ifndef HOSTPROF_WALL_SUSPECTS_H
#define HOSTPROF_WALL_SUSPECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hmap.h"

/* So often a process is asked again as soon as its broker is back: as many deadlines of the loop's it may take. */
#define SUSPECTS_FORGIVEN 4
/* Lost to one user at most, and to all; a broker that waits is 300 kB. */
#define SUSPECTS_PER_USER 4
#define SUSPECTS_AT_ALL	  48

struct suspect;

struct suspects {
	struct hmap by_pid; /* owned struct suspect */
	VEC(struct suspects_lost {
		int socket; /* owned; at its end when the broker has ended */
		uint32_t uid;
		uint32_t pid;
	})
	lost;
	uint64_t late;	    /* calls without an answer in time */
	uint64_t refused;   /* calls that were not made */
	uint32_t first_pid; /* the first that was late; 0: none */
	char first_comm[16];
};

void suspects_release(struct suspects *suspects);

/* May PID be asked now? */
bool suspects_may_ask(struct suspects *suspects, uint32_t pid, uint64_t now_ns);

/* A call that was about PID had no answer in time; SOCKET (taken) is that of the broker, or -1. */
void suspects_note_late(struct suspects *suspects, uint32_t pid, int socket, uint64_t now_ns);

/* The user of PID by /proc; UINT32_MAX: it is gone. */
uint32_t suspects_user(uint32_t pid);

#endif
