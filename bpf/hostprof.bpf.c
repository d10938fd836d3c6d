// SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
/*
 * The triggers, each with what only it knows (sample/trigger.h has the rest), and two tracepoints:
 * children of targets become targets, and children have their parent's mappings.
 * Needs Linux 5.17 (bpf_loop); tested from 6.1 on.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "kernel/process_list.h"
#include "sample/alloc.h"
#include "sample/alloc_tracer.h"
#include "sample/clock.h"
#include "sample/locks/programs.h"
#include "sample/malloc.h"
#include "sample/offcpu_parked.h"
#include "sample/offcpu_thread.h"
#include "sample/phases/class_load_probe.h"
#include "sample/phases/compilation_probe.h"
#include "sample/phases/gc_probe.h"
#include "sample/safepoint_probe.h"
#include "sample/trigger.h"

/* The kernel takes only its own names for a licence that may use GPL helpers. */
char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* A clock's tick, a counter's overflow, or a breakpoint. */
SEC("?perf_event")

int sample(struct bpf_perf_event_data *ctx)
{
	const struct pt_regs *regs = (const struct pt_regs *)&ctx->regs;
	wire_u64 cookie = bpf_get_attach_cookie(ctx);
	struct trigger trigger = { .event = WIRE_COOKIE_EVENT(cookie) };
	wire_u32 event = trigger.event & (WIRE_MAX_EVENTS - 1);
	struct cpu_state *state;

	/* Whosever it is. A clock's ticks are accounted for by what threads ran (sample/tick.h). */
	if (sampling && !event_is_clock[event]) {
		counter_add(WIRE_COUNTER_OVERFLOWS(event), 1);
		counter_add(WIRE_COUNTER_SEEN(event), ctx->sample_period);
	}
	if (!target_is_meant(cookie))
		return 0;
	state = trigger_enter(&trigger);
	if (!state)
		return 0;
	trigger.in_user = user_regs_are_user(regs);
	/* Every tick of a clock that finds a wanted task is weighed, whether its sample is wanted or not. */
	if (event_is_clock[event])
		trigger.weight = clock_weight(state, event, trigger.task, ctx);
	else
		trigger.weight = ctx->sample_period;
	if (!target_mode_wanted(trigger.task, trigger.in_user)) {
		counter_add(WIRE_COUNTER_FILTERED, 1);
		return 0;
	}
	return trigger_fire(&trigger, state, ctx, regs);
}

/*
 * A user instruction was reached, or a function has returned: the registers are those of user code
 * then. The kernel (uprobe_perf_func() in kernel/trace/trace_uprobe.c) runs this in the task's own
 * time, which another one of its cpu may interrupt.
 */
SEC("?kprobe")

int sample_uprobe(struct pt_regs *ctx)
{
	struct trigger trigger = { .event = bpf_get_attach_cookie(ctx),
				   .weight = 1,
				   .in_user = true,
				   .preemptible = true };
	struct cpu_state *state = trigger_enter(&trigger);

	if (!state)
		return 0;
	trigger.at_entry = event_at_entry[trigger.event & (WIRE_MAX_EVENTS - 1)];
	return trigger_fire(&trigger, state, ctx, ctx);
}

/*
 * A function of the kernel was called, or has returned: the registers are the kernel's, where its stack begins; user code is
 * where it entered the kernel.
 */
SEC("?kprobe")

int sample_kprobe(struct pt_regs *ctx)
{
	struct trigger trigger = { .event = bpf_get_attach_cookie(ctx), .weight = 1 };
	struct cpu_state *state = trigger_enter(&trigger);

	return state ? trigger_fire(&trigger, state, ctx, NULL) : 0;
}

/*
 * A tracepoint of tracefs. Its context has fields only; user code is where it entered the kernel. All who
 * listen to it share one list of programs, and 0 from one of them would hide it from perf
 * (perf_trace_run_bpf_submit() in kernel/events/core.c).
 */
SEC("?tracepoint")

int sample_tracepoint(void *ctx)
{
	struct trigger trigger = { .event = bpf_get_attach_cookie(ctx), .weight = 1 };
	struct cpu_state *state = trigger_enter(&trigger);

	if (state)
		trigger_fire(&trigger, state, ctx, NULL);
	return 1;
}

/* A tracepoint of the kernel's own, which needs no tracefs. */
SEC("?tp_btf/sched_switch")

int sample_raw(void *ctx)
{
	struct trigger trigger = { .event = trigger_event[WIRE_TRIGGER_RAW], .weight = 1 };
	struct cpu_state *state = trigger_enter(&trigger);

	return state ? trigger_fire(&trigger, state, ctx, NULL) : 0;
}

/*
 * A thread leaves its cpu, and another one is back. The first one's stack is there yet; how long it will be gone is told
 * when it returns, on whatever cpu.
 */
SEC("?tp_btf/sched_switch")

