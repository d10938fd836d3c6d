/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Functions whose returns are probed, by hostprof or by others. On entry to such a function the kernel
 * (kernel/events/uprobes.c, prepare_uretprobe()) puts the address of a trampoline in its mapping
 * [uprobes] where the return address is, and keeps the true one in a list of the thread's, with the
 * stack pointer of the entry. That list can be read in BPF only; a miss's copy has the true addresses
 * (miss_undo_returns()).
 */
#ifndef HOSTPROF_BPF_NATIVE_RETURN_PROBE_H
#define HOSTPROF_BPF_NATIVE_RETURN_PROBE_H

#include "unwind/cursor.h"

/* kernel/events/uprobes.c, MAX_URETPROBE_DEPTH */
#define RETURN_PROBE_MAX_DEPTH 64
/*
 * The trampoline's code on Linux 6.11 and later (arch/x86/kernel/uprobes.c,
 * uretprobe_trampoline_entry): push %rax, %rcx, %r11; mov $nr,%rax; syscall; pop %r11; pop %rcx; ret.
 * The system call leaves the true return address in the place of %rax. Before, it is one byte: int3.
 */
#define RETURN_PROBE_BYTES     17
#define RETURN_PROBE_POP_R11   13
#define RETURN_PROBE_POP_RCX   15
#define RETURN_PROBE_RET       16

#ifdef __bpf__

/* 0: the process was never probed. */
static __always_inline wire_u64 return_probe_trampoline(struct task_struct *task)
{
	struct xol_area *area;

	if (!bpf_core_field_exists(task->mm->uprobes_state.xol_area))
		return 0;
	area = task->mm->uprobes_state.xol_area;
	return area ? area->vaddr : 0;
}

/* The function entered last of those that have not returned; NULL: none. */
static __always_inline struct return_instance *return_probe_first(struct task_struct *task)
{
	if (!bpf_core_field_exists(task->utask) || !task->utask)
		return NULL;
	return task->utask->return_instances;
}

/*
 * The true return address of the function that was entered with SP; 0: not known. With SP 0 that of the
 * function entered last, whose stack pointer then is *RET_SP.
 */
static __always_inline wire_u64 return_probe_address(struct unwind_memory *memory, wire_u64 sp,
						     wire_u64 *ret_sp)
{
	struct return_instance *entered = return_probe_first(bpf_get_current_task_btf());

	for (int i = 0; i < RETURN_PROBE_MAX_DEPTH && entered; i++) {
		if (!sp || entered->stack == sp) {
			*ret_sp = entered->stack;
			return entered->orig_ret_vaddr;
		}
		entered = entered->next;
	}
	return 0;
}

#else

static inline wire_u64 return_probe_address(struct unwind_memory *memory, wire_u64 sp,
					    wire_u64 *ret_sp)
{
	return memory->return_address ? memory->return_address(memory->data, sp, ret_sp) : 0;
}

#endif

static inline bool return_probe_is_at_pc(const struct unwind_cursor *c)
{
	return c->trampoline && c->pc - c->trampoline < (c->leaf ? RETURN_PROBE_BYTES : 1);
}

/* The place of the return address where the system call was made, so that no list has it any more; or 0. */
static inline wire_u64 return_probe_left_at(const struct unwind_cursor *c)
{
	switch (c->leaf ? c->pc - c->trampoline : 0) {
	case RETURN_PROBE_POP_R11: return c->sp + 16;
	case RETURN_PROBE_POP_RCX: return c->sp + 8;
	case RETURN_PROBE_RET: return c->sp;
	}
	return 0;
}

/* Let pc and sp be as if the function's return were not probed. */
static inline int return_probe_undo(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 left_at = return_probe_left_at(c), pc = 0, entry_sp = c->sp - 8;

	if (left_at) {
		if (cursor_load(c, memory, left_at, &pc))
			return UNWIND_STOP;
		entry_sp = left_at;
	} else {
		pc = return_probe_address(memory, c->leaf ? 0 : entry_sp, &entry_sp);
	}
	if (!cursor_is_user(pc))
		return cursor_stop(c, UNWIND_RETURN_PROBE);
	c->pc = pc;
	c->sp = entry_sp + 8;
	return UNWIND_GO_ON;
}

#ifdef __bpf__

/* A function of its own for the verifier: see cursor_load_far_alone(). */
__attribute__((noinline)) int return_probe_undo_alone(struct unwind_cursor *c)
{
	return c ? return_probe_undo(c, NULL) : UNWIND_STOP;
}

#define return_probe_undo(c, memory) (return_probe_undo_alone(c) & UNWIND_STOP)

#endif
#endif
