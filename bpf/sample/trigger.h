/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The seam between what makes a sample due and how it is taken. A program of hostprof.bpf.c says what
 * only it knows in a struct trigger: which event fired, what the sample weighs, in which code. All
 * that follows (stacks, miss, record, books of losses) is the same for every trigger.
 *
 * A new trigger: fill a struct trigger, trigger_enter(), trigger_fire(). One whose weight is known only later says
 * WIRE_SAMPLE_OPEN, and trigger_take() (sample/offcpu_thread.h).
 */
#ifndef HOSTPROF_BPF_SAMPLE_TRIGGER_H
#define HOSTPROF_BPF_SAMPLE_TRIGGER_H

#include "sample/locks/lock_book.h"
#include "sample/phases/class_load_text.h"
#include "sample/phases/compilation_text.h"
#include "sample/phases/gc_text.h"
#include "sample/target.h"
#include "sample/window.h"

struct trigger {
	struct task_struct *task; /* the current one; trigger_enter() fills it in */
	wire_u64 weight;	  /* in the event's unit */
	wire_u64 time_ns;	  /* CLOCK_MONOTONIC; 0: now */
	wire_u32 event;		  /* index of the -e */
	bool in_user;		  /* it fired in user code: there is no kernel stack */
	bool at_entry;		  /* at a function's first instruction */
	bool preemptible;	  /* the program may lose its cpu to another task's samples */
	bool unmounted;		  /* a virtual thread's wait without its carrier */
	wire_u8 state;		  /* enum wire_state */
	wire_u8 cause;		  /* enum wire_cause */
	wire_u8 flags;		  /* those of WIRE_SAMPLE_… that it knows */
	wire_u8 waker;		  /* enum wire_waker */
	wire_u32 woken_tid;	  /* of a waker */
	wire_u32 wait_number;	  /* of a wait for a lock, and of its waker */
	/* Of an allocation, as in struct wire_sample. */
	wire_u64 alloc_class;
	wire_u64 alloc_size;
	wire_u64 alloc_interval;
	wire_u64 alloc_object;
	wire_u64 lock_owner;
	const struct lock_told
		*told;	  /* of a virtual thread that waited: in place of all these; NULL: none */
	wire_u64 text_at; /* a string of the task's that goes with the sample; 0: none */
	const struct compilation_seen *compilation; /* or this one; NULL: none */
	const struct class_load_seen *class_load;   /* the same */
	const struct gc_book *gc;		    /* the same */
};

#include "sample/emit.h"
#include "sample/miss/miss.h"
#include "sample/walk.h"

/* NULL: nothing is sampled now. */
static __always_inline struct cpu_state *trigger_cpu_state(void)
{
	wire_u32 zero = 0;

	return sampling ? bpf_map_lookup_elem(&cpu_states, &zero) : NULL;
}

static __always_inline bool trigger_wants(struct task_struct *task)
{
	if (target_wanted(task))
		return true;
	counter_add(WIRE_COUNTER_FILTERED, 1);
	return false;
}

/* NULL: no sample is wanted of what runs now. */
static __always_inline struct cpu_state *trigger_enter(struct trigger *trigger)
{
	struct cpu_state *state = trigger_cpu_state();

	if (!state)
		return NULL;
	trigger->task = bpf_get_current_task_btf();
	return trigger_wants(trigger->task) ? state : NULL;
}

/*
 * A scratch record of this cpu: its level, WIRE_SCRATCH_LEVELS when all are in use. Exchanged in one
 * step, since of two preemptible samples either may go on first. Verified alone (cursor_load_far_alone()
 * says how), or all that follows would be looked at once for each level.
 */
__attribute__((noinline)) wire_u32 trigger_take_level(struct cpu_state *state)
{
	for (wire_u32 level = 0; state && level < WIRE_SCRATCH_LEVELS; level++)
		if (!__sync_lock_test_and_set(&state->busy[level], 1))
			return level;
	return WIRE_SCRATCH_LEVELS;
}

static __always_inline void trigger_give_level(struct cpu_state *state, wire_u32 level)
{
	UNWIND_OPAQUE(level);
	if (level < WIRE_SCRATCH_LEVELS)
		*(volatile wire_u32 *)&state->busy[level] = 0;
}

static __always_inline struct scratch *trigger_scratch(wire_u32 level)
{
	wire_u32 index = bpf_get_smp_processor_id() * WIRE_SCRATCH_LEVELS + level;

	return level < WIRE_SCRATCH_LEVELS ? bpf_map_lookup_elem(&scratches, &index) : NULL;
}

/* Read when they are wanted: more than registers hold. */
static __always_inline void trigger_describe_told(struct wire_sample *sample,
						  const struct lock_told *told)
{
	sample->alloc_class = told->klass;
	sample->alloc_size = told->length_ns;
	sample->alloc_interval = told->chance;
	sample->alloc_object = told->object;
	sample->lock_owner = told->owner;
}

