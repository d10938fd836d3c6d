/* SPDX-License-Identifier: Apache-2.0 */
/* What an input does to a fabricated JVM's memory, before it is read: offset (2 bytes), how many bytes (1), those bytes. */
#ifndef HOSTPROF_FUZZ_FAKE_CHANGES_H
#define HOSTPROF_FUZZ_FAKE_CHANGES_H

#include "base/macros.h"
#include "fake_memory.h"

#define MAX_CHANGE 32

static inline void change(struct fake_memory *fake, const uint8_t *data, size_t size)
{
	while (size > 3) {
		size_t at = data[0] | (size_t)data[1] << 8, len = data[2] % MAX_CHANGE;

		data += 3;
		size -= 3;
		len = MIN(len, MIN(size, FAKE_BYTES - at));
		memcpy(fake->bytes + at, data, len);
		data += len;
		size -= len;
	}
}

#endif
