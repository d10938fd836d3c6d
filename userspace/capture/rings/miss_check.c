// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>

#include "capture/rings/record_check.h"
#include "wire.h"

static bool heap_is_sound(const struct wire_miss *miss)
{
	uint64_t bytes = 0;

	if (miss->heap_count > WIRE_MISS_HEAP_PIECES)
		return false;
	for (uint32_t i = 0; i < miss->heap_count; i++)
		bytes += miss->heap[i].bytes;
	return bytes == miss->heap_bytes;
}

int miss_check(const void *data, size_t len)
{
	const struct wire_miss *miss = data;

	if (len < sizeof(*miss) || miss->size != len || miss->kind != WIRE_MISS)
		return -EBADMSG;
	if (miss->copy_bytes > WIRE_MISS_MAX_COPY || miss->heap_bytes > WIRE_MISS_HEAP_BYTES ||
	    len != sizeof(*miss) + miss->copy_bytes + miss->heap_bytes || !heap_is_sound(miss))
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
