// SPDX-License-Identifier: Apache-2.0
#include "session/unwind_stack.h"

#include <errno.h>
#include <string.h>

#include "process/proc.h"

/*
 * The live stack has changed since the sample, and is never read: it reaches so far up at most
 * (ulimit -s is 8 MB). Code and the metadata of a JVM stay as they are.
 */
#define STACK_REACH (64ULL << 20)

static bool is_within(uint64_t address, size_t len, uint64_t start, uint64_t piece_len)
{
	return address >= start && address - start <= piece_len &&
	       len <= piece_len - (address - start);
}

static bool is_stack(const struct wire_miss *miss, uint64_t address)
{
	return address + STACK_REACH >= miss->copy_at &&
	       address < miss->copy_at + miss->copy_bytes + STACK_REACH;
}

static int read_from(const struct unwind_stack *stack, uint64_t address, void *dst, size_t len)
{
	const struct wire_miss *miss = stack->miss;
	uint64_t code_at = miss->pc - WIRE_MISS_CODE_BEHIND;

	if (is_within(address, len, miss->copy_at, miss->copy_bytes)) {
		memcpy(dst, miss->copy + (address - miss->copy_at), len);
		return 0;
	}
	if (miss->code_bytes && is_within(address, len, code_at, miss->code_bytes)) {
		memcpy(dst, miss->code + (address - code_at), len);
		return 0;
	}
	if (!stack->alive || (is_stack(miss, address) && !stack->changed))
		return -EFAULT;
	return proc_read_memory(miss->tgid, address, dst, len);
}

static int stack_read(const void *data, uint64_t address, void *dst, size_t len)
{
	const struct unwind_stack *stack = data;
	int r = read_from(stack, address, dst, len);

	*stack->failed_at = r < 0 ? address : 0;
	return r;
}

struct unwind_memory unwind_stack_memory(const struct unwind_stack *stack,
					 const struct unwind_tables *tables)
{
	return (struct unwind_memory){ .read = stack_read, .data = stack, .tables = tables };
}

bool unwind_stack_ended(const struct unwind_stack *stack)
{
	const struct wire_miss *miss = stack->miss;

	return *stack->failed_at >= miss->copy_at && is_stack(miss, *stack->failed_at);
}
