/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Allocations from outside: what AllocTracer's arguments and the thread's own books tell. */
#ifndef HOSTPROF_BPF_SAMPLE_ALLOC_TRACER_H
#define HOSTPROF_BPF_SAMPLE_ALLOC_TRACER_H

#include "sample/between.h"
#include "sample/thin.h"
#include "sample/tlab.h"
#include "sample/trigger.h"

/* The JVMs that are seen so: tgid -> what is known of it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WIRE_MAX_JVMS);
	__type(key, wire_u32);
	__type(value, struct wire_tlab);
} tlab_jvms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct tlab_book);
} tlab_books SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct between_book);
} between_books SEC(".maps");

/* A function's arguments, of either. */
struct alloc_call {
	wire_u64 klass, size, tlab_bytes, thread;
	bool fresh;
};

/*
 * share/gc/shared/allocTracer.hpp: send_allocation_in_new_tlab(klass, object, tlab bytes, object's bytes,
 * thread), send_allocation_outside_tlab(klass, object, bytes, thread); the same in 8u262 and later, where
 * a KlassHandle is but a Klass*.
 */
static __always_inline void alloc_call_take(const struct pt_regs *regs, bool fresh,
					    struct alloc_call *ret_call)
{
	ret_call->klass = regs->di;
	ret_call->fresh = fresh;
	ret_call->size = fresh ? regs->cx : regs->dx;
	ret_call->tlab_bytes = fresh ? regs->dx : 0;
	ret_call->thread = fresh ? regs->r8 : regs->cx;
}

#define ALLOC_READ(to, at) bpf_probe_read_user(&(to), sizeof(to), (const void *)(at))

/* False: the thread's memory cannot be read. */
static __always_inline bool alloc_read_thread(const struct wire_tlab *jvm,
					      const struct alloc_call *call,
					      struct tlab_state *ret_state)
{
	wire_u64 allocated = 0, start = 0, top = 0, end = 0, desired = 0, at = call->thread;
	wire_u32 refills = 0;

	if (ALLOC_READ(allocated, at + jvm->allocated) || ALLOC_READ(start, at + jvm->start) ||
	    ALLOC_READ(top, at + jvm->top) || ALLOC_READ(end, at + jvm->end) ||
	    ALLOC_READ(desired, at + jvm->desired) || ALLOC_READ(refills, at + jvm->refills))
		return false;
	ret_state->fresh = call->fresh;
	ret_state->desired = desired * 8;
	ret_state->allocated = allocated + (top - start);
	ret_state->room = end - top;
	if (call->fresh)
		ret_state->emptied = refills == !jvm->before;
	else
		ret_state->emptied = !end && !refills;
	if (call->fresh && jvm->before) {
		ret_state->allocated = allocated + call->size;
		ret_state->room = call->tlab_bytes - call->size;
	}
	return true;
}

static __always_inline wire_u64 alloc_interval(const struct wire_tlab *jvm)
{
	return jvm->interval << (jvm->pace.doubled % (THIN_MOST_DOUBLED + 1));
}

/* The bytes that the thread has allocated, and the room of its TLAB, whose top is known. False: they cannot be read. */
static __always_inline bool alloc_read_room(const struct wire_tlab *jvm, wire_u64 thread,
					    wire_u64 top, struct tlab_state *ret_state)
{
	wire_u64 allocated = 0, start = 0, end = 0;

	if (ALLOC_READ(allocated, thread + jvm->allocated) ||
	    ALLOC_READ(start, thread + jvm->start) || ALLOC_READ(end, thread + jvm->end))
		return false;
	ret_state->allocated = allocated + (top - start);
	ret_state->room = end - top;
	return true;
}

