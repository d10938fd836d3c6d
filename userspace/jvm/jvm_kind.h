/* SPDX-License-Identifier: Apache-2.0 */
/* Which Java runtime a process is, by what it maps. */
#ifndef HOSTPROF_JVM_JVM_KIND_H
#define HOSTPROF_JVM_JVM_KIND_H

#include <stddef.h>
#include <stdint.h>

enum jvm_kind {
	JVM_KIND_NONE,
	JVM_KIND_HOTSPOT,      /* maps libjvm.so (a look into it may still show something else) */
	JVM_KIND_OPENJ9,       /* no VMStructs, other code cache: native frames only */
	JVM_KIND_NATIVE_IMAGE, /* GraalVM: an ordinary ELF file */
};

/* By the text of /proc/PID/maps: NONE, HOTSPOT or OPENJ9. */
enum jvm_kind jvm_kind_of_maps(const char *maps, size_t len);

/* NONE also when it is gone or may not be read. Tells everything but native images. */
enum jvm_kind jvm_kind_of_process(uint32_t pid);

/* Is the process's executable a GraalVM native image? Opens the file. */
enum jvm_kind jvm_kind_of_executable(uint32_t pid);

#endif
