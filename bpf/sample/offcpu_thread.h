/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Waits of threads: the kernel's side of offcpu.h and waking.h. All of it but who wakes them runs with the run queue locked. */
#ifndef HOSTPROF_BPF_SAMPLE_OFFCPU_THREAD_H
#define HOSTPROF_BPF_SAMPLE_OFFCPU_THREAD_H

#include "sample/offcpu.h"
#include "sample/trigger.h"
#include "sample/waking.h"

/* include/linux/sched.h */
#define PF_EXITING 0x00000004

/* Shorter waits are not wanted; OFFCPU_STEP_NS, or that; and how often it is doubled from the first. */
const volatile wire_u64 offcpu_least_ns;
const volatile wire_u64 offcpu_step_ns = OFFCPU_STEP_NS;
/* Of a cpu, in a window. */
const volatile wire_u32 offcpu_most_walks = WIRE_OFFCPU_MOST_WALKS;
const volatile wire_u32 offcpu_doubled;
/* -e nativelock: no other waits than those for a futex. */
const volatile bool offcpu_only_futexes;
/* -e wall: the sum of a thread's weights follows its clock. */
const volatile bool offcpu_keeps_sums;

/*
 * By tid, wherever the thread runs next. Made beforehand: a task's storage would be allocated with the run queue
 * locked, which before Linux 6.4 may wake a thread.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* by WIRE_OFFCPU_TIMES_THREADS where the event is wanted */
	__type(key, wire_u32);
	__type(value, struct wire_offcpu);
} offcpu_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2); /* of who leaves, and of who wakes */
	__type(key, wire_u32);
	__type(value, struct offcpu_rate);
} offcpu_rates SEC(".maps");

/* Threads of the kernel wait for something to do, most of them and most of the time; the idle ones are such. */
static __always_inline bool offcpu_is_followed(struct task_struct *task)
{
	return task->pid != 0 && !(task->flags & (PF_KTHREAD | PF_IO_WORKER));
}

/* NULL: nothing is known of this thread. */
static __always_inline struct wire_offcpu *offcpu_find(struct task_struct *task)
{
	wire_u32 tid = task->pid;
	struct wire_offcpu *thread = bpf_map_lookup_elem(&offcpu_threads, &tid);

	return thread && thread->start_ns == task->start_time ? thread : NULL;
}

/* TASK leaves for the first time; NULL: there is no room for it. */
static __noinline struct wire_offcpu *offcpu_make(struct task_struct *task)
{
	struct wire_offcpu fresh = { .start_ns = task->start_time };
	struct wire_offcpu *thread;
	wire_u32 tid = task->pid;

	bpf_map_update_elem(&offcpu_threads, &tid, &fresh, BPF_ANY);
	thread = offcpu_find(task);
	if (!thread)
		counter_add(WIRE_COUNTER_OFFCPU_NO_BOOKS, 1);
	return thread;
}

static __always_inline void offcpu_forget(struct task_struct *task, struct wire_offcpu *thread)
{
	wire_u32 tid = task->pid;

	if (thread)
		bpf_map_delete_elem(&offcpu_threads, &tid);
}

/* --- back on a cpu ---------------------------------------------------------------------------- */

/* A wait whose length cannot be sent is lost, and the end of the recording is told so: the thread is not out. */
static __always_inline int offcpu_send(struct wire_span *span, struct cpu_state *state)
{
	wire_u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&rings, &cpu);

	span->size = sizeof(*span);
	span->kind = WIRE_SPAN;
	if (!ring)
		return -1;
	return bpf_ringbuf_output(ring, span, sizeof(*span),
				  emit_wakeup(state, ring, sizeof(*span), false));
}

static __always_inline wire_u64 offcpu_weigh(struct wire_offcpu *thread, wire_u64 length_ns)
{
	struct wire_offcpu_site *site = &thread->sites[thread->site % WIRE_OFFCPU_SITES];
	wire_u32 halved = thread->halved & 31;

	if (offcpu_only_futexes)
		return wire_offcpu_typical_weight(site, length_ns, halved);
	return offcpu_keeps_sums ? offcpu_weight(&site->owed_ns, length_ns, halved, offcpu_step_ns)
				 : length_ns << halved;
}