int sample_offcpu(__u64 *ctx)
{
	struct trigger trigger = { .event = trigger_event[WIRE_TRIGGER_OFFCPU],
				   .flags = WIRE_SAMPLE_OPEN };
	struct wire_offcpu *thread = offcpu_switch(ctx);
	struct cpu_state *state = trigger_cpu_state();
	int lost;

	if (!thread || !state)
		return 0;
	trigger.task = bpf_get_current_task_btf();
	trigger.time_ns = thread->out_ns;
	trigger.state = thread->state;
	trigger.cause = thread->cause;
	lost = trigger_take(&trigger, state, ctx, NULL);
	thread->fate = lost == TRIGGER_SENT ? WIRE_OFFCPU_SENT : WIRE_OFFCPU_LOST + lost;
	return 0;
}

/* From now on the thread waits for a cpu. Runs where it was woken from. */
SEC("?tp_btf/sched_waking")

int BPF_PROG(note_waking, struct task_struct *task)
{
	offcpu_wake(task);
	return 0;
}

/* The same, and who it is that wakes it. */
SEC("?tp_btf/sched_waking")

int sample_waker(__u64 *ctx)
{
	struct trigger trigger = { .event = trigger_event[WIRE_TRIGGER_OFFCPU] };
	struct task_struct *task = (struct task_struct *)ctx[0];
	struct wire_offcpu *thread = offcpu_wake(task);
	struct cpu_state *state = trigger_cpu_state();

	if (!thread || !state || !waking_is_wanted(thread, offcpu_least_ns))
		return 0;
	trigger.time_ns = thread->woken_ns;
	trigger.alloc_object = thread->out_ns;
	return offcpu_take_waker(&trigger, state, ctx, task, WIRE_COUNTER_OFFCPU_WAKERS,
				 WIRE_COUNTER_OFFCPU_WAKERS_DROPPED);
}

/* A thread, one after another; at the end none. */
SEC("?iter/task")

int list_parked(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task && parked_is_wanted(task))
		parked_tell(task, ctx->meta->seq);
	return 0;
}

/*
 * hostprof_alloc() of the agent (jvmagent/alloc.h): class, size, interval and object are its arguments, in the
 * registers that the System V ABI gives them.
 */
SEC("?kprobe")

int sample_alloc_agent(struct pt_regs *ctx)
{
	struct trigger trigger = { .event = bpf_get_attach_cookie(ctx),
				   .in_user = true,
				   .at_entry = true,
				   .preemptible = true };
	struct cpu_state *state = trigger_enter(&trigger);

	if (!state)
		return 0;
	trigger.alloc_class = ctx->di;
	trigger.alloc_size = ctx->si;
	trigger.alloc_interval = ctx->dx;
	trigger.alloc_object = ctx->cx;
	trigger.weight = alloc_weight(trigger.alloc_size, trigger.alloc_interval);
	if (!alloc_weigh_agent(&trigger))
		return 0;
	return trigger_fire(&trigger, state, ctx, ctx);
}

/* A JVM's VM thread is at one of its probes (userspace/session/safepoints/). The stack is that of there. */
SEC("?kprobe")

