/* SPDX-License-Identifier: Apache-2.0 */
/* The classes whose ids samples of allocations carry, by what an agent's code map says of them. */
#ifndef HOSTPROF_JVM_CODEMAP_CODE_CLASSES_H
#define HOSTPROF_JVM_CODEMAP_CODE_CLASSES_H

#include <stddef.h>
#include <stdint.h>

#include "base/hmap.h"
#include "base/strbuf.h"
#include "jvm/codemap/codemap_record.h"

/* All zeros is an empty one. */
struct code_classes {
	struct intern names; /* with their NUL */
	struct hmap ids;     /* the agent's id -> name */
	struct strbuf scratch;
};

void code_classes_release(struct code_classes *classes);
size_t code_classes_bytes(const struct code_classes *classes);

void code_classes_add(struct code_classes *classes, const struct codemap_event *event);

/* Dotted, "byte[]" for "[B"; NULL when unknown. Lives as long as CLASSES. */
const char *code_classes_find(const struct code_classes *classes, uint64_t id);

#endif
