/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of a JVM's compiled code and stubs, read from outside and remembered: code may be gone
 * when its sample is looked at again.
 */
#ifndef HOSTPROF_JVM_NAMES_CODE_NAMES_H
#define HOSTPROF_JVM_NAMES_CODE_NAMES_H

#include <stdint.h>

#include "jvm/java_frame.h"
#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vm_memory.h"
#include "jvm/names/method_name.h"
#include "jvm/names/scopes_layout.h"

struct code_names;

/* METHODS is borrowed, the layouts are copied. */
struct code_names *code_names_new(const struct vm_memory *memory, const struct jvm_layout *layout,
				  const struct scopes_layout *scopes, struct method_names *methods);
void code_names_free(struct code_names *names);
DEFINE_CLEANUP(struct code_names *, code_names_free);

/* They may take so much memory, and 6 MB at most. */
void code_names_limit(struct code_names *names, size_t bytes);

struct code_place {
	uint64_t address;
	uint32_t compile_id;
};

/* So many are read together. */
#define CODE_NAMES_AT_ONCE 64

/* Read what code_names_find() does not know yet of COUNT places: together that takes a part of the time. */
void code_names_meet(struct code_names *names, const struct code_place *places, unsigned int count);

/*
 * What ADDRESS is, where COMPILE_ID was the blob's at the sample's time. An nmethod: frames, as far as its
 * debug information tells of that place (innermost first), else its method without bytecode index and line.
 * A stub: its name. Strings are borrowed until the next call. -ESTALE: it is not there any more; other errors as
 * code_blob_find() has them.
 */
int code_names_find(struct code_names *names, uint64_t address, uint32_t compile_id,
		    struct java_answer *ret_answer);

#endif