int sample_safepoint(struct pt_regs *ctx)
{
	wire_u64 cookie = bpf_get_attach_cookie(ctx);
	wire_u64 form = cookie >> WIRE_PLACE_FORM_SHIFT;
	struct trigger trigger = { .event = cookie & (WIRE_MAX_EVENTS - 1),
				   .in_user = true,
				   .preemptible = true,
				   .cause = WIRE_CAUSE_SAFEPOINT };
	struct cpu_state *state = trigger_enter(&trigger);
	struct safepoint_book *book;

	if (!state)
		return 0;
	book = bpf_task_storage_get(
		&safepoint_books, trigger.task, 0,
		WIRE_USDT_STEP(form) == WIRE_SAFEPOINT_BEGIN ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
	if (!book || !safepoint_step(book, form, ctx))
		return 0;
	safepoint_fill(&trigger, book);
	if (!trigger.weight || trigger.weight < safepoint_least_ns)
		return 0;
	return trigger_fire(&trigger, state, ctx, ctx);
}

/* A JVM begins to compile a method, or is done with it. */
SEC("?kprobe")

int sample_jit(struct pt_regs *ctx)
{
	wire_u64 cookie = bpf_get_attach_cookie(ctx);
	struct compilation_seen seen = { .form = cookie >> WIRE_PLACE_FORM_SHIFT };
	struct trigger trigger = { .event = cookie & (WIRE_MAX_EVENTS - 1),
				   .in_user = true,
				   .preemptible = true,
				   .cause = WIRE_CAUSE_COMPILATION };
	struct cpu_state *state = trigger_enter(&trigger);

	if (!state)
		return 0;
	if (WIRE_USDT_STEP(seen.form) == WIRE_JIT_BEGIN)
		compilation_note_begin(trigger.task);
	else if (compilation_fill(&trigger, &seen))
		return trigger_fire(&trigger, state, ctx, ctx);
	return 0;
}

SEC("?tp_btf/sched_switch")

int BPF_PROG(note_compiler, bool preempt, struct task_struct *from, struct task_struct *to)
{
	compilation_switch(from, to);
	return 0;
}

/* A JVM's VM thread is at an operation, which may collect. */
SEC("?kprobe")

int sample_gc(struct pt_regs *ctx)
{
	wire_u64 cookie = bpf_get_attach_cookie(ctx);
	struct trigger trigger = { .event = cookie & (WIRE_MAX_EVENTS - 1),
				   .in_user = true,
				   .preemptible = true,
				   .cause = WIRE_CAUSE_GC };
	struct cpu_state *state = trigger_enter(&trigger);

	if (state && gc_fill(&trigger, cookie >> WIRE_PLACE_FORM_SHIFT, ctx))
		return trigger_fire(&trigger, state, ctx, ctx);
	return 0;
}

/* A JVM has loaded a class: the stack is that of who wanted it. */
SEC("?kprobe")

int sample_class_load(struct pt_regs *ctx)
{
	wire_u64 cookie = bpf_get_attach_cookie(ctx);
	struct class_load_seen seen = { .form = cookie >> WIRE_PLACE_FORM_SHIFT };
	struct trigger trigger = { .event = cookie & (WIRE_MAX_EVENTS - 1),
				   .in_user = true,
				   .preemptible = true };
	struct cpu_state *state = trigger_enter(&trigger);

	if (state && class_load_fill(&trigger, &seen))
		return trigger_fire(&trigger, state, ctx, ctx);
	return 0;
}

/*
 * HotSpot's AllocTracer is told of a new TLAB, or of an object outside them (userspace/jvm/layout/alloc_tracer.h).
 * The stack is as at the functions' entry.
 */
SEC("?kprobe")

int sample_alloc_new_tlab(struct pt_regs *ctx)
{
	return alloc_tracer_sample(ctx, true);
}

SEC("?kprobe")

int sample_alloc_outside(struct pt_regs *ctx)
{
	return alloc_tracer_sample(ctx, false);
}

/* malloc() and its kin are called. */
SEC("?kprobe")

int sample_malloc(struct pt_regs *ctx)
{
	malloc_sample(ctx);
	return 0;
}

SEC("?kprobe")

int note_malloc_return(struct pt_regs *ctx)
{
	return malloc_note_return(ctx);
}

/* Both, where one program sees a call and its return (userspace/capture/probes/uprobe_session.h): 1, it is not to see the return. */
SEC("?kprobe")

int sample_malloc_session(struct pt_regs *ctx)
{
	if (ctx->ip != bpf_get_func_ip(ctx))
		return malloc_note_return(ctx);
	if (malloc_sample(ctx))
		return 0;
	return 1;
}

/* A process comes to the function of --begin, or of --end. */
SEC("?kprobe")

int open_window(struct pt_regs *ctx)
{
	window_set(true);
	return 0;
}

SEC("?kprobe")

int close_window(struct pt_regs *ctx)
{
	window_set(false);
	return 0;
}

/*
 * Runs before the child does, in its parent (kernel_clone() in kernel/fork.c). Threads share their process's entries. This one and
 * the next are there for every recording: as raw tracepoints they need none of the kernel's types, which take 20 ms to read.
 */
SEC("raw_tp/sched_process_fork")

int BPF_PROG(process_fork, struct task_struct *parent, struct task_struct *child)
{
	struct task_struct *current = bpf_get_current_task_btf();
	wire_u32 tgid = BPF_CORE_READ(child, tgid);
	wire_u64 start_ns;

	if (BPF_CORE_READ(child, pid) != tgid)
		return 0;
	start_ns = BPF_CORE_READ(child, start_time);
	if (settings.filter_tgids && settings.follow_children)
		target_fork(current, tgid, start_ns);
	space_fork(current, tgid, start_ns, (wire_u32)BPF_CORE_READ(child, self_exec_id));
	return 0;
}

/* Of find_process(), whom one thread of ours calls. */
struct wire_process found_process;

/* Userspace calls it (BPF_PROG_TEST_RUN): the process whose pid is its argument. */
SEC("raw_tp")

int find_process(__u64 *ctx)
{
	wire_u32 tgid = ctx[0];
	struct task_struct *task = process_list_find(tgid);

	__builtin_memset(&found_process, 0, sizeof(found_process));
	if (!task)
		return 0;
	found_process.start_ns = BPF_CORE_READ(task, start_time);
	found_process.exec_id = (wire_u32)BPF_CORE_READ(task, self_exec_id);
	found_process.tgid = tgid;
	return 0;
}

SEC("raw_tp/sched_process_free")

int BPF_PROG(process_free, struct task_struct *task)
{
	wire_u32 tgid = BPF_CORE_READ(task, tgid);
	wire_u64 start_ns;

	if (BPF_CORE_READ(task, pid) != tgid)
		return 0;
	start_ns = BPF_CORE_READ(task, start_time);
	target_forget(tgid, start_ns);
	window_forget(tgid, start_ns);
	space_forget(tgid, start_ns);
	return 0;
}