/* What it stands for may be wanted though it was too short itself. */
static __always_inline void offcpu_make_typical(struct wire_span *span)
{
	wire_u64 typical_ns = span->weight_ns >> (span->halved & 31);

	if (!span->length_ns && span->weight_ns)
		span->length_ns = 1;
	span->queued_ns = offcpu_typical_queued(span->queued_ns, span->length_ns, typical_ns);
}

static __always_inline void offcpu_close(struct task_struct *task, struct wire_offcpu *thread,
					 struct cpu_state *state, wire_u64 length_ns,
					 wire_u64 queued_ns)
{
	wire_u32 event = trigger_event[WIRE_TRIGGER_OFFCPU];
	struct wire_span span = { .event = event,
				  .halved = thread->halved,
				  .time_ns = thread->out_ns,
				  .length_ns = length_ns,
				  .queued_ns = queued_ns,
				  .weight_ns = offcpu_weigh(thread, length_ns),
				  .tgid = task->tgid,
				  .tid = task->pid };
	wire_u32 fate = thread->fate;

	if (offcpu_only_futexes)
		offcpu_make_typical(&span);
	if (fate == WIRE_OFFCPU_SENT) {
		if (offcpu_send(&span, state) == 0)
			return;
		fate = WIRE_OFFCPU_LOST + WIRE_LOSS_RING;
	}
	if (span.length_ns && fate >= WIRE_OFFCPU_LOST)
		emit_lost_of(task, event, span.weight_ns, fate - WIRE_OFFCPU_LOST);
}

/* TASK was back at BACK_NS. Not inline: its words are not on the stack below the walk. */
static __noinline int offcpu_end(struct task_struct *task, struct wire_offcpu *thread,
				 struct cpu_state *state, wire_u64 back_ns)
{
	wire_u64 length_ns = offcpu_length(thread->out_ns, back_ns);
	wire_u64 queued_ns = wire_offcpu_queued(thread, length_ns);

	counter_add(WIRE_COUNTER_OFFCPU_SPANS, 1);
	if (length_ns >= offcpu_least_ns)
		counter_add(WIRE_COUNTER_OFFCPU_NS, length_ns);
	else
		length_ns = 0;
	offcpu_learn(&thread->sites[thread->site % WIRE_OFFCPU_SITES], length_ns, offcpu_step_ns);
	if (thread->fate != WIRE_OFFCPU_THINNED) {
		counter_add(WIRE_COUNTER_OFFCPU_TAKEN, 1);
		if (!length_ns)
			counter_add(WIRE_COUNTER_OFFCPU_SHORT, 1);
		offcpu_close(task, thread, state, length_ns, queued_ns);
	} else if (offcpu_only_futexes) {
		offcpu_skip(&thread->sites[thread->site % WIRE_OFFCPU_SITES], length_ns);
	} else if (offcpu_keeps_sums) {
		thread->sites[thread->site % WIRE_OFFCPU_SITES].owed_ns += length_ns;
	}
	thread->out_ns = 0;
	return 0;
}

static __always_inline void offcpu_return(struct task_struct *task, struct cpu_state *state,
					  wire_u64 now_ns)
{
	struct wire_offcpu *thread = offcpu_is_followed(task) ? offcpu_find(task) : NULL;

	if (thread && thread->out_ns)
		offcpu_end(task, thread, state, now_ns);
}

/*
 * TASK leaves, and nobody has told that it was back: the kernel does not run programs for each switch. It has run
 * since then, for as long as the scheduler has charged it with, which it has just done.
 */
static __always_inline void offcpu_return_late(struct task_struct *task, struct wire_offcpu *thread,
					       struct cpu_state *state, wire_u64 now_ns)
{
	if (!thread || !thread->out_ns)
		return;
	counter_add(WIRE_COUNTER_OFFCPU_LATE, 1);
	offcpu_end(task, thread, state, now_ns - (task->se.sum_exec_runtime - thread->run_ns));
}

/* --- off the cpu ------------------------------------------------------------------------------ */

