/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Allocations of JVMs before 25 whose agent samples, without what is wrong in HotSpot's sampler there.
 *
 * That sampler sees one object every so many bytes by the end of the TLAB, which it moves to the next sample's place.
 * Of objects in the middle of a TLAB it is right. Of others it is not (share/gc/shared/memAllocator.cpp,
 * notify_allocation_jvmti_sampler(), and share/gc/shared/threadLocalAllocBuffer.cpp, set_sample_end(), up to 21):
 *
 *   - what a collection or a refill leaves of a TLAB counts as if it had been allocated, in 17 and 21 several times
 *     where objects went outside meanwhile: the first object of the next TLAB is sampled too often;
 *   - of an object outside TLABs the bytes that went by since the last sample's place are not counted: it is sampled
 *     too rarely, and not at all where it is the smaller;
 *   - 11 takes what an object reached beyond its sample's place from the next distance, where that is larger: two samples
 *     follow each other too soon, by up to a third where objects are as large as the interval;
 *   - 11 samples no more in a TLAB beside which an object went outside.
 *
 * First objects and outside ones are those that AllocTracer tells of. So each of these is taken with its own chance
 * here, and the agent's word on it is passed over. The others, in between, are the agent's. What they weigh
 * together is known: all that the thread allocated, without what AllocTracer told. By the ratio of that to
 * what the sampler's samples weigh theirs are corrected, thread by thread.
 *
 * What follows an object that went outside, in the rest of that TLAB, is sampled too rarely, too, or not at all; and
 * small objects alone fit there. So its bytes are not in that ratio: they wait, by the room that there was, for the next
 * sample of an object that would have fitted.
 */
#ifndef HOSTPROF_BPF_SAMPLE_BETWEEN_H
#define HOSTPROF_BPF_SAMPLE_BETWEEN_H

#include "sample/thin.h"
#include "sample/tlab.h"
#include "wire.h"

/* The ratio is that of about so many samples; it begins with a quarter of them that are right. */
#define BETWEEN_SAMPLES 256
/* A thread that was lost sight of for longer than this says nothing. */
#define BETWEEN_MAX_STEP (1ULL << 40)
/* Of the fixed-point numbers here. */
#define BETWEEN_SHIFT 10
/* Objects of more intervals than this are sampled for certain. */
#define BETWEEN_CERTAIN 5

/* 1 in what is a chance, and the terms of 2^-f for f below 1, by their powers. */
#define BETWEEN_ONE	 (1ULL << 20)
#define BETWEEN_LOG2_E	 94548ULL /* of 2^16 */
#define BETWEEN_EXP_1	 45421ULL
#define BETWEEN_EXP_2	 15699ULL
#define BETWEEN_EXP_3	 3500ULL
#define BETWEEN_EXP_4	 454ULL
#define BETWEEN_EXP_BITS 20
/* For objects below this part (a power of two) of the interval the chance is as at their beginning. */
#define BETWEEN_SMALL_SHIFT 6

struct between_book {
	wire_u64 thread;	/* its JavaThread; 0: AllocTracer told of nothing yet */
	wire_u64 top;		/* of its TLAB, when AllocTracer told last */
	wire_u64 told;		/* bytes of which it told, or that wait */
	wire_u64 between;	/* bytes of others, when one was sampled last */
	wire_u64 bytes, weight; /* what was allocated between, and what samples of it weighed */
	wire_u64
		beside; /* the thread's bytes when an object went outside; 0: none since the last TLAB */
	wire_u64 room; /* that its TLAB had then */
	wire_u64 waiting[TLAB_POTS];
	wire_u64 noted; /* the thread's bytes when AllocTracer told last */
	wire_u64 hit;	/* likewise, when the sampler saw one last */
	wire_u64 reach; /* what that one reached beyond its sample's place, in JDK 11 */
};

/*
 * SIZE / (1 - e^(-SIZE / INTERVAL)) within 2 %: INTERVAL times 1 + x/2 + x^2/12 - x^4/720 + x^6/30240 for x up to 4, SIZE
 * above. Both below 2^40.
 */
static inline wire_u64 between_weight(wire_u64 size, wire_u64 interval)
{
	wire_u64 x, x2, factor;

	if (!interval || size >= BETWEEN_CERTAIN * interval)
		return size;
	x = (size << BETWEEN_SHIFT) / interval;
	x2 = (x * x) >> BETWEEN_SHIFT;
	if (x >= 4ULL << BETWEEN_SHIFT)
		return size + size / 80;
	factor = (1ULL << BETWEEN_SHIFT) + x / 2 + x2 / 12 +
		 (((x2 * x2) >> BETWEEN_SHIFT) * x2 >> BETWEEN_SHIFT) / 30240 -
		 ((x2 * x2) >> BETWEEN_SHIFT) / 720;
	return (interval * factor) >> BETWEEN_SHIFT;
}

/* e^(-SIZE / INTERVAL) in parts of BETWEEN_ONE. */
static inline wire_u64 between_exp(wire_u64 size, wire_u64 interval)
{
	wire_u64 y, f, sum;

	if (size >= BETWEEN_EXP_BITS * interval)
		return 0;
	y = ((size << 16) / interval * BETWEEN_LOG2_E) >> 16;
	f = y & 0xffff;
	sum = BETWEEN_EXP_3 - ((f * BETWEEN_EXP_4) >> 16);
	sum = BETWEEN_EXP_2 - ((f * sum) >> 16);
	sum = BETWEEN_EXP_1 - ((f * sum) >> 16);
	return (BETWEEN_ONE - ((f * sum) >> (16 + 16 - BETWEEN_EXP_BITS))) >> (y >> 16);
}

