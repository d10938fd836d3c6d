/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of classes by their Klass*, read from a JVM's memory: Klass → Symbol. A class may be unloaded, and its
 * Klass be another one's: what was read is checked by the Symbol at each look, but of many that come at the same time. Everything read is hostile.
 */
#ifndef HOSTPROF_JVM_NAMES_KLASS_NAMES_H
#define HOSTPROF_JVM_NAMES_KLASS_NAMES_H

#include <stdint.h>

#include "base/macros.h"
#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vm_memory.h"

struct klass_names;

/* What is given is copied; MEMORY's data must stay. */
struct klass_names *klass_names_new(const struct vm_memory *memory,
				    const struct jvm_layout *layout);
void klass_names_free(struct klass_names *names);
DEFINE_CLEANUP(struct klass_names *, klass_names_free);

/*
 * Its name now: "java.lang.String", "byte[]", "java.lang.String[][]". Borrowed until the next call of any
 * of these functions. -EBADMSG: there is no class; -ESRCH and others of the read.
 */
int klass_names_read(struct klass_names *names, uint64_t klass, const char **ret_name);

/* As of TIME_NS, CLOCK_MONOTONIC: that of the last read, where it was read no more than 50 ms before. */
int klass_names_read_as_of(struct klass_names *names, uint64_t klass, uint64_t time_ns,
			   const char **ret_name);

/* That of the last read, where there was one: the class may be gone. Else it is read. */
int klass_names_find(struct klass_names *names, uint64_t klass, const char **ret_name);

/* The same of the class that was IDENTITY (WIRE_CLASS_IDENTITY) when it was seen; -ESTALE: it is another one now. */
int klass_names_find_proven(struct klass_names *names, uint64_t klass, uint64_t identity,
			    const char **ret_name);

#endif
