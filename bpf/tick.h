/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * What one tick of a cpu's sampling clock stands for.
 *
 * The cpu-clock event is a timer of fixed period. When it fires late (interrupts off, or a
 * hypervisor that ran something else) the kernel skips the expiries that passed and fires once
 * (perf_swevent_hrtimer() in kernel/events/core.c: hrtimer_forward_now()), and it drops ticks
 * that come while another BPF program runs (bpf_overflow_handler()). Samples times period would
 * then fall short of the CPU time spent. So a tick weighs all periods from its expiry until now,
 * and those between the last tick and its expiry that left no trace.
 *
 * Where the kernel knows how long the hypervisor ran something else (steal time) it does not
 * charge that to the process, and neither do we: whole periods of it are taken off again, and a
 * tick of which nothing is left is no sample. The scheduler learns of a theft a few ms later, so
 * that it is the ticks after it that pay; on an idle cpu nobody was charged, and nobody pays.
 */
#ifndef HOSTPROF_TICK_H
#define HOSTPROF_TICK_H

#include "wire.h"

/* More than this is a suspended machine or a throttled event: nobody's CPU time. */
#define TICK_MAX_NS 100000000ULL

struct tick {
	wire_u64 next_ns;   /* when the next tick is due; 0: none was seen */
	wire_u64 steal_ns;  /* the cpu's steal time at the last tick */
	wire_u64 stolen_ns; /* of it not taken off yet */
	wire_u64 idle;	    /* the last tick found the cpu idle: its timer may have stood still */
};

struct tick_input {
	wire_u64 expiry_ns; /* when the tick was due */
	wire_u64 now_ns;
	wire_u64 steal_ns; /* of this cpu since boot; 0 when not known or not taken off */
	wire_u64 period_ns;
	wire_u64 idle; /* no task runs */
};

struct tick_weight {
	wire_u64 weight_ns;
	wire_u64 gap_ns;    /* time that no tick covers */
	wire_u64 stolen_ns; /* taken off the weight */
};

/* From the last tick's end until now, in whole periods; *ret_missed_ns of it without a tick. */
static inline wire_u64 tick_elapsed(struct tick *tick, const struct tick_input *in,
				    wire_u64 *ret_missed_ns)
{
	wire_u64 periods = 1, missed_ns = 0;

	if (in->now_ns > in->expiry_ns)
		periods += (in->now_ns - in->expiry_ns) / in->period_ns;
	if (tick->next_ns && in->expiry_ns > tick->next_ns)
		missed_ns = in->expiry_ns - tick->next_ns;
	tick->next_ns = in->expiry_ns + periods * in->period_ns;
	*ret_missed_ns = missed_ns;
	return missed_ns + periods * in->period_ns;
}

/* Take up to WEIGHT_NS off for time that was stolen; what is left is kept for the next tick. */
static inline wire_u64 tick_stolen(struct tick *tick, const struct tick_input *in,
				   wire_u64 weight_ns)
{
	wire_u64 stolen = in->steal_ns - tick->steal_ns;

	/* More is a gap, and had no weight in the first place. */
	if (stolen <= TICK_MAX_NS)
		tick->stolen_ns += stolen;
	tick->steal_ns = in->steal_ns;
	if (in->idle)
		tick->stolen_ns = 0;
	stolen = tick->stolen_ns / in->period_ns * in->period_ns;
	if (stolen > weight_ns)
		stolen = weight_ns;
	tick->stolen_ns -= stolen;
	return stolen;
}

static inline void tick_take(struct tick *tick, const struct tick_input *in,
			     struct tick_weight *ret)
{
	wire_u64 seen = tick->next_ns, missed_ns, weight_ns = tick_elapsed(tick, in, &missed_ns);

	ret->gap_ns = 0;
	/* A timer that was stopped and started again is off the grid of periods. */
	if (weight_ns > TICK_MAX_NS + in->period_ns || missed_ns % in->period_ns) {
		/* Beside idle time a gap cost nobody anything. */
		if (!in->idle && !tick->idle)
			ret->gap_ns = weight_ns - in->period_ns;
		weight_ns = in->period_ns;
	}
	if (!seen) /* what was stolen before we looked */
		tick->steal_ns = in->steal_ns;
	ret->stolen_ns = tick_stolen(tick, in, weight_ns);
	ret->weight_ns = weight_ns - ret->stolen_ns;
	tick->idle = in->idle;
}

#endif
