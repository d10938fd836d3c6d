/* SPDX-License-Identifier: Apache-2.0 */
/* Fabricated JVM memory: one block of whole pages at FAKE_BASE; all else does not exist. */
#ifndef HOSTPROF_TESTS_FAKE_MEMORY_H
#define HOSTPROF_TESTS_FAKE_MEMORY_H

#include <errno.h>
#include <string.h>

#include "jvm/layout/vm_memory.h"

#ifndef FAKE_BASE
#define FAKE_BASE 0x7f0000100000ULL
#endif
#define FAKE_BYTES (64U << 10)

struct fake_memory {
	struct vm_memory memory;
	uint8_t bytes[FAKE_BYTES];
	size_t used;
	unsigned int reads;
};

static int fake_read(const struct vm_memory *memory, const struct vm_span *spans,
		     unsigned int count)
{
	struct fake_memory *fake = memory->data;

	fake->reads++;
	if (count > VM_MEMORY_MAX_SPANS)
		return -E2BIG;
	for (unsigned int i = 0; i < count; i++) {
		uint64_t at = spans[i].address - FAKE_BASE;

		if (spans[i].address < FAKE_BASE || at > FAKE_BYTES ||
		    spans[i].len > FAKE_BYTES - at)
			return -EFAULT;
		memcpy(spans[i].data, fake->bytes + at, spans[i].len);
	}
	return 0;
}

static inline void fake_init(struct fake_memory *fake)
{
	memset(fake, 0, sizeof(*fake));
	fake->memory = (struct vm_memory){ .read = fake_read, .data = fake };
}

/* Room for LEN bytes, 8-byte aligned; the address in the fake process. */
static inline uint64_t fake_alloc(struct fake_memory *fake, size_t len)
{
	size_t at = (fake->used + 7) & ~(size_t)7;

	if (at + len > FAKE_BYTES)
		abort();
	fake->used = at + len;
	return FAKE_BASE + at;
}

static inline void fake_put(struct fake_memory *fake, uint64_t address, const void *data,
			    size_t len)
{
	memcpy(fake->bytes + (address - FAKE_BASE), data, len);
}

static inline uint64_t fake_add(struct fake_memory *fake, const void *data, size_t len)
{
	uint64_t address = fake_alloc(fake, len);

	fake_put(fake, address, data, len);
	return address;
}

static inline uint64_t fake_string(struct fake_memory *fake, const char *text)
{
	return fake_add(fake, text, strlen(text) + 1);
}

static inline void fake_put_u64(struct fake_memory *fake, uint64_t address, uint64_t value)
{
	fake_put(fake, address, &value, sizeof(value));
}

static inline void fake_put_u16(struct fake_memory *fake, uint64_t address, uint16_t value)
{
	fake_put(fake, address, &value, sizeof(value));
}

#endif
