/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * How long a thread will be gone is not known when it leaves its cpu, and its stack can be walked only then. So
 * it is walked with a chance that follows from how long its waits were before, and stands for as many as
 * its chance says: the weight is length / chance. The chance is chosen before the length is known,
 * so sums are, on the average, what they were.
 *
 * Waits of one thread are not alike: it sleeps in one place, and takes a lock in another. A place is
 * what the kernel knows of the thread without a look at its stack: the system call and the user's registers.
 * A place whose waits are a part of a step is walked with that chance. The step is the least length that is wanted; where all are,
 * all are walked, until a cpu walks too many stacks: then its step doubles until they are few enough,
 * so that short waits are left out first, long ones last.
 * How long waits of a place are is the root of their mean square, since it is a sum's variance that is to be
 * small: a long one among a thousand short ones is not to stand for a thousand. It follows a few hundred waits.
 */
#ifndef HOSTPROF_BPF_SAMPLE_OFFCPU_H
#define HOSTPROF_BPF_SAMPLE_OFFCPU_H

#include "sample/draw.h"

/* A step that was doubled WIRE_OFFCPU_STEP_DOUBLED times, where all waits are wanted; else the least length, doubled so from the first. */
#define OFFCPU_STEP_NS 1000000ULL
/* Lengths are squared in parts (a power of two) of that; a longer one counts as so many of it. */
#define OFFCPU_PART_SHIFT 10
#define OFFCPU_MOST_STEPS 256
/* Squares have so many bits behind the point, or small differences would never be learnt. */
#define OFFCPU_SQUARE_SHIFT 8
/* A wait changes its place's mean square by this part (a power of two) of the difference; the first ones by more. */
#define OFFCPU_LEARN_SHIFT 8
/* A cpu that walks more stacks than WIRE_OFFCPU_MOST_WALKS in that time, or its part of the host's, doubles its step. */
#define OFFCPU_WINDOW_NS 100000000ULL

/* Of what is owed to a place a sample gets this part (a power of two), and weighs this part of its own at least. */
#define OFFCPU_OWED_SHIFT  1
#define OFFCPU_LEAST_SHIFT 2

/* Places of threads that did not ask for their wait. Others' keys have the lowest bit set. */
#define OFFCPU_KEY_QUEUED 2
#define OFFCPU_KEY_FAULT  4

/* task_struct.__state and exit states, include/linux/sched.h. */
#define OFFCPU_TASK_INTERRUPTIBLE   0x01
#define OFFCPU_TASK_UNINTERRUPTIBLE 0x02
#define OFFCPU_TASK_STOPPED	    0x04
#define OFFCPU_TASK_TRACED	    0x08
#define OFFCPU_TASK_DEAD	    0x80
#define OFFCPU_TASK_FROZEN	    0x8000

/* The type in inode.i_mode, include/uapi/linux/stat.h; anonymous inodes have none. */
#define OFFCPU_S_IFMT	0170000
#define OFFCPU_S_IFSOCK 0140000
#define OFFCPU_S_IFREG	0100000
#define OFFCPU_S_IFBLK	0060000
#define OFFCPU_S_IFDIR	0040000
#define OFFCPU_S_IFCHR	0020000
#define OFFCPU_S_IFIFO	0010000

/* What waits, as far as it is known without its stack. */
struct offcpu_call {
	wire_s64 number; /* negative: in no system call */
	wire_u64 pc, sp;
};

/* How busy a cpu is with walks. */
struct offcpu_rate {
	wire_u64 window_ns; /* when it began */
	wire_u32 taken;	    /* in it */
	wire_u32 doubled;   /* so often its step; 0: none is left out */
};

/* PREEMPTED: it did not leave by itself. */
static inline enum wire_state offcpu_state(bool preempted, wire_u32 task_state)
{
	if (preempted || !task_state)
		return WIRE_STATE_QUEUED;
	if (task_state & (OFFCPU_TASK_STOPPED | OFFCPU_TASK_TRACED | OFFCPU_TASK_FROZEN))
		return WIRE_STATE_STOPPED;
	if (task_state & OFFCPU_TASK_INTERRUPTIBLE)
		return WIRE_STATE_SLEEPING;
	return WIRE_STATE_BLOCKED;
}

/* From when it left until it was back. */
static inline wire_u64 offcpu_length(wire_u64 out_ns, wire_u64 back_ns)
{
	return back_ns > out_ns ? back_ns - out_ns : 0;
}

/* --- places ----------------------------------------------------------------------------------- */

