// SPDX-License-Identifier: Apache-2.0
#include "session/offcpu/parked.h"

#include <string.h>

#include "base/alloc.h"
#include "process/proc.h"

/* What lies above is read by the walk, of the stack while it is what it was (unwind/stack_rest.h). */
#define COPY_BYTES 65536
/* arch/x86/include/asm/segment.h: __USER32_CS, with the privilege level */
#define USER32_CS 0x23
#define USER_RING 3
/* The instruction `syscall`: 0f 05. */
#define SYSCALL_BYTES "\x0f\x05"

void parked_release(struct parked *parked)
{
	for (size_t i = parked->next; i < parked->threads.len; i++)
		free(parked->threads.items[i]);
	vec_release(&parked->threads);
}

void parked_put(struct parked *parked, const struct wire_parked *thread)
{
	vec_push(&parked->threads, xmemdup(thread, thread->size));
}

bool parked_is_left(const struct parked *parked)
{
	return parked->next < parked->threads.len;
}

struct wire_parked *parked_take(struct parked *parked)
{
	return parked_is_left(parked) ? parked->threads.items[parked->next++] : NULL;
}

/* As user_regs_take() of bpf/sample/user_regs.h has it. */
static enum unwind_reason reason_of(const struct wire_parked *thread,
				    const struct parked_wanted *wanted)
{
	uint64_t cs = thread->regs[WIRE_PARKED_CS];

	if (wanted->exclude_user)
		return UNWIND_USER_EXCLUDED;
	if (!thread->stack_top)
		return UNWIND_NO_STACK;
	if (!thread->has_regs || (cs & 3) != USER_RING)
		return UNWIND_NO_REGS;
	return (cs & 0xffff) == USER32_CS ? UNWIND_TASK_32BIT : UNWIND_NO_ROWS;
}

struct wire_sample *parked_sample(const struct wire_parked *thread,
				  const struct parked_wanted *wanted)
{
	size_t bytes = thread->kernel_frames * sizeof(thread->words[0]);
	struct wire_sample *sample = xcalloc(1, sizeof(*sample) + bytes);

	sample->size = (uint32_t)(sizeof(*sample) + bytes);
	sample->kind = WIRE_SAMPLE;
	sample->event = wanted->event;
	sample->reason = (uint8_t)reason_of(thread, wanted);
	sample->time_ns = thread->since_ns;
	sample->start_ns = thread->start_ns;
	sample->cgroup_id = thread->cgroup_id;
	sample->tgid = thread->tgid;
	sample->tid = thread->tid;
	sample->exec_id = thread->exec_id;
	sample->flags = WIRE_SAMPLE_OPEN;
	sample->state = thread->state;
	sample->cause = thread->cause;
	sample->kernel_frames = (uint16_t)thread->kernel_frames;
	memcpy(sample->comm, thread->comm, sizeof(sample->comm));
	memcpy(sample->words, thread->words, bytes);
	return sample;
}

/* As user_regs_are_exact() of bpf/sample/user_regs.h has it. */
static bool is_exact(const struct wire_parked *thread)
{
	uint64_t pc = thread->regs[WIRE_PARKED_IP];
	uint8_t before[2];

	if ((int64_t)thread->regs[WIRE_PARKED_ORIG_AX] < 0 ||
	    proc_read_memory(thread->tgid, pc - sizeof(before), before, sizeof(before)) < 0)
		return true;
	return memcmp(before, SYSCALL_BYTES, sizeof(before)) != 0;
}

/* By DWARF number, of struct pt_regs. */
static void fill_regs(struct wire_miss *miss, const struct wire_parked *thread)
{
	static const uint8_t at[DWARF_REGISTERS] = {
		[DWARF_R15] = 0,
		[DWARF_R14] = 1,
		[DWARF_R13] = 2,
		[DWARF_R12] = 3,
		[DWARF_RBP] = 4,
		[DWARF_RBX] = 5,
		[DWARF_R11] = 6,
		[DWARF_R10] = 7,
		[DWARF_R9] = 8,
		[DWARF_R8] = 9,
		[DWARF_RAX] = 10,
		[DWARF_RCX] = 11,
		[DWARF_RDX] = 12,
		[DWARF_RSI] = 13,
		[DWARF_RDI] = WIRE_PARKED_DI,
		[DWARF_RSP] = WIRE_PARKED_SP,
	};

	for (size_t i = 0; i < DWARF_REGISTERS; i++)
		miss->regs[i] = thread->regs[at[i]];
}

struct wire_miss *parked_miss(const struct wire_parked *thread)
{
	struct wire_miss *miss = xcalloc(1, sizeof(*miss) + COPY_BYTES);
	ssize_t copied;

	miss->kind = WIRE_MISS;
	miss->leaf = 1;
	miss->regs_kept = 1;
	miss->exact = is_exact(thread);
	miss->time_ns = thread->since_ns;
	miss->tgid = thread->tgid;
	miss->tid = thread->tid;
	miss->pc = thread->regs[WIRE_PARKED_IP];
	fill_regs(miss, thread);
	miss->exec_pages = thread->exec_pages;
	miss->stack_top = thread->stack_top;
	miss->copy_at = thread->regs[WIRE_PARKED_SP] - WIRE_MISS_BELOW;
	copied = proc_read_pages(thread->tgid, miss->copy_at, miss->copy, COPY_BYTES);
	miss->copy_bytes = copied > 0 ? (uint32_t)copied : 0;
	miss->size = (uint32_t)sizeof(*miss) + miss->copy_bytes;
	return miss;
}
