/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one instruction can do to a stack: nothing, a call, a return, the start of a signal handler.
 * Two walks, one instruction apart, that differ otherwise are not both right. No knowledge of how
 * frames are found is needed for that.
 */
#ifndef HOSTPROF_TESTS_STEP_JUDGE_H
#define HOSTPROF_TESTS_STEP_JUDGE_H

#include "code_blob.h"
#include "live_walk.h"

enum step_change {
	STEP_SAME,   /* the callers are what they were */
	STEP_CALL,   /* one caller more, which is where the thread was */
	STEP_RETURN, /* the thread is where the first caller was */
	STEP_JUMP, /* between a frame and a stub that has that frame for its caller, or within one */
	STEP_SIGNAL, /* a handler and its trampoline lie on the stack as it was */
	STEP_SWITCH, /* a virtual thread's frames come or go at once, the carrier's stay */
	STEP_UNFINISHED,
	STEP_ODD,
	STEP_CHANGE_COUNT
};

/* FROM was whole. */
enum step_change step_judge(const struct vmstructs *vs, const struct wire_jvm *jvm,
			    const struct live_stack *from, const struct live_stack *to);

#endif