static __always_inline void trigger_describe(struct wire_sample *sample,
					     const struct trigger *trigger)
{
	struct task_struct *task = trigger->task;

	sample->kind = WIRE_SAMPLE;
	sample->event = trigger->event;
	sample->weight = trigger->weight;
	sample->time_ns = trigger->time_ns ? trigger->time_ns : bpf_ktime_get_ns();
	sample->cpu = bpf_get_smp_processor_id();
	sample->in_user = trigger->in_user;
	sample->flags = trigger->flags;
	sample->state = trigger->state;
	sample->cause = trigger->cause;
	sample->waker = trigger->waker;
	sample->unmounted = trigger->unmounted;
	sample->woken_tid = trigger->woken_tid;
	sample->wait_number = trigger->wait_number;
	sample->alloc_class = trigger->alloc_class;
	sample->alloc_size = trigger->alloc_size;
	sample->alloc_interval = trigger->alloc_interval;
	sample->alloc_object = trigger->alloc_object;
	sample->lock_owner = trigger->lock_owner;
	if (trigger->told)
		trigger_describe_told(sample, trigger->told);
	sample->tgid = task->tgid;
	sample->tid = task->pid;
	sample->start_ns = task->group_leader->start_time;
	sample->exec_id = task->self_exec_id;
	sample->cgroup_id = bpf_get_current_cgroup_id();
	bpf_get_current_comm(sample->comm, sizeof(sample->comm));
}

/* In the place of a virtual thread's name. */
static __always_inline void trigger_put_text(struct virtual_thread *name, wire_u64 at)
{
	long bytes = bpf_probe_read_user_str(name->name, sizeof(name->name), (const void *)at);

	name->name_bytes = bytes > 1 ? bytes - 1 : 0;
	name->name_width = 1;
}

/* What goes with the sample is read last: a walk may have found the virtual thread's name. */
static __always_inline void trigger_tell(struct scratch *s, const struct trigger *trigger,
					 const struct pt_regs *regs)
{
	s->sample.text = WIRE_TEXT_NAME;
	if (trigger->text_at) {
		s->sample.text = WIRE_TEXT_OPERATION;
		trigger_put_text(&s->cursor.virtual_thread, trigger->text_at);
	}
	if (trigger->compilation) {
		s->sample.text = WIRE_TEXT_COMPILATION;
		compilation_put(&s->cursor, trigger->compilation, regs);
	}
	if (trigger->class_load) {
		s->sample.text = WIRE_TEXT_CLASS_LOAD;
		class_load_put(&s->cursor, trigger->class_load, regs);
	}
	if (trigger->gc) {
		s->sample.text = WIRE_TEXT_GC;
		gc_put(&s->cursor, trigger->gc);
	}
}

/* CTX is the program's; REGS are those of user code where the trigger has them, else NULL. */
static __always_inline int trigger_sample(struct scratch *s, struct cpu_state *state,
					  const struct trigger *trigger, void *ctx,
					  const struct pt_regs *regs)
{
	struct wire_sample *sample = &s->sample;

	trigger_describe(sample, trigger);
	walk_kernel(s, ctx);
	walk_user(s, trigger, regs);
	if (s->cursor.missed)
		miss_emit(s, state, trigger->task);
	trigger_tell(s, trigger, regs);
	sample->reason = s->cursor.reason;
	sample->user_words = s->cursor.words - sample->kernel_frames;
	sample->user_frames = s->cursor.frames;
	return emit_sample(s, state);
}

#define TRIGGER_SENT -1

/* TRIGGER_SENT, or an enum wire_loss that the caller sees to. */
static __always_inline int trigger_take(const struct trigger *trigger, struct cpu_state *state,
					void *ctx, const struct pt_regs *regs)
{
	wire_u32 level = trigger_take_level(state);
	struct scratch *s = trigger_scratch(level);
	int lost;

	if (!s)
		return WIRE_LOSS_NESTED;
	s->cursor.nested = level;
	lost = trigger_sample(s, state, trigger, ctx, regs);
	trigger_give_level(state, level);
	return lost ? WIRE_LOSS_RING : TRIGGER_SENT;
}

static __always_inline int trigger_fire(const struct trigger *trigger, struct cpu_state *state,
					void *ctx, const struct pt_regs *regs)
{
	int lost;

	if (!target_cpu_wanted() || !window_wanted(trigger->task)) {
		counter_add(WIRE_COUNTER_FILTERED, 1);
		return 0;
	}
	lost = trigger_take(trigger, state, ctx, regs);
	return lost == TRIGGER_SENT ? 0 : emit_lost(trigger->event, trigger->weight, lost);
}

#endif
