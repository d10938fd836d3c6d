/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The memory seam of the step functions: where the bytes of a stack come from. In BPF it is the
 * current task's memory, in userspace a callback (a live process, a stack copy, a recording).
 */
#ifndef HOSTPROF_BPF_UNWIND_MEMORY_H
#define HOSTPROF_BPF_UNWIND_MEMORY_H

#include "wire.h"

#ifdef __bpf__

struct unwind_memory {
	wire_u8 unused;
};

#define memory_read(memory, dst, len, address) \
	bpf_probe_read_user(dst, len, (const void *)(unsigned long)(address))
#define memory_read_stack memory_read

#else

#include <stdbool.h>
#include <stddef.h>

struct unwind_exit;
struct unwind_tables;

struct unwind_memory {
	/* Read exactly LEN bytes. 0, or a negative errno. */
	int (*read)(const void *data, uint64_t address, void *dst, size_t len);
	/* The same of a stack, which is another one a moment later; NULL: `read` does for both. */
	int (*read_stack)(const void *data, uint64_t address, void *dst, size_t len);
	const void *data;
	/* What the functions of probed.h say, or NULL: nobody knows. */
	uint64_t (*return_address)(const void *data, uint64_t sp, uint64_t *ret_sp);
	uint64_t (*probed_copy)(const void *data, uint64_t *ret_copy_at);
	/* How code at pc returns (native/exits.h), at most EXITS_MOST ways, and their number; NULL: nobody looks. */
	uint32_t (*exits)(const void *data, uint64_t pc, struct unwind_exit *ret);
	const struct unwind_tables *tables; /* unwind/tables.h; NULL: frame pointers only */
};

static inline int memory_read(const struct unwind_memory *memory, void *dst, size_t len,
			      wire_u64 address)
{
	return memory->read(memory->data, address, dst, len);
}

static inline int memory_read_stack(const struct unwind_memory *memory, void *dst, size_t len,
				    wire_u64 address)
{
	if (memory->read_stack)
		return memory->read_stack(memory->data, address, dst, len);
	return memory->read(memory->data, address, dst, len);
}

#endif
#endif
