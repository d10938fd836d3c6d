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
 */
#ifndef HOSTPROF_TICK_H
#define HOSTPROF_TICK_H

#include "wire.h"

/* More than this is a suspended machine or a throttled event: nobody's CPU time. */
#define TICK_MAX_NS 100000000ULL

struct tick {
	wire_u64 next_ns; /* when the next tick is due; 0: none was seen */
	wire_u64 idle;	  /* the last tick found the cpu idle: its timer may have stood still */
};

/* The weight in ns of the tick that was due at EXPIRY; *ret_gap_ns is time that no tick covers. */
static inline wire_u64 tick_weight(struct tick *tick, wire_u64 expiry_ns, wire_u64 now_ns,
				   wire_u64 period_ns, wire_u64 *ret_gap_ns)
{
	wire_u64 periods = 1, missed_ns = 0, weight_ns;

	*ret_gap_ns = 0;
	if (now_ns > expiry_ns)
		periods += (now_ns - expiry_ns) / period_ns;
	if (tick->next_ns && expiry_ns > tick->next_ns)
		missed_ns = expiry_ns - tick->next_ns;
	tick->next_ns = expiry_ns + periods * period_ns;

	weight_ns = missed_ns + periods * period_ns;
	/* A timer that was stopped and started again is off the grid of periods. */
	if (weight_ns <= TICK_MAX_NS + period_ns && missed_ns % period_ns == 0)
		return weight_ns;
	*ret_gap_ns = weight_ns - period_ns;
	return period_ns;
}

#endif
