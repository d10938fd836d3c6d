/* SPDX-License-Identifier: Apache-2.0 */
/* Makes METHOD and LOAD records of a CompiledMethodLoad event. */
#ifndef HOSTPROF_AGENT_CODE_H
#define HOSTPROF_AGENT_CODE_H

#include "agent.h"

struct code_event {
	jmethodID method;
	const void *address;
	uint32_t code_bytes;
	const void *compile_info; /* jvmticmlr.h, or NULL */
	uint64_t time_ns;
};

void code_publish(struct agent *a, JNIEnv *jni, const struct code_event *event);

#endif
