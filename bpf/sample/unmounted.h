/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Waits of virtual threads, which leave their carrier meanwhile: sched_switch tells of their carriers, which wait for work. A wait begins where the
 * frames go into the heap, and is over where they come back, maybe on another carrier, with the stack that it began with (sample/yields.h).
 * Its length is known then, so that it is thinned by that (sample/locks/park.h), where -e offcpu thins by what a place's waits were.
 */
#ifndef HOSTPROF_BPF_SAMPLE_UNMOUNTED_H
#define HOSTPROF_BPF_SAMPLE_UNMOUNTED_H

#include "hotspot/yielding.h"
#include "sample/locks/park_probe.h"
#include "sample/offcpu_thread.h"
#include "sample/yields.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, wire_u32);
	__type(value, struct wire_pace);
} unmounted_paces SEC(".maps");

/* -e wall: what a virtual thread has waited beyond the weights of its samples. Who is not there owes nothing. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* WIRE_YIELDS with that event */
	__type(key, struct wire_yield_key);
	__type(value, wire_s64);
} unmounted_owed SEC(".maps");

/* The carrier TASK, whose JavaThread is at THREAD, puts a virtual thread's frames into the heap, as that waits for what CAUSE says. */
static __always_inline void unmounted_begin(struct task_struct *task, wire_u64 thread,
					    enum wire_cause cause)
{
	struct wire_parking *jvm = park_find_jvm(task);
	struct wire_yield yield = { .cause = cause };
	struct yielding yielding;

	if (!jvm || !yielding_find(jvm, NULL, thread, &yielding)) {
		yields_missed(task->tgid);
		return;
	}
	yield.begin_ns = bpf_ktime_get_ns();
	yield_note(WIRE_YIELD_OF_WAIT, task->tgid, yielding.id, &yield);
}

/* How many waits of LENGTH_NS this one stands for, 0: it is not told. Where all are wanted the first level is that of parks. */
static __always_inline wire_u32 unmounted_choose(wire_u64 length_ns, wire_u64 now_ns)
{
	wire_u32 zero = 0, chance;
	struct wire_pace *pace = bpf_map_lookup_elem(&unmounted_paces, &zero);
	wire_u64 step_ns = offcpu_doubled ? offcpu_step_ns : PARK_LEVEL_NS, level_ns;

	if (!pace)
		return 1;
	level_ns = park_level_of(step_ns, offcpu_keeps_sums, pace->doubled);
	chance = park_draw_at(length_ns, level_ns, bpf_get_prandom_u32());
	if (chance)
		thin_count_of(pace, now_ns, offcpu_most_walks);
	return chance;
}

/* What a wait of the virtual thread ID of process TGID weighs that stands for CHANCE, 0: it is not told. */
static __always_inline wire_u64 unmounted_weigh(wire_u32 tgid, wire_u64 id, wire_u64 length_ns,
						wire_u32 chance)
{
	struct wire_yield_key key = { .id = id, .tgid = tgid, .use = WIRE_YIELD_OF_WAIT };
	wire_s64 none = 0, *owed_ns;

	if (!offcpu_keeps_sums)
		return length_ns * chance;
	owed_ns = bpf_map_lookup_elem(&unmounted_owed, &key);
	if (!owed_ns) {
		bpf_map_update_elem(&unmounted_owed, &key, &none, BPF_ANY);
		owed_ns = bpf_map_lookup_elem(&unmounted_owed, &key);
	}
	if (!owed_ns)
		return length_ns * chance;
	if (chance)
		return offcpu_settle(owed_ns, length_ns, length_ns * chance);
	*owed_ns += (wire_s64)length_ns;
	return 0;
}

/*
 * The carrier TASK, whose JavaThread is at THREAD, gets a virtual thread's frames back at NOW_NS: what is to be told of its wait, NULL:
 * nothing.
 */
static __noinline struct lock_told *unmounted_tell(struct task_struct *task, wire_u64 thread,
						   wire_u64 now_ns)
{
	struct wire_parking *jvm = park_find_jvm(task);
	struct lock_book *book = lock_book_of(task);
	struct lock_told told = {};
	struct yielding yielding;
	struct wire_yield yield;

	if (!jvm || !book || !yielding_find(jvm, NULL, thread, &yielding) ||
	    !yield_take(WIRE_YIELD_OF_WAIT, task->tgid, yielding.id, now_ns, &yield))
		return NULL;
	told.length_ns = park_length(yield.begin_ns, now_ns, offcpu_least_ns);
	if (!told.length_ns)
		return NULL;
	told.chance = unmounted_choose(told.length_ns, now_ns);
	told.weight_ns = unmounted_weigh(task->tgid, yielding.id, told.length_ns, told.chance);
	if (!told.chance)
		return NULL;
	told.cause = yield.cause;
	told.thread = yielding.object;
	book->told = told;
	return &book->told;
}

/* False: nothing is to be told. */
static __always_inline bool unmounted_fill(struct trigger *trigger, wire_u64 thread)
{
	trigger->time_ns = bpf_ktime_get_ns();
	trigger->told = unmounted_tell(trigger->task, thread, trigger->time_ns);
	if (!trigger->told)
		return false;
	trigger->cause = trigger->told->cause;
	trigger->weight = trigger->told->weight_ns;
	return true;
}

#endif