/* What the thread entered the kernel with, as struct pt_regs has it. */
struct offcpu_entry {
	wire_u64 first; /* argument: %rdi */
	wire_u64 number, pc, cs, flags, sp;
};

/* Kernel threads ask for nothing, and programs of 32 bits by other numbers. */
static __always_inline void offcpu_read_entry(struct task_struct *task, struct offcpu_entry *entry)
{
	const struct pt_regs *regs = (const struct pt_regs *)bpf_task_pt_regs(task);

	if (bpf_probe_read_kernel(entry, sizeof(*entry), &regs->di))
		__builtin_memset(entry, 0xff, sizeof(*entry));
}

static __always_inline wire_u32 offcpu_file_mode(struct task_struct *task, wire_u64 descriptor)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **files, *file = NULL;

	if ((wire_u32)descriptor >= BPF_CORE_READ(table, max_fds))
		return 0;
	files = BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof(file), &files[(wire_u32)descriptor]);
	return BPF_CORE_READ(file, f_inode, i_mode);
}

static __always_inline wire_u32 offcpu_find_cause(struct task_struct *task, wire_u32 state,
						  const struct offcpu_entry *entry)
{
	wire_s64 number = (wire_s64)entry->number;
	wire_u32 cause;

	if (state != WIRE_STATE_QUEUED && task->flags & PF_EXITING)
		return WIRE_CAUSE_EXIT;
	if (number >= 0 && (entry->cs & 0xffff) == USER32_CS)
		number = 0xffff;
	cause = offcpu_cause(state, number);
	if (cause < WIRE_CAUSE_COUNT)
		return cause;
	return offcpu_file_cause(offcpu_file_mode(task, entry->first),
				 cause == WIRE_CAUSE_BY_WRITE);
}

/* Not inline: its words are not on the stack below the walk. */
static __noinline bool offcpu_is_futex(struct task_struct *task, wire_u32 state)
{
	struct offcpu_entry entry;

	offcpu_read_entry(task, &entry);
	return offcpu_find_cause(task, state, &entry) == WIRE_CAUSE_FUTEX;
}

/* Is its stack to be walked? By what chance is in THREAD. */
static __always_inline bool offcpu_choose(struct wire_offcpu *thread, wire_u64 now_ns)
{
	wire_u32 zero = 0, halved;
	struct offcpu_rate *rate = bpf_map_lookup_elem(&offcpu_rates, &zero);
	const struct wire_offcpu_site *site = &thread->sites[thread->site % WIRE_OFFCPU_SITES];

	if (!rate)
		return false;
	halved = offcpu_halved(
		site->square,
		(offcpu_doubled + offcpu_rate_doubled(rate, now_ns, offcpu_most_walks)) & 31);
	thread->halved = halved;
	if (!draw_is_taken(halved, bpf_get_prandom_u32()))
		return false;
	offcpu_rate_count(rate, offcpu_most_walks);
	return true;
}

/* TASK leaves. Whether its stack is to be walked; THREAD says how it waits then. */
static __noinline bool offcpu_leave(struct task_struct *task, struct wire_offcpu *thread,
				    wire_u32 state, wire_u64 now_ns)
{
	struct offcpu_entry entry;
	struct offcpu_call call;

	offcpu_read_entry(task, &entry);
	call.number = (wire_s64)entry.number;
	call.pc = entry.pc;
	call.sp = entry.sp;
	thread->site = offcpu_site(thread, offcpu_key(state, &call), offcpu_step_ns);
	thread->run_ns = task->se.sum_exec_runtime;
	thread->state = state;
	/* Who wakes it just now on another cpu looks at the second of the two. */
	*(volatile wire_u64 *)&thread->woken_ns = 0;
	*(volatile wire_u64 *)&thread->out_ns = now_ns;
	thread->fate = WIRE_OFFCPU_THINNED;
	if (!offcpu_choose(thread, now_ns))
		return false;
	thread->cause = offcpu_find_cause(task, state, &entry);
	thread->fate = WIRE_OFFCPU_WALKED;
	return true;
}

/*
 * A switch: CTX has bool preempted, struct task_struct *prev, *next, unsigned int prev_state. The book of who leaves, if its stack is
 * to be walked. Not inline: its words are not on the stack below the walk, where Linux 6.1 has no room for them.
 */