/*
 * The chance that JDK 11's sampler (runtime/threadHeapSampler.cpp, pick_next_sample()) sees nothing for BYTES after an
 * object that reached REACH beyond its sample's place. It draws X with a mean of INTERVAL, and goes on after X - REACH bytes
 * where that is more than 0, else after X. CUT: e^(-REACH / INTERVAL).
 */
static inline wire_u64 between_unseen(wire_u64 bytes, wire_u64 reach, wire_u64 cut,
				      wire_u64 interval)
{
	wire_u64 e = between_exp(bytes, interval);

	if (bytes >= reach)
		return (e * cut) >> BETWEEN_EXP_BITS;
	e += (e * cut) >> BETWEEN_EXP_BITS;
	return e > cut ? e - cut : 0;
}

/* By that chance what an object of SIZE stands for that begins PASSED bytes after the one that was seen last. */
static inline wire_u64 between_weight_after(wire_u64 size, wire_u64 interval, wire_u64 passed,
					    wire_u64 reach)
{
	wire_u64 plain = between_weight(size, interval), cut, before, after, weight;

	if (passed >= reach || size >= BETWEEN_CERTAIN * interval || !interval)
		return plain;
	cut = between_exp(reach, interval);
	before = between_unseen(passed, reach, cut, interval);
	if (size < interval >> BETWEEN_SMALL_SHIFT)
		weight = plain * before / (before + cut + 1);
	else {
		after = between_unseen(passed + size, reach, cut, interval);
		weight = before > after ? size * before / (before - after) : plain;
	}
	return weight > size ? weight : size;
}

/* The thread has ALLOCATED so many bytes: those since an object went outside wait. */
static inline void between_wait(struct between_book *book, wire_u64 allocated)
{
	wire_u64 passed = allocated - book->beside;

	if (!book->beside || passed >= BETWEEN_MAX_STEP)
		return;
	book->told += passed;
	book->waiting[tlab_pot(book->room) % TLAB_POTS] += passed;
	book->beside = allocated;
}

static inline wire_u64 between_take_waiting(struct between_book *book, wire_u64 size)
{
	wire_u64 taken = 0;

	for (wire_u32 i = 0; i < TLAB_POTS; i++) {
		if (size > 1ULL << (TLAB_LEAST_POT_SHIFT + i))
			continue;
		taken += book->waiting[i];
		book->waiting[i] = 0;
	}
	return taken;
}

/*
 * Is what the thread has allocated, and the room of its TLAB, of any use when AllocTracer tells? Not of an object that began a
 * TLAB, as half of them do, where none went outside before: to read it takes as long as all the rest. REACHES: as below.
 */
static inline bool between_needs_thread(const struct between_book *book, bool fresh, bool reaches)
{
	return !fresh || book->beside || reaches;
}

/*
 * AllocTracer tells of an object, after which the thread has ALLOCATED so many bytes, and its TLAB ROOM for more; FRESH: it
 * began the TLAB. Both may be 0 where they are of no use.
 */
static inline void between_note_told(struct between_book *book, wire_u64 size, wire_u64 allocated,
				     wire_u64 room, bool fresh)
{
	between_wait(book, allocated - size);
	book->beside = fresh ? 0 : allocated;
	book->room = room;
	book->told += size;
	book->noted = allocated;
}

/* AllocTracer tells of an object of SIZE: its weight when it is taken, 0: it is not. RANDOM: any 32 bits. */
static inline wire_u64 between_take_told(wire_u64 size, wire_u64 interval, wire_u32 random)
{
	return thin_weight(size, between_weight(size, interval), random);
}

/* The agent tells of an object of SIZE, and the TLAB's top is TOP: AllocTracer has told of the same. */
static inline bool between_is_told(struct between_book *book, wire_u64 size, wire_u64 top)
{
	if (book->top != top)
		return false;
	/* Its place was anywhere in it. */
	book->hit = book->noted;
	book->reach = size / 2;
	return true;
}

/*
 * The agent tells of another one; the thread has ALLOCATED so many bytes. What its sample stands for. REACHES: the sampler
 * is JDK 11's.
 */
static inline wire_u64 between_weigh(struct between_book *book, wire_u64 size, wire_u64 interval,
				     wire_u64 allocated, bool reaches)
{
	wire_u64 reach = reaches ? book->reach : 0, between, passed, taken, weight;

	weight = between_weight_after(size, interval, allocated - size - book->hit, reach);
	book->hit = allocated;
	book->reach = size;
	if (book->beside) {
		between_wait(book, allocated);
		taken = between_take_waiting(book, size);
		return taken > size ? taken : size;
	}
	between = allocated - book->told;
	passed = between - book->between;
	book->between = between;
	if (!book->weight) {
		book->bytes = book->weight = (BETWEEN_SAMPLES / 4) * weight;
		passed = weight;
	}
	book->bytes += passed < BETWEEN_MAX_STEP ? passed : weight;
	book->weight += weight;
	if (book->weight >= BETWEEN_SAMPLES * weight) {
		book->weight /= 2;
		book->bytes /= 2;
	}
	/* Its two factors fit into 64 bits after this. */
	weight = weight * ((book->bytes << 8) / (book->weight >> BETWEEN_SHIFT)) >>
		 (8 + BETWEEN_SHIFT);
	return weight + between_take_waiting(book, size);
}

#endif
