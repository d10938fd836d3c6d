// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>

#include "capture/rings/record_check.h"
#include "wire.h"

static bool are_sound(const struct wire_piece *pieces, uint32_t count, uint32_t most,
		      uint32_t all_bytes)
{
	uint64_t bytes = 0;

	if (count > most)
		return false;
	for (uint32_t i = 0; i < count; i++)
		bytes += pieces[i].bytes;
	return bytes == all_bytes;
}

int miss_check(const void *data, size_t len)
{
	const struct wire_miss *miss = data;

	if (len < sizeof(*miss) || miss->size != len || miss->kind != WIRE_MISS)
		return -EBADMSG;
	if (miss->copy_bytes > WIRE_MISS_MAX_COPY || miss->heap_bytes > WIRE_MISS_HEAP_BYTES ||
	    miss->beyond_bytes > WIRE_MISS_MAX_COPY + WIRE_PAGE_BYTES ||
	    len != sizeof(*miss) + miss->copy_bytes + miss->heap_bytes + miss->beyond_bytes ||
	    !are_sound(miss->heap, miss->heap_count, WIRE_MISS_HEAP_PIECES, miss->heap_bytes) ||
	    !are_sound(miss->beyond, miss->beyond_count, WIRE_MISS_BEYOND_PIECES,
		       miss->beyond_bytes))
		return -EBADMSG;
	if (miss->copy_at > UINT64_MAX - miss->copy_bytes)
		return -EBADMSG;
	if (miss->code_bytes != 0 && miss->code_bytes != WIRE_MISS_CODE_BYTES)
		return -EBADMSG;
	if (miss->leaf > 1 || miss->exact > 1 || miss->linked > 1 || miss->regs_kept > 1 ||
	    miss->at_entry > 1 || miss->guessed > 1)
		return -EBADMSG;
	return 0;
}
