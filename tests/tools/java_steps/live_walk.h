/* SPDX-License-Identifier: Apache-2.0 */
/* bpf/'s step functions on a stopped thread of a live process, with rows made as they are asked for. */
#ifndef HOSTPROF_TESTS_LIVE_WALK_H
#define HOSTPROF_TESTS_LIVE_WALK_H

#include <sys/user.h>

#include "unwind/unwind_files.h"
#include "unwind/walk.h"

#define LIVE_MAX_FRAMES 512

struct live_frame {
	uint64_t words[WIRE_INTERPRETED_WORDS]; /* those that its kind has; others 0 */
};

static inline enum wire_frame_kind live_frame_kind(const struct live_frame *frame)
{
	return (enum wire_frame_kind)(frame->words[0] >> WIRE_FRAME_KIND_SHIFT);
}

static inline uint64_t live_frame_address(const struct live_frame *frame)
{
	return frame->words[0] & WIRE_FRAME_ADDRESS_MASK;
}

struct live_stack {
	enum unwind_reason reason;
	size_t count;
	struct live_frame frames[LIVE_MAX_FRAMES]; /* leaf first */
};

/* A read that went well, as it is made; nothing is read in bulk while one is set. */
typedef void live_read_fn(uint64_t address, const void *bytes, size_t len, void *data);

struct live_walk;

/* JVM is borrowed. -errno when the process is gone. */
int live_walk_new(uint32_t pid, const struct wire_jvm *jvm, struct live_walk **ret_walk);
void live_walk_free(struct live_walk *walk);
DEFINE_CLEANUP(struct live_walk *, live_walk_free);

void live_walk_trace(struct live_walk *walk, live_read_fn *fn, void *data);

/* REGS: of the stopped thread TID. */
void live_walk_take(struct live_walk *walk, uint32_t tid, const struct user_regs_struct *regs,
		    struct live_stack *ret_stack);

/* By DWARF number. */
void live_walk_order(const struct user_regs_struct *regs, uint64_t ret_regs[16]);
/* The JavaThread that Java code of this thread had in %r15, 0: not seen yet. */
uint64_t live_walk_thread(const struct live_walk *walk);
int live_walk_read(const struct live_walk *walk, uint64_t address, void *dst, size_t len);

/* Does the process execute what is there, or the JVM's code heaps? */
bool live_walk_is_code(const struct live_walk *walk, uint64_t address);

/* The range of an address, and the rows of its page (borrowed until the next call). */
const struct wire_range *live_walk_range(const struct live_walk *walk, uint64_t address);
const struct cfi_rows *live_walk_rows(struct live_walk *walk, const struct wire_range *range,
				      uint64_t address);

#endif