static inline wire_u32 offcpu_key(enum wire_state state, const struct offcpu_call *call)
{
	wire_u64 mixed;

	if (state == WIRE_STATE_QUEUED)
		return OFFCPU_KEY_QUEUED;
	if (call->number < 0)
		return OFFCPU_KEY_FAULT;
	mixed = (call->pc ^ call->sp << 20 ^ (wire_u64)call->number << 52) * 0x9e3779b97f4a7c15ULL;
	return (wire_u32)(mixed >> 32) | 1;
}

/* Of a length, as places have it. */
static inline wire_u64 offcpu_square(wire_u64 length_ns, wire_u64 step_ns)
{
	wire_u64 parts;

	if (length_ns > step_ns * OFFCPU_MOST_STEPS)
		length_ns = step_ns * OFFCPU_MOST_STEPS;
	parts = length_ns / (step_ns >> OFFCPU_PART_SHIFT);
	return parts * parts << OFFCPU_SQUARE_SHIFT;
}

/* Makes a place that is new, in that of the one before the last ones. */
static inline wire_u32 offcpu_site(struct wire_offcpu *thread, wire_u32 key, wire_u64 step_ns)
{
	wire_u32 at;

	for (wire_u32 i = 0; i < WIRE_OFFCPU_SITES; i++)
		if (thread->sites[i].key == key)
			return i;
	at = thread->next++ % WIRE_OFFCPU_SITES;
	thread->sites[at].key = key;
	thread->sites[at].waits = 0;
	thread->sites[at].skips = 0;
	thread->sites[at].skipped = 0;
	/* Nothing is known of its waits: they may be long. */
	thread->sites[at].square = offcpu_square(step_ns, step_ns);
	return at;
}

/* The share (a power of two) by which the next one of COUNT changes what is known of them. */
static inline wire_u32 offcpu_learn_shift(wire_u32 count)
{
	wire_u32 shift = 0;

	for (wire_u32 i = 0; i < OFFCPU_LEARN_SHIFT; i++)
		shift += count >> i != 0;
	return shift;
}

static inline void offcpu_learn(struct wire_offcpu_site *site, wire_u64 length_ns, wire_u64 step_ns)
{
	wire_u64 square = offcpu_square(length_ns, step_ns);
	/* What a new place begins with counts as one. */
	wire_u32 shift = offcpu_learn_shift(site->waits | 1) & 15;

	if (square > site->square)
		site->square += (square - site->square) >> shift;
	else
		site->square -= (site->square - square) >> shift;
	if (!(site->waits >> OFFCPU_LEARN_SHIFT))
		site->waits++;
}

/* --- chances: 2^-halved ----------------------------------------------------------------------- */

/* Of waits of a mean SQUARE, where the step is doubled so often. */
static inline wire_u32 offcpu_halved(wire_u64 square, wire_u32 doubled)
{
	wire_u32 halved = 0;

	for (wire_u32 i = 1; i <= WIRE_OFFCPU_MOST_HALVED; i++) {
		wire_u64 part =
			((1ULL << OFFCPU_PART_SHIFT << doubled) >> WIRE_OFFCPU_STEP_DOUBLED) >> i;

		if (i <= doubled && square < part * part << OFFCPU_SQUARE_SHIFT)
			halved = i;
	}
	return halved;
}

/* How often the cpu's step is doubled at NOW_NS. Of each window that has gone by with few walks, of MOST, once less. */
static inline wire_u32 offcpu_rate_doubled(struct offcpu_rate *rate, wire_u64 now_ns, wire_u32 most)
{
	wire_u64 windows = (now_ns - rate->window_ns) / OFFCPU_WINDOW_NS;

	if (!windows)
		return rate->doubled;
	if (rate->taken >= most / 2)
		windows--;
	rate->doubled = windows >= rate->doubled ? 0 : rate->doubled - (wire_u32)windows;
	rate->window_ns = now_ns;
	rate->taken = 0;
	return rate->doubled;
}

/* A stack is walked, one of MOST in a window. */
static inline void offcpu_rate_count(struct offcpu_rate *rate, wire_u32 most)
{
	if (++rate->taken < most)
		return;
	if (rate->doubled < WIRE_OFFCPU_MOST_HALVED)
		rate->doubled++;
	rate->taken = 0;
}

/* --- sums ------------------------------------------------------------------------------------- */

/*
 * What a wait of LENGTH_NS weighs that is PLAIN_NS by its chance, where the sum of a thread's weights is to follow its clock: that, and half of
 * what the thread has waited beyond the weights of the samples before. On the average that is nothing.
 */
