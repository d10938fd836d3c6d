/* SPDX-License-Identifier: Apache-2.0 */
/* How the step functions find the method that a compiler thread compiles (bpf/hotspot/compiling.h). */
#ifndef HOSTPROF_JVM_SHOWN_JVM_COMPILING_H
#define HOSTPROF_JVM_SHOWN_JVM_COMPILING_H

#include "jvm/layout/vmstructs.h"
#include "wire.h"

/* -EOPNOTSUPP: the JVM does not tell. */
int jvm_compiling_read(const struct vmstructs *vs, struct wire_compiling *ret_compiling);

/* How they find the tier of a method that was compiled (bpf/sample/phases/compilation_text.h), likewise. */
int jvm_compile_task_read(const struct vmstructs *vs, struct wire_compile_task *ret_task);

#endif
