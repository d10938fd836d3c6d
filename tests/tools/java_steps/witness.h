/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What other tools say of a stopped thread's stack: jhsdb's classes of the Java frames, gdb of the
 * native ones (witness.py). They look at a core file, so that they see the very instruction.
 */
#ifndef HOSTPROF_TESTS_WITNESS_H
#define HOSTPROF_TESTS_WITNESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#define WITNESS_FRAMES 64

struct witness_frame {
	uint64_t address, sp; /* sp: as it is once the frame's callee has returned */
	char name[256];	      /* as frame_names_find() has it, blanks as '_' */
};

struct witness_stack {
	size_t count;
	struct witness_frame frames[WITNESS_FRAMES]; /* leaf first */
	char silent[128]; /* why they do not have it whole; "" when they do */
};

struct witness;

/* JAVA_HOME: the JDK of process PID. NULL: they cannot be started. */
struct witness *witness_new(const char *java_home, uint32_t pid);
void witness_free(struct witness *witness);

/* -errno: there is no answer. */
int witness_ask(struct witness *witness, uint32_t tid, const struct user_regs_struct *regs,
		struct witness_stack *ret_stack);

#endif
