/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JVM's -XX flags and its version, read from outside. Source:
 * src/hotspot/share/runtime/flags/jvmFlag.hpp (11+), runtime/globals.hpp (8),
 * runtime/abstract_vm_version.hpp.
 */
#ifndef HOSTPROF_JVM_LAYOUT_VM_FLAGS_H
#define HOSTPROF_JVM_LAYOUT_VM_FLAGS_H

#include <stddef.h>
#include <stdint.h>

#include "jvm/layout/vmstructs.h"

/* Boolean flags: -1 this JVM does not have it, else 0 or 1. */
struct vm_flags {
	int8_t disable_attach_mechanism;
	int8_t reduce_signal_usage;
	int8_t enable_dynamic_agent_loading;
	int8_t use_z, use_shenandoah; /* collectors that move objects while Java runs */
	int8_t use_compressed_oops;
	int8_t use_compressed_class_pointers; /* always, from JDK 27 on */
	int8_t use_compact_object_headers;
};

/* -EBADMSG when the table is not what we know. */
int vm_flags_read(const struct vmstructs *vs, struct vm_flags *ret_flags);

/* "17.0.15+6-Debian-1deb12u1", on 8 "1.8.0_504-…"; cut to SIZE. -ENODATA. */
int vm_version_read(const struct vmstructs *vs, char *ret_version, size_t size);

/* The Java release: 8, 11, 17, …; 0 when it cannot be told. */
uint32_t vm_version_feature(const struct vmstructs *vs);

#endif
