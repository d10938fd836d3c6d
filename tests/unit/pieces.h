/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Another process's memory: what a test has put at some addresses, and nothing anywhere else. */
#ifndef HOSTPROF_TESTS_PIECES_H
#define HOSTPROF_TESTS_PIECES_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct piece {
	uint64_t at;
	void *bytes;
	size_t len;
};

static inline int read_one_of(const struct piece *pieces, size_t count, uint64_t address, void *dst,
			      size_t len)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t at = address - pieces[i].at;

		if (address < pieces[i].at || at > pieces[i].len || len > pieces[i].len - at)
			continue;
		memcpy(dst, (const uint8_t *)pieces[i].bytes + at, len);
		return 0;
	}
	return -EFAULT;
}

#endif
