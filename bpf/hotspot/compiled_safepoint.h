/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The leaf in the blob to which a safepoint poll within a method leads: the JVM's signal handler puts
 * pc to its beginning, and the poll's address into JavaThread::_saved_exception_pc. push %rbx makes
 * room for a return address; it is there when all registers are saved
 * (SharedRuntime::generate_handler_blob() in cpu/x86/sharedRuntime_x86_64.cpp, JDK 8 to 28).
 */
#ifndef HOSTPROF_BPF_HOTSPOT_COMPILED_SAFEPOINT_H
#define HOSTPROF_BPF_HOTSPOT_COMPILED_SAFEPOINT_H

#include "hotspot/compiled_rule.h"

/* Instead of a verdict: it is not that, or has its return address. */
#define COMPILED_NO_POLL 2

/* push %rbx; push %rbp; mov %rsp,%rbp. Uses c->code. */
static inline bool compiled_is_poll_handler(struct unwind_cursor *c, struct unwind_memory *memory)
{
	return blob_frame_complete(c) < 0 && !memory_read(memory, c->code, 8, blob_code_begin(c)) &&
	       leaf_u32(c->code) == 0x8b485553 && c->code[4] == 0xec;
}

/* Where the frame is by so many bytes of the code that were executed; ra_at 0: no room yet. */
static inline struct unwind_rule compiled_poll_rule(const struct unwind_cursor *c, wire_u64 done)
{
	if (done == 0)
		return (struct unwind_rule){ .cfa = c->sp };
	if (done == 1)
		return (struct unwind_rule){ .cfa = c->sp + 8, .ra_at = c->sp };
	if (done == 2)
		return (struct unwind_rule){ c->sp + 16, c->sp + 8, c->sp };
	return compiled_fp_rule(c);
}

/* Is there the %rbx that was pushed? The register holds it still, or the address itself. */
static inline bool compiled_lacks_ra(struct unwind_cursor *c, struct unwind_memory *memory,
				     const struct unwind_rule *rule)
{
	wire_u64 word;

	if (!rule->ra_at)
		return true;
	return !cursor_load(c, memory, rule->ra_at, &word) &&
	       (word == c->leaf_regs[DWARF_RBX] || !blob_owns(c, word));
}

/* A verdict, or COMPILED_NO_POLL. At its last instruction %rbp is the caller's. */
static inline int compiled_leave_poll(struct unwind_cursor *c, struct unwind_memory *memory)
{
	struct unwind_rule rule;
	wire_u64 pc, fp = c->fp;

	if (c->jvm.thread_saved_pc == WIRE_JVM_ABSENT || c->text[UNWIND_TEXT_BEHIND] == LEAF_RET ||
	    !compiled_is_poll_handler(c, memory))
		return COMPILED_NO_POLL;
	rule = compiled_poll_rule(c, c->pc - blob_code_begin(c));
	if ((rule.fp_at && rule.fp_at == c->fp && !frame_pointer_is_near(c)) ||
	    !compiled_lacks_ra(c, memory, &rule))
		return COMPILED_NO_POLL;
	if (memory_read(memory, &pc, 8, c->r15 + c->jvm.thread_saved_pc) || !blob_owns(c, pc))
		return COMPILED_NO_POLL;
	if (rule.fp_at && cursor_load(c, memory, rule.fp_at, &fp))
		return UNWIND_STOP;
	return compiled_enter(c, pc, rule.cfa, fp);
}

#ifdef __bpf__

UNWIND_ALONE(int, compiled_leave_poll, (struct unwind_cursor * c), c, (c, NULL), COMPILED_NO_POLL)

#define compiled_leave_poll(c, memory) compiled_leave_poll_alone(c)

#endif

#endif
