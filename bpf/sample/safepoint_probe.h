/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The kernel's side of safepoint.h. */
#ifndef HOSTPROF_BPF_SAMPLE_SAFEPOINT_PROBE_H
#define HOSTPROF_BPF_SAMPLE_SAFEPOINT_PROBE_H

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

/* The verifier wants each field of a program's context to be read at its own offset, which a compiler would compute first. */
#define SAFEPOINT_REG(number, field)  \
	case DWARF_##number:          \
		value = regs->field;  \
		UNWIND_OPAQUE(value); \
		break

/* By its DWARF number; 0: it has none such. */
static __always_inline wire_u64 safepoint_reg(const struct pt_regs *regs, wire_u32 number)
{
	wire_u64 value = 0;

	switch (number) {
		SAFEPOINT_REG(RAX, ax);
		SAFEPOINT_REG(RDX, dx);
		SAFEPOINT_REG(RCX, cx);
		SAFEPOINT_REG(RBX, bx);
		SAFEPOINT_REG(RSI, si);
		SAFEPOINT_REG(RDI, di);
		SAFEPOINT_REG(RBP, bp);
		SAFEPOINT_REG(RSP, sp);
		SAFEPOINT_REG(R8, r8);
		SAFEPOINT_REG(R9, r9);
		SAFEPOINT_REG(R10, r10);
		SAFEPOINT_REG(R11, r11);
		SAFEPOINT_REG(R12, r12);
		SAFEPOINT_REG(R13, r13);
		SAFEPOINT_REG(R14, r14);
		SAFEPOINT_REG(R15, r15);
	}
	return value;
}

/* True: a safepoint has ended, and BOOK has its parts. */
static __always_inline bool safepoint_step(struct safepoint_book *book, wire_u32 form,
					   const struct pt_regs *regs)
{
	wire_u64 now_ns = bpf_ktime_get_ns();

	switch (WIRE_USDT_STEP(form)) {
	case WIRE_SAFEPOINT_BEGIN: safepoint_begin(book, now_ns); break;
	case WIRE_SAFEPOINT_OPERATION:
		safepoint_reach(book, now_ns, safepoint_reg(regs, WIRE_USDT_REG(form)));
		break;
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
