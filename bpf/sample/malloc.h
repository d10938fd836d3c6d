/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Native memory: a function that gives some is called (bpf/sample/malloc_call.h says which calls are sampled). */
#ifndef HOSTPROF_BPF_SAMPLE_MALLOC_H
#define HOSTPROF_BPF_SAMPLE_MALLOC_H

#include "sample/alloc.h"
#include "sample/malloc_call.h"
#include "sample/trigger.h"

/* Mean bytes between two samples of a thread; 0: each call is one. */
const volatile wire_u64 malloc_interval;

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct malloc_book);
} malloc_books SEC(".maps");

/* Of each cpu's samples. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, wire_u32);
	__type(value, struct wire_pace);
} malloc_paces SEC(".maps");

/* Sampled memory is followed until it is given back: --live. */
const volatile bool malloc_follows;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, WIRE_MALLOC_MOST_KEPT);
	__type(key, struct wire_kept_key);
	__type(value, wire_u64);
} malloc_kept SEC(".maps");

static __always_inline void malloc_forget(const struct task_struct *task, wire_u64 address)
{
	struct wire_kept_key key = { .address = address,
				     .tgid = task->tgid,
				     .exec_id = task->self_exec_id };

	if (address)
		bpf_map_delete_elem(&malloc_kept, &key);
}

/* ADDRESS is that of the sampled object ID. */
static __always_inline void malloc_keep(const struct task_struct *task, wire_u64 address,
					wire_u64 id)
{
	struct wire_kept_key key = { .address = address,
				     .tgid = task->tgid,
				     .exec_id = task->self_exec_id };

	/* A result that is an error is no address. */
	if (!address || address >= WIRE_MALLOC_MOST_BYTES)
		return;
	if (bpf_map_update_elem(&malloc_kept, &key, &id, BPF_ANY))
		counter_add(WIRE_COUNTER_NOT_KEPT, 1);
}

static __always_inline int malloc_note_return(const struct pt_regs *regs)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct malloc_book *book = bpf_task_storage_get(&malloc_books, task, 0, 0);
	struct malloc_pending *pending = book ? malloc_returned(book, regs->sp) : NULL;
	wire_u64 address = regs->ax;

	if (!pending)
		return 0;
	if (pending->into && !address &&
	    bpf_probe_read_user(&address, sizeof(address), (const void *)pending->into))
		counter_add(WIRE_COUNTER_NOT_KEPT, 1);
	else if (pending->into && regs->ax)
		address = 0; /* it is an error */
	malloc_keep(task, address, pending->id);
	pending->id = 0;
	return 0;
}

static __always_inline void malloc_follow(struct trigger *trigger, struct malloc_book *book,
					  const struct malloc_call *call)
{
	wire_u64 id = bpf_ktime_get_ns() << WIRE_MALLOC_ID_SHIFT |
		      (bpf_get_smp_processor_id() & ((1 << WIRE_MALLOC_ID_SHIFT) - 1));

	if (malloc_may_return(call) && malloc_expect(book, call, id))
		trigger->alloc_object = id;
	else
		counter_add(WIRE_COUNTER_NOT_KEPT, 1);
}

static __always_inline void malloc_call_take(const struct pt_regs *regs, wire_u32 form,
					     struct malloc_call *ret_call)
{
	ret_call->arguments[0] = regs->di;
	ret_call->arguments[1] = regs->si;
	ret_call->arguments[2] = regs->dx;
	ret_call->arguments[3] = regs->cx;
	ret_call->ip = regs->ip;
	ret_call->sp = regs->sp;
	ret_call->form = form;
	ret_call->back = 0;
}

/* Is a sample of the call wanted? Its weight and all that userspace needs to say it better. */
static __always_inline bool malloc_weigh(struct trigger *trigger, struct malloc_book *book,
					 struct malloc_call *call, wire_u64 size)
{
	wire_u32 zero = 0;
	struct wire_pace *pace = bpf_map_lookup_elem(&malloc_paces, &zero);
	wire_u64 interval = malloc_interval_now(malloc_interval, pace);
	wire_s64 by;

	if (bpf_probe_read_user(&call->back, sizeof(call->back), (const void *)call->sp))
		call->back = 0;
	if (malloc_is_jump(book, call, size, probed_trampoline(trigger->task->mm)))
		return false;
	by = malloc_choose(book, size, interval, bpf_get_prandom_u32(), bpf_get_prandom_u32());
	if (by < 0)
		return false;
	if (pace && interval)
		thin_count(pace, bpf_ktime_get_ns());
	if (malloc_follows)
		malloc_follow(trigger, book, call);
	trigger->weight = alloc_weight(size, by);
	trigger->alloc_interval = by;
	return true;
}

static __always_inline bool malloc_take(struct trigger *trigger, struct malloc_book *book)
{
	struct malloc_call call = book->call;
	wire_u64 size;

	if (malloc_follows)
		malloc_forget(trigger->task, malloc_call_frees(&call));
	size = malloc_call_bytes(&call);
	if (!size || !malloc_weigh(trigger, book, &call, size))
		return false;
	trigger->alloc_size = size;
	trigger->alloc_class = malloc_asks_for_pages(&call) ? WIRE_MALLOC_PAGES : 0;
	return true;
}

/*
 * What a sample says of the book's call: in the book, too, where nobody else writes until that has returned. Verified alone
 * (cursor_load_far_alone() says how), or the walk would be looked at once for each way through it.
 */
__attribute__((noinline)) int malloc_choose_alone(struct malloc_book *book)
{
	struct trigger taken = { .task = bpf_get_current_task_btf() };

	if (!book || !malloc_take(&taken, book))
		return false;
	book->taken.weight = taken.weight;
	book->taken.size = taken.alloc_size;
	book->taken.interval = taken.alloc_interval;
	book->taken.object = taken.alloc_object;
	book->taken.pages = taken.alloc_class;
	return true;
}

/*
 * CTX is the program's, with the registers of the function's entry; its cookie says event and form. True: the call's return
 * matters, too.
 */
static __always_inline bool malloc_sample(struct pt_regs *ctx)
{
	wire_u64 cookie = bpf_get_attach_cookie(ctx);
	struct trigger trigger = { .event = cookie & ((1 << WIRE_PLACE_FORM_SHIFT) - 1),
				   .in_user = true,
				   .at_entry = true,
				   .preemptible = true,
				   .flags = WIRE_SAMPLE_NATIVE };
	struct cpu_state *state = trigger_enter(&trigger);
	struct malloc_book *book;

	if (!state)
		return false;
	book = bpf_task_storage_get(&malloc_books, trigger.task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!book) {
		counter_add(WIRE_COUNTER_NO_BOOKS, 1);
		return false;
	}
	malloc_call_take(ctx, cookie >> WIRE_PLACE_FORM_SHIFT, &book->call);
	if (!malloc_choose_alone(book))
		return false;
	trigger.weight = book->taken.weight;
	trigger.alloc_size = book->taken.size;
	trigger.alloc_interval = book->taken.interval;
	trigger.alloc_object = book->taken.object;
	trigger.alloc_class = book->taken.pages;
	trigger_fire(&trigger, state, ctx, ctx);
	return trigger.alloc_object;
}

#endif
