/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of methods read out of a JVM's memory: Method -> ConstMethod -> ConstantPool -> Symbol.
 * Reading races with the JVM, so that an answer is checked by what the sample carries: the
 * ConstMethod that the Method had, and the identity of its class. Source of the layouts:
 * src/hotspot/share/oops/{method,constMethod,constantPool,symbol,klass}.hpp, code/compressedStream.
 */
#ifndef HOSTPROF_JVM_NAMES_METHOD_NAME_H
#define HOSTPROF_JVM_NAMES_METHOD_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm/java_frame.h"
#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vm_memory.h"

/* A bounded cache of one JVM's methods, keyed by (Method*, ConstMethod*, identity). */
struct method_names;

struct method_names *method_names_new(const struct vm_memory *memory,
				      const struct jvm_layout *layout);
void method_names_free(struct method_names *names);
DEFINE_CLEANUP(struct method_names *, method_names_free);

/*
 * Name the method of an interpreted frame. IDENTITY 0: it is not known. BCP 0 (a native method)
 * gives bci -1. The strings are borrowed until the next call. 0, or
 *   -ESTALE	the method is not, or no longer, the one of the sample
 *   -EBADMSG	the memory does not look like a method
 *   -ESRCH, -EPERM as the read says
 */
int method_names_find(struct method_names *names, uint64_t method, uint64_t const_method,
		      uint64_t identity, uint64_t bcp, struct java_frame *ret_frame);

/* A sample has shown that METHOD was this one when it was taken. IDENTITY 0: it has not. */
void method_names_note(struct method_names *names, uint64_t method, uint64_t const_method,
		       uint64_t identity);
/*
 * Has METHOD been noted as another one, or as two? Classes that are redefined leave their places to others: what was read
 * after a sample may be another method's then. Of the last thousand that were noted or so.
 */
bool method_names_was_another(const struct method_names *names, uint64_t method,
			      uint64_t const_method, uint64_t identity);

/* A bytecode of a method; BCI -1: none. */
struct method_place {
	uint64_t method;
	int32_t bci;
};

/* The place INDEX has FRAME, whose strings live during the call; or ERROR, as of method_names_find(), and no frame. */
typedef void method_named_fn(unsigned int index, int error, const struct java_frame *frame,
			     void *data);

/*
 * Name the methods of COUNT places, of which nothing else is known: who calls must know by other means that they were
 * these methods before and after. They are read together. FN is called once for each, in any order.
 */
void method_names_follow(struct method_names *names, const struct method_place *places,
			 unsigned int count, method_named_fn *fn, void *data);
/* Some were not: what the last call has read names nothing else. */
void method_names_forget_unproven(struct method_names *names);

#endif
