/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes stacks of one JVM as a file of tests/data/java (see its README): the first stack of every
 * kind of leaf and state of it. What all of them read is there once.
 */
#ifndef HOSTPROF_TESTS_JAVA_RECORDING_H
#define HOSTPROF_TESTS_JAVA_RECORDING_H

#include "frame_names.h"
#include "seen_calls.h"
#include "step_judge.h"
#include "witness.h"

struct java_recording;

/* All borrowed; WITNESS may be NULL: then no stack is confirmed, and SEEN is not used. */
struct java_recording *java_recording_new(const struct vmstructs *vs,
					  const struct jvm_layout *layout, struct live_walk *walk,
					  struct frame_names *names, struct witness *witness,
					  struct seen_calls *seen);
void java_recording_free(struct java_recording *recording);

/* STACK is whole; the thread is still stopped at REGS. CHANGE: how it came there. */
void java_recording_add(struct java_recording *recording, const struct user_regs_struct *regs,
			uint32_t tid, const struct live_stack *stack, enum step_change change);

/*
 * The calls that are seen can begin with STACK, if other tools have the same. Asks them, where that
 * was not tried lately.
 */
void java_recording_begin_seen(struct java_recording *recording,
			       const struct user_regs_struct *regs, uint32_t tid,
			       const struct live_stack *stack);

int java_recording_write(struct java_recording *recording, const char *path);

#endif
