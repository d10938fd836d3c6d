/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* What an allocation that is lost would have weighed. */
#ifndef HOSTPROF_BPF_SAMPLE_ALLOC_H
#define HOSTPROF_BPF_SAMPLE_ALLOC_H

#include "wire.h"

/* Sampling intervals are below it (capture/event.h): what is multiplied here stays within 64 bits. */
#define ALLOC_MAX_INTERVAL (1ULL << 30)

/*
 * The bytes that a sample of an object of SIZE bytes stands for at a mean INTERVAL: SIZE / (1 - e^(-SIZE /
 * INTERVAL)) by the first terms of its series, within 5 %, since there are no floating-point numbers here.
 * Userspace weighs what arrives; this goes into the books of what does not.
 */
static inline wire_u64 alloc_weight(wire_u64 size, wire_u64 interval)
{
	if (!interval || interval > ALLOC_MAX_INTERVAL || size >= 3 * interval)
		return size;
	return interval + size / 2 + size * size / (12 * interval);
}

#endif
