/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Programs of hostprof.bpf.c: of waits for locks, the kernel's and Java's, and of virtual threads' waits, which end as parks do. */
#ifndef HOSTPROF_BPF_SAMPLE_LOCKS_PROGRAMS_H
#define HOSTPROF_BPF_SAMPLE_LOCKS_PROGRAMS_H

#include "sample/locks/contention_probe.h"
#include "sample/locks/lock_probe.h"
#include "sample/locks/yield_probe.h"
#include "sample/unmounted.h"

/* Somebody begins to wait for a lock of the kernel's: void *lock, unsigned int flags. */
SEC("?tp_btf/contention_begin")

int note_contention(__u64 *ctx)
{
	if (sampling)
		contention_note(ctx[0], ctx[1]);
	return 0;
}

/* Its wait is over: void *lock, int ret. That is the sample's time. */
SEC("?tp_btf/contention_end")

int sample_kernel_lock(__u64 *ctx)
{
	struct trigger trigger = { .event = trigger_event[WIRE_TRIGGER_KERNEL_LOCK],
				   .flags = WIRE_SAMPLE_WEIGHED };
	struct contention_book *cpu = contention_of_cpu();
	struct cpu_state *state = trigger_cpu_state();
	struct contention_told told = {};

	if (!cpu || cpu->busy)
		return 0;
	*(volatile wire_u32 *)&cpu->busy = 1;
	if (contention_fill(&told, cpu, state, ctx[0]) && state) {
		contention_tell(&trigger, &told, ctx[0]);
		trigger_fire(&trigger, state, ctx, NULL);
	}
	*(volatile wire_u32 *)&cpu->busy = 0;
	return 0;
}

/*
 * hostprof_lock() of the agent (jvmagent/locks.h), whose arguments are in the registers that the System V ABI gives
 * them: a wait has ended. That is the sample's time, for others have come since it began.
 */
SEC("?kprobe")

int sample_lock_agent(struct pt_regs *ctx)
{
	const struct lock_call call = { ctx->di, ctx->si, ctx->dx, ctx->cx, ctx->r8 };
	struct trigger trigger = { .event = bpf_get_attach_cookie(ctx),
				   .in_user = true,
				   .at_entry = true,
				   .preemptible = true,
				   .state = WIRE_STATE_SLEEPING,
				   .flags = WIRE_SAMPLE_LOCK | WIRE_SAMPLE_WEIGHED };
	struct cpu_state *state = trigger_enter(&trigger);
	wire_u32 chance;

	if (!state || !lock_is_valid(&call))
		return 0;
	trigger.cause = lock_cause(call.kind);
	trigger.alloc_class = call.class_id;
	trigger.alloc_size = call.length_ns;
	trigger.alloc_object = call.identity;
	trigger.lock_owner = lock_owner_at(trigger.task, ctx->r9);
	trigger.wait_number = lock_note_end(trigger.task, ctx->r9);
	trigger.time_ns = lock_end_ns(&call, ctx->r9, bpf_ktime_get_ns());
	trigger.weight = call.length_ns * call.chance;
	chance = park_choose_again(trigger.weight, trigger.time_ns);
	if (!chance)
		return 0;
	trigger.alloc_interval = call.chance * chance;
	trigger.weight *= chance;
	return trigger_fire(&trigger, state, ctx, ctx);
}

/* hostprof_lock_begin() of the agent: a wait to enter a monitor begins. */
SEC("?kprobe")

int note_lock_begin(struct pt_regs *ctx)
{
	struct trigger trigger = { .in_user = true };
	struct cpu_state *state = trigger_enter(&trigger);

	if (!state)
		return 0;
	lock_note_begin(trigger.task, ctx->di);
	lock_begin(&trigger, state, ctx->di, ctx->sp);
	return 0;
}

/* A thread that waits for a lock is woken, by who lets go of that. */
SEC("?tp_btf/sched_waking")

