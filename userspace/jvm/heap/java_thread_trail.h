/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way to a thread's name, from its JavaThread to the chars: each piece of memory that was read, and what was there. When all of it
 * is there still, between two looks at whether objects move (heap_pause.h), the name is what it was; that takes one call for several
 * threads, where reading a name takes ten.
 */
#ifndef HOSTPROF_JVM_HEAP_JAVA_THREAD_TRAIL_H
#define HOSTPROF_JVM_HEAP_JAVA_THREAD_TRAIL_H

#include <stdbool.h>
#include <stddef.h>

#include "jvm/heap/java_thread_layout.h"

#define JAVA_TRAIL_SPANS 16
#define JAVA_TRAIL_BYTES 2048

struct java_trail_span {
	uint64_t address;
	uint32_t len;
};

struct java_thread_trail {
	uint32_t spans, bytes;
	struct java_trail_span span[JAVA_TRAIL_SPANS];
	uint8_t data[JAVA_TRAIL_BYTES]; /* one span's bytes behind the other's */
};

/* Go on with COUNT spans that were just read. A trail that is too long leads nowhere: it is never the same. */
void java_thread_trail_add(struct java_thread_trail *trail, const struct vm_span *spans,
			   unsigned int count);

/* What of it is to be kept. */
size_t java_thread_trail_bytes(const struct java_thread_trail *trail);

/* What is looked at again: no spans are never the same. */
struct java_trail {
	const struct java_trail_span *spans; /* borrowed, as is DATA */
	const uint8_t *data;		     /* one span's bytes behind the other's */
	uint32_t count, bytes;
};

/* What one look has room for. */
#define JAVA_TRAIL_MOST_SPANS 512
#define JAVA_TRAIL_MOST_BYTES (16U << 10)

/* Of one that is too long: no spans. NULL: likewise. */
struct java_trail java_thread_trail_whole(const struct java_thread_trail *trail);

struct java_trail_look {
	const struct java_thread_layout *layout; /* of its JVM; borrowed */
	struct java_trail trail;
	bool same; /* it is the same now; one that could not be read is not */
};

/* COUNT of them, those of a JVM one behind the other: many JVMs are asked in one call. */
void java_thread_trails_check(struct java_trail_look *looks, size_t count);

#endif
