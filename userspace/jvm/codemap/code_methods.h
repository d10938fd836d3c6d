/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The methods that a code map names: equal ones are kept once, whatever number the agent gave
 * them in which replay. Text from the JVM is cleaned here: dotted class names, valid UTF-8, no
 * control characters.
 */
#ifndef HOSTPROF_JVM_CODEMAP_CODE_METHODS_H
#define HOSTPROF_JVM_CODEMAP_CODE_METHODS_H

#include <stdint.h>

#include "base/hmap.h"
#include "base/strbuf.h"
#include "jvm/codemap/codemap_record.h"
#include "jvm/java_frame.h"

/* A frame whose method the agent could not name. */
#define CODE_METHOD_UNKNOWN UINT32_MAX

struct code_methods {
	struct intern methods;	 /* id -> lines and names, see code_methods.c */
	struct hmap numbers;	 /* the agent's number -> id */
	struct strbuf scratch;	 /* owned */
	uint64_t highest_number; /* seen so far */
	uint64_t replay_number;	 /* highest_number when the last replay began */
};

void code_methods_init(struct code_methods *methods);
void code_methods_release(struct code_methods *methods);
size_t code_methods_bytes(const struct code_methods *methods);

void code_methods_add(struct code_methods *methods, const struct codemap_event *event);

/* Numbers from before the last replay are not used any more. */
void code_methods_begin_replay(struct code_methods *methods);

uint32_t code_methods_find(const struct code_methods *methods, uint64_t number);

/* Fill class, method, source, line and bci; strings live as long as METHODS. */
void code_methods_fill_frame(const struct code_methods *methods, uint32_t id, int32_t bci,
			     struct java_frame *ret_frame);

#endif
