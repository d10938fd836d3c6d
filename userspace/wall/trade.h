/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process does that the nursery makes: calls, one at a time, in memory that it shares with one thread of
 * ours. Without a nursery the same calls are carried out in place.
 */
#ifndef HOSTPROF_WALL_TRADE_H
#define HOSTPROF_WALL_TRADE_H

#include <stdbool.h>

#include "wall/wall_call.h"

struct trade {
	const char *name; /* of its processes; 15 bytes at most */
	/*
	 * It may be taken over by what it reads: its word is checked, no descriptor of it is taken, it is ended when it is
	 * late, and when it dies its call is not made again, since that may be what it died of.
	 */
	bool is_hostile;
	/* In the process, before its first call. CALL is as its asker has left it. */
	void (*give_up_rights)(const struct wall_call *call);
	/* Whether a call is about a descriptor that comes with it, and whether its answer is one. */
	bool (*takes_file)(uint32_t op);
	bool (*opens_file)(uint32_t op);
	/*
	 * Carry out CALL, about FD (borrowed; -1: none). Its result, and a descriptor in *RET_FD (-1: none).
	 */
	int64_t (*carry_out)(struct wall_call *call, int fd, int *ret_fd);
	/* Whether a call is carried out sooner than who asks could be put to sleep and woken: he waits awake then. */
	bool (*is_quick)(uint32_t op);
};

/*
 * The life of such a process: calls in the memory file CALL_FD, descriptors by SOCKET. Returns when it was
 * abandoned, or could not begin.
 */
void trade_serve(const struct trade *trade, int call_fd, int socket);

#endif
