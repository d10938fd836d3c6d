/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an input does to the memory() of a fabricated JVM, which who includes this has: offset (2 bytes), how many bytes (1), those bytes; 255 for
 * their number: an address (2 bytes) in it. Some of it before the first read, the rest once, while it is read.
 */
#ifndef HOSTPROF_FUZZ_MEMORY_CHANGES_H
#define HOSTPROF_FUZZ_MEMORY_CHANGES_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "fake_memory.h"
#include "late_changes.h"

#define MAX_CHANGE 32
/* A chain that leads in a circle is followed 65,536 times, and each of it looked at. */
#define MAX_READS  (1U << 19)
#define POINTER	   255
#define LATE_HALFS 16U

static void put_pointer(size_t at, const uint8_t *data)
{
	uint64_t address = FAKE_BASE + (data[0] | (uint64_t)data[1] << 8);

	if (at <= FAKE_BYTES - sizeof(address))
		memcpy(memory()->bytes + at, &address, sizeof(address));
}

static void change(struct change c)
{
	while (c.size > 4) {
		size_t at = c.data[0] | (size_t)c.data[1] << 8, len = c.data[2];

		c.data += 3;
		c.size -= 3;
		if (len == POINTER) {
			put_pointer(at, c.data);
			len = 2;
		} else {
			len = MIN(len % MAX_CHANGE, MIN(c.size, FAKE_BYTES - at));
			memcpy(memory()->bytes + at, c.data, len);
		}
		c.data += len;
		c.size -= len;
	}
}

static int read_changing(const struct vm_memory *m, const struct vm_span *spans, unsigned int count)
{
	changes_at_read(MAX_READS);
	return fake_read(m, spans, count);
}

/* Called when the JVM is made, before VMStructs are read, which have their own idea of memory from then on. */
static inline void changes_begin(void)
{
	later_at = 0;
	reads = 0;
	memory()->memory.read = read_changing;
}

/* The first byte is the caller's; the second says after how many reads the memory changes once more, the third how much of the rest does so. */
static inline void changes_apply(const uint8_t *data, size_t size)
{
	size_t now = (size - 3) * (LATE_HALFS - data[2] % LATE_HALFS) / LATE_HALFS;

	changes_split(data + 3, size - 3, now, data[1]);
}

#endif
