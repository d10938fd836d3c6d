// SPDX-License-Identifier: Apache-2.0
#include "snapshot.h"
#include "wire.h"

#include <errno.h>
#include <string.h>

/* How far behind the copy's end a word may still be one of the stack. */
#define STACK_BYTES (8U << 20)

static int read_red_zone(const struct snapshot *s, uint64_t address, void *dst, size_t len)
{
	uint64_t depth = (s->regs[DWARF_RSP] - address) / 8;

	if (len != 8 || depth == 0 || depth > RED_ZONE_WORDS ||
	    !s->red_zone_known[RED_ZONE_WORDS - depth])
		return -EFAULT;
	memcpy(dst, &s->red_zone[RED_ZONE_WORDS - depth], 8);
	return 0;
}

int snapshot_read(const struct snapshot *s, uint64_t address, void *dst, size_t len, bool *cut)
{
	uint64_t at = address - s->stack_at;

	if (at <= s->stack_len && len <= s->stack_len - at) {
		memcpy(dst, s->stack + at, len);
		return 0;
	}
	if (len == 8 && at + 8 > s->stack_len && at < s->stack_len + STACK_BYTES)
		*cut = true;
	return read_red_zone(s, address, dst, len);
}
