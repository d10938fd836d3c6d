// SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
/*
 * The sampling program, and two tracepoints: children of targets become targets, and children
 * have their parent's mappings.
 * Needs Linux 5.17 (bpf_loop); tested from 6.1 on.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "sample/emit.h"
#include "sample/miss.h"
#include "sample/target.h"
#include "sample/walk.h"

/* The kernel takes only its own names for a licence that may use GPL helpers. */
char LICENSE[] SEC("license") = "Dual MIT/GPL";

static __always_inline void fill_task(struct wire_sample *sample, struct task_struct *task)
{
	sample->tgid = task->tgid;
	sample->tid = task->pid;
	sample->start_ns = task->group_leader->start_time;
	sample->exec_id = task->self_exec_id;
	sample->cgroup_id = bpf_get_current_cgroup_id();
	bpf_get_current_comm(sample->comm, sizeof(sample->comm));
}

/* NULL: too many samples are nested on this cpu. */
static __always_inline struct scratch *scratch_get(wire_u32 level)
{
	wire_u32 index = bpf_get_smp_processor_id() * WIRE_SCRATCH_LEVELS + level;

	return level < WIRE_SCRATCH_LEVELS ? bpf_map_lookup_elem(&scratches, &index) : NULL;
}

static __always_inline int take_sample(struct scratch *s, struct cpu_state *state,
				       struct task_struct *task, struct bpf_perf_event_data *ctx,
				       wire_u64 weight)
{
	struct wire_sample *sample = &s->sample;

	sample->kind = WIRE_SAMPLE;
	sample->event = bpf_get_attach_cookie(ctx);
	sample->weight = weight;
	sample->time_ns = bpf_ktime_get_ns();
	sample->cpu = bpf_get_smp_processor_id();
	sample->in_user = user_regs_are_user((const struct pt_regs *)&ctx->regs);
	sample->flags = 0;
	fill_task(sample, task);
	walk_kernel(s, ctx);
	walk_user(s, task, ctx);
	if (s->cursor.missed)
		miss_emit(s, state, task);
	sample->reason = s->cursor.reason;
	sample->user_words = s->cursor.words - sample->kernel_frames;
	sample->user_frames = s->cursor.frames;
	return emit_sample(s, state);
}

/*
 * How long a task has run, up to this tick: what the scheduler has charged it with, and what it will
 * charge for since then (update_curr() in kernel/sched/fair.c). The event has just read the clock that
 * run queues go by (cpu_clock_event_read() in kernel/events/core.c).
 */
static __always_inline wire_u64 task_run_ns(struct cpu_state *state, struct task_struct *task,
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
static __always_inline wire_u64 *task_seen_ns(struct task_struct *task, wire_u32 event,
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
	struct tick_input in = { .period_ns = ctx->sample_period };
	struct tick_weight out;
	wire_u64 *seen_ns;

	in.share_ns = in.period_ns / WIRE_CLOCK_TIMERS;
	in.now_ns = in.expiry_ns = bpf_ktime_get_ns();
	if (bpf_core_field_exists(perf_event->hw.hrtimer.node.expires))
		in.expiry_ns = BPF_CORE_READ(perf_event, hw.hrtimer.node.expires);
	if (task->pid == 0 || in.period_ns == 0)
		return in.period_ns ? tick_plain(&in) : 1;
	in.run_ns = task_run_ns(state, task, perf_event);
	seen_ns = task_seen_ns(task, event, &in);
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

/* Every tick of a clock that finds a wanted task passes here, whether its sample is wanted or not. */
static __always_inline wire_u64 sample_weight(struct cpu_state *state, struct task_struct *task,
					      struct bpf_perf_event_data *ctx)
{
	wire_u32 event = bpf_get_attach_cookie(ctx) & (WIRE_MAX_EVENTS - 1);

	if (!event_is_clock[event])
		return ctx->sample_period;
	return clock_weight(state, event, task, ctx);
}

static __always_inline int sample_task(struct cpu_state *state, struct task_struct *task,
				       struct bpf_perf_event_data *ctx, wire_u64 weight)
{
	wire_u32 level = state->level;
	struct scratch *s = scratch_get(level);

	if (!s)
		return emit_lost(bpf_get_attach_cookie(ctx), weight, WIRE_LOSS_NESTED);
	state->level = level + 1;
	s->cursor.nested = level > 0;
	take_sample(s, state, task, ctx, weight);
	state->level = level;
	return 0;
}

SEC("perf_event")

int sample(struct bpf_perf_event_data *ctx)
{
	wire_u32 zero = 0;
	struct task_struct *task = bpf_get_current_task_btf();
	struct cpu_state *state = bpf_map_lookup_elem(&cpu_states, &zero);
	wire_u64 weight;

	if (!state || !sampling)
		return 0;
	if (!target_wanted(task)) {
		counter_add(WIRE_COUNTER_FILTERED, 1);
		return 0;
	}
	weight = sample_weight(state, task, ctx);
	if (!target_mode_wanted(task, user_regs_are_user((const struct pt_regs *)&ctx->regs))) {
		counter_add(WIRE_COUNTER_FILTERED, 1);
		return 0;
	}
	return sample_task(state, task, ctx, weight);
}

/* Before the child runs. Threads share their process's entries. */
SEC("tp_btf/sched_process_fork")

int BPF_PROG(process_fork, struct task_struct *parent, struct task_struct *child)
{
	if (child->pid != child->tgid)
		return 0;
	if (settings.filter_tgids && settings.follow_children)
		target_fork(parent, child);
	space_fork(parent, child);
	return 0;
}

SEC("tp_btf/sched_process_free")

int BPF_PROG(process_free, struct task_struct *task)
{
	if (task->pid != task->tgid)
		return 0;
	target_forget(task->tgid, task->start_time);
	space_forget(task);
	return 0;
}