int sample_lock_waker(__u64 *ctx)
{
	struct trigger trigger = { .event = trigger_event[WIRE_TRIGGER_LOCK_WAKER] };
	struct task_struct *task = (struct task_struct *)ctx[0];
	struct cpu_state *state = trigger_cpu_state();

	if (!state)
		return 0;
	trigger.time_ns = bpf_ktime_get_ns();
	trigger.wait_number = lock_wake(task, trigger.time_ns);
	if (!trigger.wait_number)
		return 0;
	return offcpu_take_waker(&trigger, state, ctx, task, WIRE_COUNTER_LOCK_WAKERS,
				 WIRE_COUNTER_LOCK_WAKERS_DROPPED);
}

/* At a place with this COOKIE, which is a function's first instruction or not. */
static __always_inline struct trigger park_trigger(wire_u64 cookie, bool at_entry)
{
	return (struct trigger){ .event = cookie & (WIRE_MAX_EVENTS - 1),
				 .in_user = true,
				 .at_entry = at_entry,
				 .preemptible = true,
				 .state = WIRE_STATE_SLEEPING,
				 .cause = WIRE_CAUSE_PARK,
				 .flags = WIRE_SAMPLE_LOCK | WIRE_SAMPLE_WEIGHED };
}

/* A thread of a JVM parks, or goes on. */
SEC("?kprobe")

int sample_lock_park(struct pt_regs *ctx)
{
	wire_u64 cookie = bpf_get_attach_cookie(ctx);
	struct trigger trigger = park_trigger(cookie, false);
	struct cpu_state *state = trigger_enter(&trigger);

	if (!state)
		return 0;
	if (WIRE_USDT_STEP(cookie >> WIRE_PLACE_FORM_SHIFT) == WIRE_PARK_BEGIN)
		park_begin(trigger.task);
	else if (park_fill(&trigger, ctx->sp))
		return trigger_fire(&trigger, state, ctx, ctx);
	return 0;
}

/* A virtual thread that may want a lock leaves its carrier, or comes back: functions of libjvm, whose arguments are in the registers of the System V ABI. */
SEC("?kprobe")

int sample_lock_yield(struct pt_regs *ctx)
{
	wire_u64 cookie = bpf_get_attach_cookie(ctx);
	struct trigger trigger = park_trigger(cookie, true);
	struct cpu_state *state = trigger_enter(&trigger);

	if (!state)
		return 0;
	if (WIRE_USDT_STEP(cookie >> WIRE_PLACE_FORM_SHIFT) == WIRE_YIELD_FREEZE)
		yield_begin(trigger.task, ctx->di);
	else if (!(ctx->si & 0xff) && yield_fill(&trigger, ctx->di))
		return trigger_fire(&trigger, state, ctx, ctx);
	return 0;
}

/* The same of one that waits, whatever for. */
SEC("?kprobe")

int sample_offcpu_yield(struct pt_regs *ctx)
{
	wire_u64 cookie = bpf_get_attach_cookie(ctx);
	wire_u64 step = WIRE_USDT_STEP(cookie >> WIRE_PLACE_FORM_SHIFT);
	struct trigger trigger = park_trigger(cookie, true);
	struct cpu_state *state;

	trigger.flags = WIRE_SAMPLE_WEIGHED;
	trigger.unmounted = true;
	state = trigger_enter(&trigger);
	if (!state) {
		if (step != WIRE_YIELD_THAW)
			yields_missed(bpf_get_current_pid_tgid() >> 32);
		return 0;
	}
	if (step == WIRE_YIELD_FREEZE)
		unmounted_begin(trigger.task, ctx->di, WIRE_CAUSE_PARK);
	else if (step == WIRE_YIELD_PREEMPT)
		unmounted_begin(trigger.task, ctx->di, WIRE_CAUSE_MONITOR_ENTER);
	else if (!(ctx->si & 0xff) && unmounted_fill(&trigger, ctx->di))
		return trigger_fire(&trigger, state, ctx, ctx);
	return 0;
}

#endif
