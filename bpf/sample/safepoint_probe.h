/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The kernel's side of safepoint.h. */
#ifndef HOSTPROF_BPF_SAMPLE_SAFEPOINT_PROBE_H
#define HOSTPROF_BPF_SAMPLE_SAFEPOINT_PROBE_H

#include "sample/phases/usdt_reg.h"
#include "sample/safepoint.h"
#include "sample/trigger.h"

/* Shorter ones are not wanted. */
const volatile wire_u64 safepoint_least_ns;

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct safepoint_book);
} safepoint_books SEC(".maps");

/* True: a safepoint has ended, and BOOK has its parts. */
static __always_inline bool safepoint_step(struct safepoint_book *book, wire_u64 form,
					   const struct pt_regs *regs)
{
	wire_u64 now_ns = bpf_ktime_get_ns();

	switch (WIRE_USDT_STEP(form)) {
	case WIRE_SAFEPOINT_BEGIN: safepoint_begin(book, now_ns); break;
	case WIRE_SAFEPOINT_OPERATION: safepoint_reach(book, now_ns, usdt_first(regs, form)); break;
	case WIRE_SAFEPOINT_OPERATION_END: safepoint_operated(book, now_ns); break;
	case WIRE_SAFEPOINT_END: return safepoint_end(book, now_ns);
	}
	return false;
}

/* Of a safepoint that has ended: one sample, with the lengths of its parts. */
static __always_inline void safepoint_fill(struct trigger *trigger, struct safepoint_book *book)
{
	wire_u64 operation = safepoint_length(book, SAFEPOINT_OPERATION);

	trigger->alloc_interval = safepoint_length(book, SAFEPOINT_REACHING);
	trigger->alloc_object = safepoint_length(book, SAFEPOINT_LEAVING);
	trigger->weight = trigger->alloc_interval + operation + trigger->alloc_object;
	trigger->time_ns = book->end_ns[SAFEPOINT_LEAVING];
	trigger->text_at = book->name_at;
	book->begin_ns = 0;
}

#endif