static inline wire_u64 offcpu_settle(wire_s64 *owed_ns, wire_u64 length_ns, wire_u64 plain_ns)
{
	wire_s64 plain = (wire_s64)plain_ns;
	wire_s64 weight = plain + (*owed_ns >> OFFCPU_OWED_SHIFT);

	if (weight < plain >> OFFCPU_LEAST_SHIFT)
		weight = plain >> OFFCPU_LEAST_SHIFT;
	*owed_ns += (wire_s64)length_ns - weight;
	return (wire_u64)weight;
}

/*
 * The same of one whose stack was walked with a chance of 2^-HALVED, at a place with its own book. A long wait at a place of short ones weighs
 * itself: it would be most of the thread's life by its chance; one like it that is not walked is owed.
 */
static inline wire_u64 offcpu_weight(wire_s64 *owed_ns, wire_u64 length_ns, wire_u32 halved,
				     wire_u64 step_ns)
{
	wire_u64 most = length_ns > 2 * step_ns ? length_ns : 2 * step_ns;
	wire_u64 by_chance = length_ns << halved;

	return offcpu_settle(owed_ns, length_ns, by_chance > most ? most : by_chance);
}

/* --- typical lengths -------------------------------------------------------------------------- */

/*
 * A walk takes as long as a short wait, and who is walked waits for it: if one in many is walked, and stands for them by its own length, their sum
 * is too much by half. So each stands for itself, and for the others by what those were that were not walked.
 */
static inline void offcpu_skip(struct wire_offcpu_site *site, wire_u64 length_ns)
{
	wire_u64 length = length_ns << WIRE_OFFCPU_SKIPPED_SHIFT;
	wire_u32 shift = offcpu_learn_shift(site->skips) & 15;

	if (length > site->skipped)
		site->skipped += (length - site->skipped) >> shift;
	else
		site->skipped -= (site->skipped - length) >> shift;
	if (!(site->skips >> OFFCPU_LEARN_SHIFT))
		site->skips++;
}

/* Of QUEUED_NS in LENGTH_NS the same part of a TYPICAL_NS, no more than the length. */
static inline wire_u64 offcpu_typical_queued(wire_u64 queued_ns, wire_u64 length_ns,
					     wire_u64 typical_ns)
{
	wire_u64 queued = length_ns ? (queued_ns << 10) / length_ns * typical_ns >> 10 : 0;

	return queued < length_ns ? queued : length_ns;
}

/* --- reasons ---------------------------------------------------------------------------------- */

static inline enum wire_cause offcpu_file_cause(wire_u32 mode, bool writes)
{
	switch (mode & OFFCPU_S_IFMT) {
	case OFFCPU_S_IFSOCK: return writes ? WIRE_CAUSE_SOCKET_WRITE : WIRE_CAUSE_SOCKET_READ;
	case OFFCPU_S_IFIFO: return writes ? WIRE_CAUSE_PIPE_WRITE : WIRE_CAUSE_PIPE_READ;
	case OFFCPU_S_IFREG:
	case OFFCPU_S_IFDIR:
	case OFFCPU_S_IFBLK: return WIRE_CAUSE_FILE;
	case OFFCPU_S_IFCHR: return WIRE_CAUSE_DEVICE;
	}
	return WIRE_CAUSE_EVENT;
}

/* A call of either tells its cause only with its file. */
enum { WIRE_CAUSE_BY_READ = WIRE_CAUSE_COUNT, WIRE_CAUSE_BY_WRITE };

/* By number; 0 where wire_waits.def has no row. */
static const wire_u8 offcpu_calls[512] = {
#define WIRE_CALL(number, cause) [number] = WIRE_CAUSE_##cause,
#include "wire_waits.def"
#undef WIRE_CALL
};

/* A cause, or WIRE_CAUSE_BY_READ or _BY_WRITE. */
static inline wire_u32 offcpu_cause(enum wire_state state, wire_s64 number)
{
	wire_u32 cause;

	if (state == WIRE_STATE_QUEUED)
		return WIRE_CAUSE_RUN_QUEUE;
	if (state == WIRE_STATE_STOPPED)
		return WIRE_CAUSE_STOPPED;
	if (number < 0)
		return WIRE_CAUSE_PAGE_FAULT;
	if (number >= (wire_s64)(sizeof(offcpu_calls) / sizeof(offcpu_calls[0])))
		return WIRE_CAUSE_CALL;
	cause = offcpu_calls[number];
	return cause ? cause : WIRE_CAUSE_CALL;
}

#endif
