/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The kernel's side of contention.h. It runs wherever a lock is waited for: with the run queue locked, in interrupts, and at a wait's end
 * with the lock itself held. So nothing is allocated, and a wait that one of our own programs has met is left out:
 * its lock may be one that a sample would need.
 */
#ifndef HOSTPROF_BPF_SAMPLE_LOCKS_CONTENTION_PROBE_H
#define HOSTPROF_BPF_SAMPLE_LOCKS_CONTENTION_PROBE_H

#include "kernel/contention.h"
#include "sample/locks/park.h"
#include "sample/thin.h"
#include "sample/trigger.h"

/* Shorter ones are not wanted. */
const volatile wire_u64 contention_least_ns;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, wire_u32);
	__type(value, struct contention_book);
} contention_cpus SEC(".maps");

/* By tid, of those that wait now. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* WIRE_CONTENTION_THREADS where the event is wanted */
	__type(key, wire_u32);
	__type(value, struct contention_book);
} contention_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, wire_u32);
	__type(value, struct wire_pace);
} contention_paces SEC(".maps");

static __always_inline struct contention_book *contention_of_cpu(void)
{
	wire_u32 zero = 0;

	return bpf_map_lookup_elem(&contention_cpus, &zero);
}

static __always_inline void contention_note_sleeper(wire_u64 lock, wire_u32 flags, wire_u32 tid,
						    wire_u64 now_ns)
{
	struct contention_book *book = bpf_map_lookup_elem(&contention_threads, &tid);
	struct contention_book fresh = {};

	if (book) {
		contention_begin(book, lock, flags, tid, now_ns);
		return;
	}
	contention_begin(&fresh, lock, flags, tid, now_ns);
	if (bpf_map_update_elem(&contention_threads, &tid, &fresh, BPF_ANY))
		counter_add(WIRE_COUNTER_CONTENTION_NO_BOOKS, 1);
}

static __always_inline void contention_note(wire_u64 lock, wire_u32 flags)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct contention_book *cpu = contention_of_cpu();
	wire_u64 now_ns;

	if (!cpu || !target_wanted(task))
		return;
	if (cpu->busy) {
		counter_add(WIRE_COUNTER_CONTENTION_OURS, 1);
		return;
	}
	now_ns = bpf_ktime_get_ns();
	if (contention_spins(flags))
		contention_begin(cpu, lock, flags, task->pid, now_ns);
	else
		contention_note_sleeper(lock, flags, task->pid, now_ns);
}

/* False: its begin was not seen. */
static __always_inline bool contention_take(struct contention_book *cpu, wire_u64 lock,
					    wire_u32 tid, struct contention_wait *ret_wait)
{
	struct contention_book *book;

	if (contention_end(cpu, lock, tid, ret_wait))
		return true;
	book = bpf_map_lookup_elem(&contention_threads, &tid);
	if (!book || !contention_end(book, lock, tid, ret_wait))
		return false;
	if (!book->depth)
		bpf_map_delete_elem(&contention_threads, &tid);
	return true;
}

/* Is a program of ours taking a sample on this cpu? What it waits for is its own. */
static __always_inline bool contention_is_ours(const struct cpu_state *state)
{
	for (wire_u32 level = 0; level < WIRE_SCRATCH_LEVELS; level++)
		if (*(const volatile wire_u32 *)&state->busy[level])
			return true;
	return false;
}

static __always_inline enum wire_contention_field contention_field(struct task_struct *task,
								   wire_u64 lock)
{
	struct sighand_struct *sighand = task->sighand;
	struct mm_struct *mm = task->mm;

	if (mm && lock == (wire_u64)mm + bpf_core_field_offset(mm->mmap_lock))
		return WIRE_CONTENTION_MMAP_LOCK;
	if (sighand && lock == (wire_u64)sighand + bpf_core_field_offset(sighand->siglock))
		return WIRE_CONTENTION_SIGLOCK;
	return WIRE_CONTENTION_NO_FIELD;
}

/* What is told of a wait, as a trigger has it; apart from that, which would be on the stack below the walk as a whole. */
struct contention_told {
	wire_u64 time_ns, weight;
	wire_u32 chance;
	wire_u8 state, cause, field;
};

/* Whether it is told: then TOLD has its weight. */
static __always_inline bool contention_weigh(struct contention_told *told, wire_u64 length_ns)
{
	wire_u32 zero = 0, chance;
	struct wire_pace *pace = bpf_map_lookup_elem(&contention_paces, &zero);

	if (!pace || !length_ns)
		return false;
	counter_add(WIRE_COUNTER_CONTENTION_WAITS, 1);
	counter_add(WIRE_COUNTER_CONTENTION_NS, length_ns);
	chance = park_choose(pace, length_ns, told->time_ns, bpf_get_prandom_u32());
	if (!chance)
		return false;
	told->chance = chance;
	told->weight = length_ns * chance;
	return true;
}

/* Of the wait for LOCK that ends now. False: nothing is to be told of it. STATE is NULL where nothing is sampled any more. */
static __noinline bool contention_fill(struct contention_told *told, struct contention_book *cpu,
				       struct cpu_state *state, wire_u64 lock)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct contention_wait wait = {};

	if (!contention_take(cpu, lock, task->pid, &wait) || !state)
		return false;
	told->time_ns = bpf_ktime_get_ns();
	if (!contention_weigh(told, park_length(wait.begin_ns, told->time_ns, contention_least_ns)))
		return false;
	if (contention_is_ours(state)) {
		counter_add(WIRE_COUNTER_CONTENTION_OURS, 1);
		return false;
	}
	told->state = contention_spins(wait.flags) ? WIRE_STATE_RUNNING : WIRE_STATE_BLOCKED;
	told->cause = contention_cause(wait.flags);
	told->field = contention_field(task, lock);
	return true;
}

static __always_inline void contention_tell(struct trigger *trigger,
					    const struct contention_told *told, wire_u64 lock)
{
	trigger->task = bpf_get_current_task_btf();
	trigger->time_ns = told->time_ns;
	trigger->weight = told->weight;
	trigger->alloc_interval = told->chance;
	trigger->alloc_object = lock;
	trigger->alloc_class = told->field;
	trigger->state = told->state;
	trigger->cause = told->cause;
}

#endif
