/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * How long a thread was in LockSupport.park(), and how often that is told. A wait's length is known when it ends, so that long ones are told
 * always; of those shorter than a level each with the chance that its length has in it, and stands for as many as that says. The
 * level doubles while a JVM, or all of them, have more than a budget allows (thin_count()). So sums are, on the average, what they were.
 */
#ifndef HOSTPROF_BPF_SAMPLE_LOCKS_PARK_H
#define HOSTPROF_BPF_SAMPLE_LOCKS_PARK_H

#include "sample/locks/lock.h"
#include "sample/thin.h"

/* The level that was doubled once. */
#define PARK_LEVEL_NS 50000ULL

/* From BEGIN_NS to NOW_NS; 0: it is not wanted, or its begin was not seen. */
static inline wire_u64 park_length(wire_u64 begin_ns, wire_u64 now_ns, wire_u64 least_ns)
{
	wire_u64 length_ns = now_ns > begin_ns ? now_ns - begin_ns : 1;

	if (!begin_ns || length_ns < least_ns || length_ns > LOCK_MOST_NS)
		return 0;
	return length_ns;
}

/* The level that was doubled so often, where STEP_NS is the first one. IS_THINNED: it counts from the start; else all are told then. */
static inline wire_u64 park_level_of(wire_u64 step_ns, bool is_thinned, wire_u32 doubled)
{
	if (is_thinned)
		return step_ns << (doubled & 31);
	return doubled ? step_ns << ((doubled - 1) & 31) : 0;
}

/* A wait of LENGTH_NS is told with a chance of one in so many. */
static inline wire_u32 park_chance(wire_u64 length_ns, wire_u64 level_ns)
{
	wire_u64 chance = (level_ns + length_ns - 1) / length_ns;

	if (chance <= 1)
		return 1;
	return chance < LOCK_MOST_CHANCE ? chance : LOCK_MOST_CHANCE;
}

/* The chance, 0: it is not told. RANDOM: any 32 bits. */
static inline wire_u32 park_draw_at(wire_u64 length_ns, wire_u64 level_ns, wire_u32 random)
{
	wire_u32 chance = park_chance(length_ns, level_ns);

	return chance > 1 && random % chance ? 0 : chance;
}

static inline wire_u32 park_draw(wire_u64 length_ns, wire_u32 doubled, wire_u32 random)
{
	return park_draw_at(length_ns, park_level_of(PARK_LEVEL_NS, false, doubled), random);
}

/* Of how many waits of LENGTH_NS this one is told, 0: it is not. PACE may have MOST in a window. */
static inline wire_u32 park_choose_of(struct wire_pace *pace, wire_u32 most, wire_u64 length_ns,
				      wire_u64 now_ns, wire_u32 random)
{
	wire_u32 chance = park_draw(length_ns, pace->doubled, random);

	if (chance)
		thin_count_of(pace, now_ns, most);
	return chance;
}

static inline wire_u32 park_choose(struct wire_pace *pace, wire_u64 length_ns, wire_u64 now_ns,
				   wire_u32 random)
{
	return park_choose_of(pace, THIN_WINDOW_MOST, length_ns, now_ns, random);
}

/* The same where all JVMs on this cpu have a pace together, too, ALL, of MOST in a window: the slower one counts. */
static inline wire_u32 park_choose_of_all(struct wire_pace *pace, struct wire_pace *all,
					  wire_u32 most, wire_u64 length_ns, wire_u64 now_ns,
					  wire_u32 random)
{
	wire_u32 doubled = pace->doubled > all->doubled ? pace->doubled : all->doubled;
	wire_u32 chance = park_draw(length_ns, doubled, random);

	if (!chance)
		return 0;
	thin_count_of(pace, now_ns, WIRE_PARK_JVM);
	thin_count_of(all, now_ns, most);
	return chance;
}

#endif
