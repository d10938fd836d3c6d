/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * What one tick of a cpu's sampling clock stands for.
 *
 * A tick that finds a thread running stands, on the average, for one period of CPU time; but not every
 * period has its tick. The cpu-clock event is a timer (perf_swevent_hrtimer() in kernel/events/core.c):
 * late, it skips the expiries that passed; while another BPF program runs it is dropped
 * (bpf_overflow_handler()); on an idle cpu some kernels report none, so that a gap before a tick says
 * nothing of who ran in it; in a virtual machine it comes some microseconds after its time, when a
 * thread that ran for fifty may be off the cpu again; and the scheduler does not charge a thread for
 * what the hypervisor stole. So a tick weighs a period, and what the thread's own run time, as the
 * scheduler keeps it, says beyond the weights that it was given before: a small part of that each time,
 * so that chance is not followed, and a thread that is seen seldom keeps the unbiased period.
 *
 * Phases are the other half: a timer of one period falls into step with threads that sleep for a time
 * (the kernel lets a sleeper wake with a tick that is due anyway), and then always, or never, finds them
 * running. So a clock is WIRE_CLOCK_TIMERS timers of unequal periods (capture/perf_events.c), each of
 * which has its part of the frequency.
 */
#ifndef HOSTPROF_BPF_SAMPLE_TICK_H
#define HOSTPROF_BPF_SAMPLE_TICK_H

#include "wire.h"

/* A tick takes this part (a power of two) of what is owed. */
#define TICK_OWED_SHIFT 3
/* Of -e wall: a thread's sum is to be its life. */
#define TICK_OWED_WALL_SHIFT 1
/*
 * More than so many periods are not owed any more: the clock was throttled, or the cpu was gone. A
 * thread of which every tenth tick arrives owes seventy.
 */
#define TICK_MAX_OWED 512
/* The least that a sample weighs, as a part (a power of two) of its period. */
#define TICK_LEAST_SHIFT 2

struct tick_input {
	wire_u64 period_ns; /* of the timer */
	wire_u64 share_ns;  /* its part of the clock: what one of its ticks stands for */
	wire_u64 expiry_ns; /* when the tick was due */
	wire_u64 now_ns;
	wire_u64 run_ns; /* how long the thread has run since it was made */
	bool is_wall;
};

struct tick_weight {
	wire_u64 weight_ns;
	wire_u64 gap_ns; /* CPU time of the thread that no tick covers */
};

/* What a tick weighs whose thread has no books: the expiries that were skipped are its own. */
static inline wire_u64 tick_plain(const struct tick_input *in)
{
	wire_u64 periods = 1;

	if (in->now_ns > in->expiry_ns)
		periods += (in->now_ns - in->expiry_ns) / in->period_ns;
	return periods * in->share_ns;
}

/*
 * The books of a thread that ran before it was looked at, of which this is the first tick: on the average
 * it has run for a period since then.
 */
static inline wire_u64 tick_open(const struct tick_input *in)
{
	return in->run_ns > in->share_ns ? in->run_ns - in->share_ns : 0;
}

/* *SEEN_NS is the run time up to which the thread's samples stand for it; 0 for a new thread. */
static inline void tick_take(wire_u64 *seen_ns, const struct tick_input *in,
			     struct tick_weight *ret)
{
	wire_s64 share = (wire_s64)in->share_ns, owed = (wire_s64)(in->run_ns - *seen_ns);
	wire_s64 weight = (wire_s64)tick_plain(in);
	wire_u32 shift = in->is_wall ? TICK_OWED_WALL_SHIFT : TICK_OWED_SHIFT;

	ret->gap_ns = 0;
	if (owed > TICK_MAX_OWED * share) {
		ret->gap_ns = (wire_u64)owed;
		*seen_ns += (wire_u64)owed;
		owed = 0;
	}
	/* Skipped expiries were not the thread's when it did not run: the cpu was stolen. */
	if (weight > share && weight > owed)
		weight = owed > share ? owed : share;
	/*
	 * What runs after a thread's last tick is never seen: on the average the samples should be
	 * ahead by what that may be, up to a period; a quarter where WIRE_CLOCK_TIMERS are four.
	 */
	weight += (owed - (weight - share) - (share >> TICK_LEAST_SHIFT)) >> shift;
	if (weight < share >> TICK_LEAST_SHIFT)
		weight = share >> TICK_LEAST_SHIFT;
	*seen_ns += (wire_u64)weight;
	ret->weight_ns = (wire_u64)weight;
}

#endif
