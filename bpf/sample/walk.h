/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The step functions seated in BPF: the current task's stacks into the scratch record. */
#ifndef HOSTPROF_BPF_SAMPLE_WALK_H
#define HOSTPROF_BPF_SAMPLE_WALK_H

#include "sample/clock.h"
#include "sample/space.h"
#include "sample/user_regs.h"
#include "unwind.h"

/* How often the walk looks at the clock, in frames (a look costs as much as a frame). */
#define BUDGET_STRIDE 32

struct walk {
	struct scratch *s;
};

/* Userspace may go on; a hypervisor that took the cpu away has used the time up more often than not. */
static __always_inline int walk_end_budget(struct unwind_cursor *c, wire_u64 *out)
{
	/* Userspace would see the heap of another time. */
	if (c->frozen_at.inside && unwind_leave_heap(c, out))
		return UNWIND_STOP;
	c->missed = !settings.frame_pointers_only;
	return cursor_stop(c, UNWIND_BUDGET);
}

static long walk_turn(wire_u32 turn, struct walk *walk)
{
	struct scratch *s = walk->s;
	struct unwind_memory *memory = NULL;

	if (turn % BUDGET_STRIDE == BUDGET_STRIDE - 1 && bpf_ktime_get_ns() > s->cursor.deadline_ns)
		return walk_end_budget(&s->cursor, s->words);
	return unwind_frame(&s->cursor, memory, s->words);
}

/* Without one, code that has no file is walked blindly, or missed while there may be one. */
static __always_inline void walk_take_jvm(struct unwind_cursor *c)
{
	wire_u32 serial = c->jvm_serial;
	struct wire_jvm *jvm = NULL;

	if (serial)
		jvm = bpf_map_lookup_elem(&jvms, &serial);
	if (jvm)
		c->jvm = *jvm;
	else
		blob_forget_jvm(c);
}

/*
 * In Java code %r15 is the JavaThread: noted for the thread's other samples. Signal handlers and
 * native code have other values there. Not inline: its words are not on the stack below the walk.
 */
static __noinline void walk_note_thread(struct unwind_cursor *c, struct task_struct *task)
{
	struct wire_thread thread = { .thread = c->r15, .start_ns = task->start_time };
	wire_u32 tid = task->pid;
	struct wire_thread *known;

	if (!compiled_is_at_pc(c))
		return;
	thread.serial = c->jvm.serial;
	c->thread = c->r15;
	known = bpf_map_lookup_elem(&threads, &tid);
	if (!known || known->thread != thread.thread || known->start_ns != thread.start_ns ||
	    known->serial != thread.serial)
		bpf_map_update_elem(&threads, &tid, &thread, BPF_ANY);
}

static __always_inline void walk_count(const struct unwind_cursor *c)
{
#define WIRE_WALK_COUNTER(name, field, figure, text) \
	if (c->field)                                \
		counter_add(WIRE_COUNTER_##name, c->field);
#include "wire_counters.def"
}

/* Walks the user stack of TRIGGER's task, from REGS where it has them (user_regs_take()). */
static __always_inline void walk_user(struct scratch *s, const struct trigger *trigger,
				      const struct pt_regs *regs)
{
	struct task_struct *task = trigger->task;
	/* Once: of each load of a pointer the verifier searches all types of the kernel. */
	struct mm_struct *mm = task->mm;
	struct unwind_cursor *c = &s->cursor;
	struct walk walk = { .s = s };

	unwind_begin(c, settings.max_user_frames, s->sample.kernel_frames);
	c->reason = trigger->waker == WIRE_WAKER_INTERRUPT ? UNWIND_USER_EXCLUDED
							   : user_regs_take(s, task, mm, regs);
	if (c->reason != UNWIND_DONE)
		return;
	c->reason = UNWIND_DEPTH;
	c->now_s = s->sample.time_ns / NSEC_PER_SEC;
	c->tick = s->sample.time_ns >> WIRE_TICK_SHIFT;
	c->deadline_ns = s->sample.time_ns + settings.budget_ns;
	c->uncached = trigger->preemptible && c->nested;
	c->at_entry = trigger->at_entry;
	c->stack_top = mm->start_stack;
	c->tls = task->thread.fsbase;
	c->frozen_at.live = 1;
	c->unpacking_live = 1;
	if (trigger->told)
		c->virtual_thread.object = trigger->told->thread;
	c->trampoline = probed_trampoline(mm);
	space_take(s, mm);
	walk_take_jvm(c);
	walk_note_thread(c, task);
	c->leaf_sp = c->sp;
	if (!(regs && s->sample.in_user) && user_regs_begin_thread(s)) {
		c->reason = UNWIND_DONE;
		(void)cursor_put_frame(c, s->words, WIRE_FRAME_CODE, 1);
		return;
	}
	if (compiling_may_be(c) && compiling_find(c, NULL, c->tls))
		(void)compiling_put(c, s->words);
	/* One turn more than frames: the last one finds the end, or says UNWIND_DEPTH. */
	bpf_loop(WIRE_MAX_USER_FRAMES + 1, walk_turn, &walk, 0);
	(void)virtual_find(c, NULL);
	walk_count(c);
}

/* CTX is the program's. */
static __always_inline void walk_kernel(struct scratch *s, void *ctx)
{
	long bytes = 0;

	if (!s->sample.in_user && !settings.exclude_kernel)
		bytes = bpf_get_stack(ctx, s->words, WIRE_MAX_KERNEL_FRAMES * sizeof(wire_u64), 0);
	s->sample.kernel_frames = bytes > 0 ? bytes / sizeof(wire_u64) : 0;
}

#endif
