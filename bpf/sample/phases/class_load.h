/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * A class was loaded: ClassLoadingService::notify_class_loaded() (share/services/classLoadingService.cpp) has a probe in builds for Linux from
 * JDK 11 on, with the name's Symbol. A JVM may load tens of thousands a second, so that over a budget each is told with the same chance.
 */
#ifndef HOSTPROF_BPF_SAMPLE_PHASES_CLASS_LOAD_H
#define HOSTPROF_BPF_SAMPLE_PHASES_CLASS_LOAD_H

#include "sample/draw.h"
#include "sample/thin.h"

/* Of how many classes this one is told, 0: it is not. RANDOM: any 32 bits. */
static inline wire_u32 class_load_chance(struct wire_pace *pace, wire_u64 now_ns, wire_u32 random)
{
	wire_u32 doubled = pace->doubled & 31;

	if (!draw_is_taken(doubled, random))
		return 0;
	thin_count(pace, now_ns);
	return 1U << doubled;
}

#endif