/* Likewise where an agent tells of the objects in between. */
static __always_inline wire_u64 alloc_tell_call(struct wire_tlab *jvm, struct task_struct *task,
						const struct alloc_call *call)
{
	struct tlab_state now = {};
	struct between_book *book;
	wire_u64 weight;

	book = bpf_task_storage_get(&between_books, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!book || ALLOC_READ(book->top, call->thread + jvm->top) ||
	    (between_needs_thread(book, call->fresh, jvm->reaches) &&
	     !alloc_read_room(jvm, call->thread, book->top, &now))) {
		counter_add(WIRE_COUNTER_NO_BOOKS, 1);
		return call->size;
	}
	book->thread = call->thread;
	between_note_told(book, call->size, now.allocated, now.room, call->fresh);
	weight = between_take_told(call->size, alloc_interval(jvm), bpf_get_prandom_u32());
	if (weight)
		thin_count(&jvm->pace, bpf_ktime_get_ns());
	return weight;
}

/* The bytes that the call's sample stands for; 0: it is left out. */
static __always_inline wire_u64 alloc_weigh_call(struct wire_tlab *jvm, struct task_struct *task,
						 const struct alloc_call *call)
{
	struct tlab_book *book;
	struct tlab_state now;
	wire_u64 weight;

	if (jvm->agent)
		return alloc_tell_call(jvm, task, call);
	book = bpf_task_storage_get(&tlab_books, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!book || !alloc_read_thread(jvm, call, &now)) {
		counter_add(WIRE_COUNTER_NO_BOOKS, 1);
		return call->size;
	}
	weight = tlab_weigh(book, call->size, &now);
	weight = thin_weight(weight, alloc_interval(jvm), bpf_get_prandom_u32());
	if (weight)
		thin_count(&jvm->pace, bpf_ktime_get_ns());
	return weight;
}

/* The JVM of TASK, when it is seen from outside and still the same process. */
static __always_inline struct wire_tlab *alloc_find_jvm(const struct task_struct *task)
{
	wire_u32 tgid = task->tgid;
	wire_u64 start_ns = task->group_leader->start_time;
	struct wire_tlab *jvm = bpf_map_lookup_elem(&tlab_jvms, &tgid);

	return jvm && target_is_same(&jvm->start_ns, start_ns) ? jvm : NULL;
}

/* The agent tells of an object: gives its weight; false: AllocTracer has told of it. */
static __always_inline bool alloc_weigh_agent(struct trigger *trigger)
{
	const struct wire_tlab *jvm = alloc_find_jvm(trigger->task);
	wire_u64 allocated = 0, start = 0, top = 0;
	struct between_book *book;

	if (!jvm || !jvm->agent)
		return true;
	book = bpf_task_storage_get(&between_books, trigger->task, 0, 0);
	if (!book || !book->thread || ALLOC_READ(top, book->thread + jvm->top))
		return true;
	if (between_is_told(book, trigger->alloc_size, top))
		return false;
	if (ALLOC_READ(allocated, book->thread + jvm->allocated) ||
	    ALLOC_READ(start, book->thread + jvm->start))
		return true;
	trigger->weight = between_weigh(book, trigger->alloc_size, trigger->alloc_interval,
					allocated + (top - start), jvm->reaches);
	trigger->flags |= WIRE_SAMPLE_WEIGHED;
	return true;
}

/* CTX is the program's, with the registers of one of the two functions' entry. */
static __always_inline int alloc_tracer_sample(struct pt_regs *ctx, bool fresh)
{
	struct trigger trigger = { .event = bpf_get_attach_cookie(ctx),
				   .in_user = true,
				   .preemptible = true };
	struct cpu_state *state = trigger_enter(&trigger);
	struct wire_tlab *jvm = state ? alloc_find_jvm(trigger.task) : NULL;
	struct alloc_call call;

	if (!jvm)
		return 0;
	alloc_call_take(ctx, fresh, &call);
	trigger.weight = alloc_weigh_call(jvm, trigger.task, &call);
	if (!trigger.weight)
		return 0;
	trigger.flags = fresh ? WIRE_SAMPLE_NEW_TLAB : WIRE_SAMPLE_OUTSIDE_TLAB;
	trigger.alloc_class = call.klass;
	trigger.alloc_size = call.size;
	trigger.alloc_interval = call.tlab_bytes;
	return trigger_fire(&trigger, state, ctx, ctx);
}

#endif
