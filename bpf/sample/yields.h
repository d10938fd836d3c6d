/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Virtual threads that have left their carriers: since when, and what is to be known of it when they are back. */
#ifndef HOSTPROF_BPF_SAMPLE_YIELDS_H
#define HOSTPROF_BPF_SAMPLE_YIELDS_H

#include "sample/maps.h"

/* One that has gone for good leaves its entry to who comes next. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* WIRE_YIELDS of each event that wants them */
	__type(key, struct wire_yield_key);
	__type(value, struct wire_yield);
} yields SEC(".maps");

#endif