static __noinline struct wire_offcpu *offcpu_switch(__u64 *ctx)
{
	struct task_struct *prev = (struct task_struct *)ctx[1];
	struct cpu_state *state = trigger_cpu_state();
	struct wire_offcpu *thread;
	wire_u32 how;
	wire_u64 now_ns;

	if (!state)
		return NULL;
	now_ns = bpf_ktime_get_ns();
	offcpu_return((struct task_struct *)ctx[2], state, now_ns);
	if (!offcpu_is_followed(prev))
		return NULL;
	thread = offcpu_find(prev);
	offcpu_return_late(prev, thread, state, now_ns);
	if (ctx[3] & OFFCPU_TASK_DEAD) {
		offcpu_forget(prev, thread);
		return NULL;
	}
	how = offcpu_state(ctx[0] & 1, ctx[3]);
	if (!trigger_wants(prev) || (offcpu_only_futexes && !offcpu_is_futex(prev, how)))
		return NULL;
	if (!thread)
		thread = offcpu_make(prev);
	if (!thread || !offcpu_leave(prev, thread, how, now_ns))
		return NULL;
	return thread;
}

/* --- woken ------------------------------------------------------------------------------------ */

/* All of this runs with the lock of the thread that is woken held, and interrupts off. */

/*
 * Where the preempt count is, in bytes from `runqueues` on, among the variables that each cpu has (userspace/capture/kernel/preempt_count.h); 0: not
 * known. A __ksym would say so, too, but only where the kernel keeps the names of its data (CONFIG_KALLSYMS_ALL); and one that is not
 * there, as the variable's name changes, is searched for in all modules, which takes more rights than we ask for.
 */
const volatile wire_s64 waker_count_at;

/* TASK is woken. Its book, when that is what ends its wait; else NULL. */
static __always_inline struct wire_offcpu *offcpu_wake(struct task_struct *task)
{
	struct wire_offcpu *thread;

	if (!sampling || !offcpu_is_followed(task))
		return NULL;
	thread = offcpu_find(task);
	if (!thread || !thread->out_ns || thread->woken_ns)
		return NULL;
	thread->woken_ns = bpf_ktime_get_ns();
	return thread;
}

static __always_inline bool offcpu_waker_has_room(wire_u64 now_ns)
{
	wire_u32 one = 1;
	struct offcpu_rate *rate = bpf_map_lookup_elem(&offcpu_rates, &one);

	return rate && waking_has_room(rate, now_ns, offcpu_most_walks);
}

/*
 * Of the cpu on which TASK runs, by its run queue, one of the same variables. Not known, it is that of who may be in an
 * interrupt's second half.
 */
static __always_inline wire_u32 offcpu_preempt_count(struct task_struct *task)
{
	wire_u32 count;

	if (!waker_count_at || !bpf_core_field_exists(((struct cfs_rq *)0)->rq) ||
	    bpf_probe_read_kernel(&count, sizeof(count),
				  (const char *)BPF_CORE_READ(task, se.cfs_rq, rq) +
					  waker_count_at))
		return WAKING_SOFTIRQ;
	return count;
}

/* Is it the current TASK itself? */
static __always_inline enum wire_waker offcpu_waker_kind(struct task_struct *task)
{
	return waking_kind(task->pid == 0, task->pid ? offcpu_preempt_count(task) : 0);
}

/* A sample of who wakes WOKEN just now; TRIGGER says which of its waits that ends. SENT, DROPPED: what counts such. */
static __always_inline int offcpu_take_waker(struct trigger *trigger, struct cpu_state *state,
					     void *ctx, const struct task_struct *woken,
					     wire_u32 sent, wire_u32 dropped)
{
	trigger->task = bpf_get_current_task_btf();
	trigger->woken_tid = woken->pid;
	trigger->waker = offcpu_waker_kind(trigger->task);
	if (offcpu_waker_has_room(trigger->time_ns) &&
	    trigger_take(trigger, state, ctx, NULL) == TRIGGER_SENT)
		counter_add(sent, 1);
	else
		counter_add(dropped, 1);
	return 0;
}

#endif
