/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where Go's runtime stands on another stack than a goroutine's, and how that is found again, as the instructions of
 * systemstack, mcall, asmcgocall, morestack and clone say (Go 1.19 to 1.26, runtime/asm_amd64.s). The code is somebody else's: what
 * comes out are numbers, of which none is taken that does not fit the rule it is for.
 */
#ifndef HOSTPROF_ELF_GO_GO_SWITCH_H
#define HOSTPROF_ELF_GO_GO_SWITCH_H

#include "elf/go/go_table.h"

struct go_code {
	uint64_t start, end; /* addresses; equal: there is none */
};

struct go_switch {
	/* On another stack than they were called on. asmcgocall: where no frame pointer was saved, as before Go 1.21. */
	struct go_code systemstack, mcall, asmcgocall;
	bool make_frames; /* from 1.21 on systemstack and mcall do */
	/* Of these, too: asmcgocall that finds itself on the thread's stack, and keeps there, so far above %rsp, where it was called. */
	struct go_code nosave;
	uint8_t nosave_at;
	/*
	 * morestack on the thread's own stack (all of it where the code is not known): what it runs there is for the
	 * goroutine in m.curg.
	 */
	struct go_code morestack;
	/* clone, where the new thread goes on: nobody called it. */
	struct go_code thread;
	uint32_t curg;	 /* where that is in m; 0: not known */
	uint8_t g_slot;	 /* words from where %fs points down to the thread's g; 0: not known */
	uint8_t bp_slot; /* words from a g's beginning to its sched.bp; 0: not known */
};

/* Is NAME that of the function WANTED, with or without the ".abi0" of assembly? */
bool go_is_called(const char *name, const char *wanted);

/* Does the walk find the goroutine? Asked when all functions were looked at. */
static inline bool go_switch_has_goroutine(const struct go_switch *s)
{
	return s->curg && s->g_slot && s->bp_slot;
}

/* Look at FUNCTION, called NAME. True: it is morestack, of which no more needs to be known. */
bool go_switch_look(struct go_switch *s, const struct go_table *table,
		    const struct go_function *function, const char *name);

#endif
