/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Code that is probed, by hostprof or by others: the return addresses that probes of returns replace,
 * and instructions that run elsewhere. On entry to such a function the kernel
 * (kernel/events/uprobes.c, prepare_uretprobe()) puts the address of a trampoline in its mapping
 * [uprobes] where the return address is, and keeps the true one in a list of the thread's, with the
 * stack pointer of the entry. That list can be read in BPF only; a miss's copy has the true addresses
 * (miss_undo_returns()).
 *
 * In the same mapping lie copies of probed instructions (xol_get_insn_slot()): where a thread is to
 * execute such a one, it steps over the copy.
 */
#ifndef HOSTPROF_BPF_NATIVE_PROBED_H
#define HOSTPROF_BPF_NATIVE_PROBED_H

#include "unwind/cursor.h"

/* kernel/events/uprobes.c, MAX_URETPROBE_DEPTH */
#define PROBED_MAX_RETURNS 64
/*
 * The trampoline's code on Linux 6.11 and later (arch/x86/kernel/uprobes.c,
 * uretprobe_trampoline_entry): push %rax, %rcx, %r11; mov $nr,%rax; syscall; pop %r11; pop %rcx; ret.
 * The system call leaves the true return address in the place of %rax. Before, it is one byte: int3.
 */
#define PROBED_TRAMPOLINE_BYTES 17
#define PROBED_POP_R11		13
#define PROBED_POP_RCX		15
#define PROBED_RET		16
/* kernel/events/uprobes.c, UPROBE_XOL_SLOT_BYTES */
#define PROBED_COPY_BYTES 128
/* MMF_HAS_UPROBES: include/linux/sched/coredump.h, mm_types.h from Linux 6.7 on */
#define PROBED_FLAG (1UL << 19)

#ifdef __bpf__

/* 0: the process was never probed. */
static __always_inline wire_u64 probed_trampoline(struct mm_struct *mm)
{
	struct xol_area *area;

	if (!bpf_core_field_exists(mm->uprobes_state.xol_area))
		return 0;
	area = mm->uprobes_state.xol_area;
	return area ? area->vaddr : 0;
}

/* May a breakpoint in its code be a probe's? */
static __always_inline bool probed_has_breakpoints(struct mm_struct *mm)
{
	struct mm_struct___bits *bits = (struct mm_struct___bits *)mm;
	unsigned long flags = 0;

	if (bpf_core_field_exists(bits->flags))
		bpf_core_read(&flags, sizeof(flags), &bits->flags);
	else if (bpf_core_field_exists(mm->flags))
		flags = BPF_CORE_READ(mm, flags);
	return flags & PROBED_FLAG;
}

/* The function entered last of those that have not returned; NULL: none. */
static __always_inline struct return_instance *probed_first_return(struct task_struct *task)
{
	return bpf_core_field_exists(task->utask) ? BPF_CORE_READ(task, utask, return_instances)
						  : NULL;
}

/*
 * The true return address of the function that was entered with SP; 0: not known. With SP 0 that of the
 * function entered last, whose stack pointer then is *RET_SP.
 */
static __always_inline wire_u64 probed_return_address(struct unwind_memory *memory, wire_u64 sp,
						      wire_u64 *ret_sp)
{
	struct return_instance *entered = probed_first_return(bpf_get_current_task_btf());

	/* By the helper: 6.1 refuses a load that may be of the list or of this program's stack. */
	for (int i = 0; i < PROBED_MAX_RETURNS && entered; i++) {
		wire_u64 entry_sp = BPF_CORE_READ(entered, stack);

		if (!sp || entry_sp == sp) {
			*ret_sp = entry_sp;
			return BPF_CORE_READ(entered, orig_ret_vaddr);
		}
		entered = BPF_CORE_READ(entered, next);
	}
	return 0;
}

/* The address of the instruction that the thread executes as a copy at *RET_COPY_AT; 0: none. */
static __always_inline wire_u64 probed_copy(struct unwind_memory *memory, wire_u64 *ret_copy_at)
{
	struct task_struct *task = bpf_get_current_task_btf();

	*ret_copy_at = 0;
	if (!bpf_core_field_exists(task->utask))
		return 0;
	*ret_copy_at = BPF_CORE_READ(task, utask, xol_vaddr);
	return BPF_CORE_READ(task, utask, vaddr);
}

#else

static inline wire_u64 probed_copy(struct unwind_memory *memory, wire_u64 *ret_copy_at)
{
	*ret_copy_at = 0;
	return memory->probed_copy ? memory->probed_copy(memory->data, ret_copy_at) : 0;
}

static inline wire_u64 probed_return_address(struct unwind_memory *memory, wire_u64 sp,
					     wire_u64 *ret_sp)
{
	return memory->return_address ? memory->return_address(memory->data, sp, ret_sp) : 0;
}

#endif

/* A caller can be in the trampoline only, at its first byte, the thread itself anywhere. */
static inline bool probed_is_at_pc(const struct unwind_cursor *c)
{
	return c->trampoline && c->pc - c->trampoline < (c->leaf ? WIRE_PAGE_BYTES : 1);
}

/* Goes from the copy of an instruction to the place of the instruction itself. */
static inline int probed_leave_copy(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 copy_at, own_at = probed_copy(memory, &copy_at);

	if (!own_at || c->pc - copy_at >= PROBED_COPY_BYTES)
		return cursor_stop(c, UNWIND_PROBED);
	c->pc = own_at + (c->pc - copy_at);
	return UNWIND_GO_ON;
}

/*
 * The stack pointer that a function was entered with whose return is at the trampoline; *RET_PC: its true
 * return address, 0: not known. A thread in the system call may be before or behind the kernel's work: the
 * list tells, from which the kernel takes the function, and only then writes the address to the stack
 * (SYSCALL_DEFINE0(uretprobe) in arch/x86/kernel/uprobes.c; it counts the three words as popped meanwhile).
 */
static inline wire_u64 probed_leaf_entry(struct unwind_cursor *c, struct unwind_memory *memory,
					 wire_u64 *ret_pc)
{
	wire_u64 at = c->pc - c->trampoline, place, entry_sp = 0;

	if (at <= PROBED_POP_R11) {
		*ret_pc = probed_return_address(memory, 0, &entry_sp);
		if (at < PROBED_POP_R11 || entry_sp == c->sp + 16 || entry_sp == c->sp - 8)
			return entry_sp;
	}
	place = c->sp + (at <= PROBED_POP_R11 ? 16 : at <= PROBED_POP_RCX ? 8 : 0);
	if (cursor_load(c, memory, place, ret_pc))
		*ret_pc = 0;
	return place;
}

/* Let pc and sp be as if nothing were probed. */
static inline int probed_undo(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 pc = 0, entry_sp = c->sp - 8;

	if (c->pc - c->trampoline >= PROBED_TRAMPOLINE_BYTES)
		return probed_leave_copy(c, memory);
	if (c->leaf)
		entry_sp = probed_leaf_entry(c, memory, &pc);
	else
		pc = probed_return_address(memory, entry_sp, &entry_sp);
	if (!cursor_is_user(pc))
		return cursor_stop(c, UNWIND_PROBED);
	c->pc = pc;
	c->sp = entry_sp + 8;
	return UNWIND_GO_ON;
}

#ifdef __bpf__

/* A function of its own for the verifier: see cursor_load_far_alone(). */
__attribute__((noinline)) int probed_undo_alone(struct unwind_cursor *c)
{
	return c ? probed_undo(c, NULL) : UNWIND_STOP;
}

#define probed_undo(c, memory) (probed_undo_alone(c) & UNWIND_STOP)

#endif
#endif
