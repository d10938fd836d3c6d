/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The kernel's side of gc.h. */
#ifndef HOSTPROF_BPF_SAMPLE_PHASES_GC_PROBE_H
#define HOSTPROF_BPF_SAMPLE_PHASES_GC_PROBE_H

#include "sample/phases/gc.h"
#include "sample/phases/phase_jvm.h"
#include "sample/phases/usdt_reg.h"
#include "sample/trigger.h"

/* Shorter ones are not wanted. */
const volatile wire_u64 gc_least_ns;

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct gc_book);
} gc_books SEC(".maps");

static __always_inline void gc_read_cause(struct gc_book *book, struct task_struct *task)
{
	const struct wire_phases *jvm = phase_find_jvm(task);

	if (jvm && jvm->gc_cause_at && gc_wants_cause(book))
		(void)bpf_probe_read_user_str(book->cause, sizeof(book->cause),
					      (const void *)jvm->gc_cause_at);
}

/* The length of a pause that has ended; else 0. */
static __always_inline wire_u64 gc_step(struct gc_book *book, wire_u64 form,
					const struct pt_regs *regs, struct task_struct *task)
{
	wire_u64 now_ns = bpf_ktime_get_ns();

	switch (WIRE_USDT_STEP(form)) {
	case WIRE_GC_OPERATION: gc_begin(book, now_ns, usdt_first(regs, form)); break;
	case WIRE_GC_BEGIN: book->collects = 1; break;
	case WIRE_GC_POOL: gc_read_cause(book, task); break;
	case WIRE_GC_OPERATION_END:
		if (book->begin_ns && book->collects)
			gc_read_cause(book, task);
		return gc_end(book, now_ns);
	}
	return 0;
}

/* False: nothing is to be told. */
static __always_inline bool gc_fill(struct trigger *trigger, wire_u64 form,
				    const struct pt_regs *regs)
{
	struct gc_book *book = bpf_task_storage_get(
		&gc_books, trigger->task, 0,
		WIRE_USDT_STEP(form) == WIRE_GC_OPERATION ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);

	if (!book)
		return false;
	trigger->weight = gc_step(book, form, regs, trigger->task);
	trigger->gc = book;
	return trigger->weight && trigger->weight >= gc_least_ns;
}

#endif
