/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* What a clock's tick weighs: the kernel's side of tick.h. */
#ifndef HOSTPROF_BPF_SAMPLE_CLOCK_H
#define HOSTPROF_BPF_SAMPLE_CLOCK_H

#include "sample/maps.h"

#define NSEC_PER_SEC 1000000000ULL

/*
 * How long a task has run, up to this tick: what the scheduler has charged it with, and what it will
 * charge for since then (update_curr() in kernel/sched/fair.c). The event has just read the clock that
 * run queues go by (cpu_clock_event_read() in kernel/events/core.c).
 */
static __always_inline wire_u64 clock_run_ns(struct cpu_state *state, struct task_struct *task,
					     struct perf_event *event)
{
	wire_u64 charged_ns = task->se.sum_exec_runtime, since_ns;
	struct rq *rq = state->rq;
	local64_t clock;

	if (!bpf_core_field_exists(task->se.cfs_rq) || !bpf_core_field_exists(event->hw.prev_count))
		return charged_ns;
	if (!rq)
		state->rq = rq = BPF_CORE_READ(task, se.cfs_rq, rq);
	BPF_CORE_READ_INTO(&clock, event, hw.prev_count);
	since_ns = clock.a + BPF_CORE_READ(rq, clock_task) - BPF_CORE_READ(rq, clock) -
		   task->se.exec_start;
	return since_ns < NSEC_PER_SEC ? charged_ns + since_ns : charged_ns;
}

/* The run time up to which this thread's samples stand for it; NULL: nobody keeps that. */
static __always_inline wire_u64 *clock_seen_ns(struct task_struct *task, wire_u32 event,
					       const struct tick_input *in)
{
	struct task_clock *clock = bpf_task_storage_get(&task_clocks, task, NULL, 0);

	if (!clock) {
		clock = bpf_task_storage_get(&task_clocks, task, NULL,
					     BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (!clock)
			return NULL;
		/* One value for all events, since all are asked from the same tick on. */
		if (task->start_time < sampling_since_ns)
			for (int i = 0; i < WIRE_MAX_EVENTS; i++)
				clock->seen_ns[i] = tick_open(in);
	}
	return &clock->seen_ns[event];
}

/* Not inline: what is on its stack is not below the walk, for which 512 bytes are few. */
static __noinline wire_u64 clock_weight(struct cpu_state *state, wire_u32 event,
					struct task_struct *task, struct bpf_perf_event_data *ctx)
{
	struct bpf_perf_event_data_kern *kernel_ctx = (void *)ctx;
	struct perf_event *perf_event = BPF_CORE_READ(kernel_ctx, event);
	struct tick_input in = { .period_ns = ctx->sample_period,
				 .is_wall = event_is_wall[event & (WIRE_MAX_EVENTS - 1)] };
	struct tick_weight out;
	wire_u64 *seen_ns;

	in.share_ns = in.period_ns / WIRE_CLOCK_TIMERS;
	in.now_ns = in.expiry_ns = bpf_ktime_get_ns();
	if (bpf_core_field_exists(perf_event->hw.hrtimer.node.expires))
		in.expiry_ns = BPF_CORE_READ(perf_event, hw.hrtimer.node.expires);
	if (task->pid == 0 || in.period_ns == 0)
		return in.period_ns ? tick_plain(&in) : 1;
	in.run_ns = clock_run_ns(state, task, perf_event);
	seen_ns = clock_seen_ns(task, event, &in);
	if (!seen_ns) {
		counter_add(WIRE_COUNTER_NO_BOOKS, 1);
		return tick_plain(&in);
	}
	tick_take(seen_ns, &in, &out);
	if (out.gap_ns) {
		counter_add(WIRE_COUNTER_GAPS, 1);
		counter_add(WIRE_COUNTER_GAP_NS, out.gap_ns);
	}
	return out.weight_ns;
}

#endif
