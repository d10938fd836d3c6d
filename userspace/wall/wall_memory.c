// SPDX-License-Identifier: Apache-2.0
/* Calls that read another process's memory. */
#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "wall/wall_private.h"

/* A piece takes 0.6 us: who has asked for more of them waits longer than it takes to fall asleep and be woken. */
#define PIECES_AWAKE 24

int64_t wall_read_memory(uint32_t pid, const struct wall_piece *pieces, unsigned int count,
			 void *data)
{
	struct lane *lane;
	int64_t result;
	int error, fd;
	struct wall_call *call = wall_begin_call(WALL_READ_MEMORY, pid, &lane, &error);

	if (!call || count > WALL_MAX_PIECES)
		return call ? -E2BIG : error;
	call->count = count;
	call->takes_long = count > PIECES_AWAKE;
	memcpy(call->pieces, pieces, count * sizeof(*pieces));
	result = wall_finish_call(lane, pid, -1, &fd);
	if (result > 0)
		memcpy(data, lane_answer(lane)->data, (size_t)result);
	return result;
}

int wall_follow(uint32_t pid, struct wall_hop *hops, unsigned int count, uint8_t *data, size_t size)
{
	size_t bytes = wall_hops_bytes(hops, count);
	struct wall_call *call;
	struct lane *lane;
	int64_t result;
	int error, fd;

	if (count > WALL_MAX_HOPS || bytes > MIN(size, sizeof(call->data)))
		return -E2BIG;
	call = wall_begin_call(WALL_FOLLOW, pid, &lane, &error);
	if (!call)
		return error;
	call->count = count;
	call->takes_long = count > PIECES_AWAKE;
	memcpy(call->hops, hops, count * sizeof(*hops));
	result = wall_finish_call(lane, pid, -1, &fd);
	if (result < 0)
		return (int)result;
	memcpy(hops, lane_answer(lane)->hops, count * sizeof(*hops));
	memcpy(data, lane_answer(lane)->data, bytes);
	return 0;
}
