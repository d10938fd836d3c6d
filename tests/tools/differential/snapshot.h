/* SPDX-License-Identifier: Apache-2.0 */
/* A thread at one moment: its registers, the top of its stack, what its process has mapped. */
#ifndef HOSTPROF_TESTS_SNAPSHOT_H
#define HOSTPROF_TESTS_SNAPSHOT_H

#include <stdint.h>

#include "process/registry.h"

/* The 128 bytes below the stack pointer that a function may use. */
#define RED_ZONE_WORDS 16

struct snapshot {
	uint64_t pc;
	uint64_t regs[16]; /* by DWARF number: 6 rbp, 7 rsp */
	uint64_t stack_at;
	const uint8_t *stack; /* borrowed */
	size_t stack_len;
	uint64_t red_zone[RED_ZONE_WORDS];
	bool red_zone_known[RED_ZONE_WORDS];
	struct process *process; /* borrowed; mappings of that moment */
};

/*
 * From the stack; 0 or -EFAULT. *CUT is set when a word was wanted that lay on the stack, had the
 * copy been longer.
 */
int snapshot_read(const struct snapshot *snapshot, uint64_t address, void *dst, size_t len,
		  bool *cut);

/* The most frames that are compared; Linux's own limit for hostprof is lower. */
#define MAX_FRAMES 2048

struct frames {
	uint64_t pcs[MAX_FRAMES]; /* leaf first */
	bool exact[MAX_FRAMES];	  /* no return address */
	size_t count;
	bool cut; /* memory that the snapshot does not hold was wanted */
};

#endif
