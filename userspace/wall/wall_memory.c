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
	result = wall_finish_call(lane, -1, &fd);
	if (result > 0)
		memcpy(data, lane_answer(lane)->data, (size_t)result);
	return result;
}

/* Into CALL what is asked of those that may be asked; of the others no piece. */
static void put_parts(struct wall_call *call, const struct wall_part *parts, unsigned int count,
		      const struct wall_piece *pieces)
{
	struct wall_piece *to = call->pieces;

	for (unsigned int i = 0; i < count; i++) {
		call->parts[i] = parts[i];
		if (!wall_may_ask(parts[i].pid))
			call->parts[i].count = 0;
		memcpy(to, pieces, call->parts[i].count * sizeof(*pieces));
		to += call->parts[i].count;
		pieces += parts[i].count;
	}
	call->takes_long = to - call->pieces > PIECES_AWAKE;
	call->count = count;
}

static void take_parts(const struct wall_call *answer, struct wall_part *parts, unsigned int count,
		       const struct wall_piece *pieces, uint8_t *data)
{
	const uint8_t *from = answer->data;

	for (unsigned int i = 0; i < count; i++) {
		size_t bytes = wall_pieces_bytes(pieces, parts[i].count);
		bool was_asked = answer->parts[i].count == parts[i].count;

		parts[i].result = was_asked ? answer->parts[i].result : -EBUSY;
		if (parts[i].result > 0)
			memcpy(data, from, MIN((size_t)parts[i].result, bytes));
		from += was_asked ? bytes : 0;
		data += bytes;
		pieces += parts[i].count;
	}
}

int wall_read_parts(struct wall_part *parts, unsigned int count, const struct wall_piece *pieces,
		    void *data)
{
	struct lane *lane;
	size_t sum = 0;
	int64_t result;
	int fd;
	struct wall_call *call;

	for (unsigned int i = 0; i < count; i++)
		sum += parts[i].count;
	if (count > WALL_MAX_PARTS || sum > WALL_MAX_PIECES)
		return -E2BIG;
	/* Whether they may be asked is found out of each. */
	call = count ? wall_start_call(WALL_READ_PARTS, parts[0].pid, &lane) : NULL;
	if (!call)
		return count ? -ECHILD : 0;
	put_parts(call, parts, count, pieces);
	result = wall_finish_call(lane, -1, &fd);
	if (result == 0)
		take_parts(lane_answer(lane), parts, count, pieces, data);
	return (int)result;
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
	result = wall_finish_call(lane, -1, &fd);
	if (result < 0)
		return (int)result;
	memcpy(hops, lane_answer(lane)->hops, count * sizeof(*hops));
	memcpy(data, lane_answer(lane)->data, bytes);
	return 0;
}
