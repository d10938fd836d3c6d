/* SPDX-License-Identifier: Apache-2.0 */
/* Which of a JVM's two kinds of dispatch stubs an address is in: by a class's vtable, or by an interface's. */
#ifndef HOSTPROF_JVM_NAMES_VTABLE_STUB_H
#define HOSTPROF_JVM_NAMES_VTABLE_STUB_H

#include "jvm/names/code_blob.h"

/*
 * NAME: "vtable stub", "itable stub" (as JVMTI calls them), or NULL when ADDRESS, in BLOB, is in neither. Returns 0, or an error of
 * vm_error_passes(): it cannot be told now.
 */
int vtable_stub_name(const struct vm_memory *memory, const struct jvm_layout *layout,
		     const struct code_blob *blob, uint64_t address, const char **name);

#endif
