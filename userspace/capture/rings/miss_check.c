// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "capture/rings/record_check.h"
#include "wire.h"

int miss_check(const void *data, size_t len)
{
	const struct wire_miss *miss = data;

	if (len < sizeof(*miss) || miss->size != len || miss->kind != WIRE_MISS)
		return -EBADMSG;
	if (miss->copy_bytes > WIRE_MISS_MAX_COPY || len != sizeof(*miss) + miss->copy_bytes)
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
