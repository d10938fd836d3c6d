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

#include "emit.h"
#include "miss.h"
#include "target.h"
#include "walk_task.h"

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
 * How long this cpu was stolen since boot, as far as the scheduler has taken that off the tasks'
 * run time (update_rq_clock_task() in kernel/sched/core.c); 0 where it does not.
 */
static __always_inline wire_u64 cpu_steal_ns(struct cpu_state *state, struct task_struct *task)
{
	struct rq *rq = state->rq;

	if (!bpf_core_field_exists(rq->prev_steal_time_rq) ||
	    !bpf_core_field_exists(task->se.cfs_rq))
		return 0;
	if (!rq)
		state->rq = rq = BPF_CORE_READ(task, se.cfs_rq, rq);
	return BPF_CORE_READ(rq, prev_steal_time_rq);
}

/* Not inline: what is on its stack is not below the walk, for which 512 bytes are few. */
static __noinline wire_u64 clock_weight(struct cpu_state *state, wire_u32 event,
					struct task_struct *task, struct bpf_perf_event_data *ctx)
{
	struct bpf_perf_event_data_kern *kernel_ctx = (void *)ctx;
	struct perf_event *perf_event = BPF_CORE_READ(kernel_ctx, event);
	struct tick_input in = { .period_ns = clock_period_ns[event], .idle = task->pid == 0 };
	struct tick_weight out;

	in.expiry_ns = BPF_CORE_READ(perf_event, hw.hrtimer.node.expires);
	in.now_ns = bpf_ktime_get_ns();
	in.steal_ns = cpu_steal_ns(state, task);
	tick_take(&state->ticks[event], &in, &out);
	if (out.gap_ns) {
		counter_add(WIRE_COUNTER_GAPS, 1);
		counter_add(WIRE_COUNTER_GAP_NS, out.gap_ns);
	}
	if (out.stolen_ns)
		counter_add(WIRE_COUNTER_STOLEN_NS, out.stolen_ns);
	return out.weight_ns;
}

/* Every tick of a clock passes here, whether its sample is wanted or not: see tick.h. */
static __always_inline wire_u64 sample_weight(struct cpu_state *state, struct task_struct *task,
					      struct bpf_perf_event_data *ctx)
{
	wire_u32 event = bpf_get_attach_cookie(ctx) & (WIRE_MAX_EVENTS - 1);
	struct perf_event *any = NULL;

	if (!clock_period_ns[event] || !bpf_core_field_exists(any->hw.hrtimer.node.expires))
		return ctx->sample_period;
	return clock_weight(state, event, task, ctx);
}

SEC("perf_event")

int sample(struct bpf_perf_event_data *ctx)
{
	wire_u32 zero = 0, level;
	struct task_struct *task = bpf_get_current_task_btf();
	struct cpu_state *state = bpf_map_lookup_elem(&cpu_states, &zero);
	struct scratch *s;
	wire_u64 weight;

	if (!state)
		return 0;
	weight = sample_weight(state, task, ctx);
	if (weight == 0)
		return 0;
	if (!target_wanted(task, user_regs_are_user((const struct pt_regs *)&ctx->regs))) {
		counter_add(WIRE_COUNTER_FILTERED, 1);
		return 0;
	}
	level = state->level;
	s = scratch_get(level);
	if (!s) {
		counter_add(WIRE_COUNTER_NESTED, 1);
		return 0;
	}
	state->level = level + 1;
	s->cursor.nested = level > 0;
	take_sample(s, state, task, ctx, weight);
	state->level = level;
	return 0;
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
