/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A heap of a JVM whose threads park: objects that refer to each other as struct wire_blocker says. */
#ifndef HOSTPROF_TESTS_PARKED_OBJECTS_H
#define HOSTPROF_TESTS_PARKED_OBJECTS_H

#include <stdint.h>
#include <string.h>

#include "wire.h"

#define HEAP_AT 0x7f0070000000ULL
#define SHIFT	3 /* of a reference of 4 bytes */

static uint64_t objects[64];
static struct wire_parking jvm;

static inline void put(uint64_t at, uint64_t value, size_t len)
{
	memcpy((uint8_t *)objects + (at - HEAP_AT), &value, len);
}

/* OBJECT 0: to none. */
static inline void put_reference(uint64_t at, uint64_t object)
{
	if (object && jvm.blocker.oop_bytes == 4)
		object = (object - HEAP_AT) >> SHIFT;
	put(at, object, jvm.blocker.oop_bytes);
}

#endif
