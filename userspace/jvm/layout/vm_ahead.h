/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What several readers of one process's memory are about to read, read for all of them together: each of them then
 * reads as if it were alone, and finds what is there already. For what may have changed since they read below it.
 */
#ifndef HOSTPROF_JVM_LAYOUT_VM_AHEAD_H
#define HOSTPROF_JVM_LAYOUT_VM_AHEAD_H

#include <stdint.h>

#include "base/vec.h"
#include "jvm/layout/vm_memory.h"

/* Pieces that one reader has at most; more are not read ahead. */
#define VM_AHEAD_PIECES 6

struct vm_ahead_piece {
	uint64_t address;
	size_t len;
	size_t at; /* in the bytes of all */
};

struct vm_ahead_reader {
	struct vm_memory memory; /* reads what is there, else from below */
	struct vm_ahead *ahead;
	struct vm_ahead_piece pieces[VM_AHEAD_PIECES];
	unsigned int count, fetched;
};

struct vm_ahead {
	const struct vm_memory *below; /* borrowed */
	struct vm_ahead_reader *readers;
	unsigned int count;
	VEC(uint8_t) bytes;
};

/* READERS stay the caller's, and must stay where they are. */
void vm_ahead_init(struct vm_ahead *ahead, const struct vm_memory *below,
		   struct vm_ahead_reader *readers, unsigned int count);
void vm_ahead_release(struct vm_ahead *ahead);

/* READER is going to read this. Nothing happens before vm_ahead_fetch(), which leaves out what cannot be read. */
void vm_ahead_want(struct vm_ahead_reader *reader, uint64_t address, size_t len);
void vm_ahead_fetch(struct vm_ahead *ahead);

/* What is known to be there: READER finds it without a read. */
void vm_ahead_give(struct vm_ahead_reader *reader, uint64_t address, const void *data, size_t len);

#endif
