/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JVM's own description of its data structures: the tables gHotSpotVMStructs, …VMTypes,
 * …VMIntConstants and …VMLongConstants that libjvm.so exports for the serviceability agent, read
 * from the live process. Offsets differ even between two builds of one release, so that nothing
 * is ever keyed by version. Source: src/hotspot/share/runtime/vmStructs.{hpp,cpp}, JDK 8 to 28.
 */
#ifndef HOSTPROF_JVM_LAYOUT_VMSTRUCTS_H
#define HOSTPROF_JVM_LAYOUT_VMSTRUCTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "jvm/layout/vm_memory.h"
#include "jvm/layout/vmtables.h"
#include "process/registry.h"

struct vmstructs;
struct vmstructs_cache;

/*
 * Processes whose tables say the same keep them once. They are read of each all the same, since one may
 * have altered its own. Not for several threads.
 */
struct vmstructs_cache *vmstructs_cache_new(void);
void vmstructs_cache_free(struct vmstructs_cache *cache);
DEFINE_CLEANUP(struct vmstructs_cache *, vmstructs_cache_free);

/*
 * Read the tables of process PID. LIBJVM is one of its mappings of libjvm.so (any segment), or
 * NULL to look for it in /proc/PID/maps. CACHE may be NULL. 0, or
 *   -ENODATA	no libjvm.so is mapped, or it has no such tables (not HotSpot)
 *   -EAGAIN	the JVM is still starting; try again in a moment
 *   -ESRCH	no such process
 *   -EPERM, -EBADMSG, -ESTALE (the file was replaced and is out of reach)
 */
int vmstructs_open(struct vmstructs_cache *cache, uint32_t pid, const struct mapping *libjvm,
		   struct vmstructs **ret_vs, struct err *err);

/* The same of any memory, for tests and fuzzers: SYMBOLS are the addresses of the variables. */
int vmstructs_open_memory(const struct vm_memory *memory, const uint64_t symbols[VM_SYMBOL_COUNT],
			  struct vmstructs **ret_vs);
void vmstructs_close(struct vmstructs *vs);
DEFINE_CLEANUP(struct vmstructs *, vmstructs_close);

/* The process's memory; borrowed. */
const struct vm_memory *vmstructs_memory(const struct vmstructs *vs);

/* Offset of a non-static field; -ENODATA when this JVM does not have it. */
int vmstructs_field_offset(const struct vmstructs *vs, const char *type, const char *field,
			   uint64_t *ret_offset);

/* Of one that a struct of 64 kB may have; -EOPNOTSUPP: it has none such, or farther away than any struct reaches. */
int vmstructs_near_offset(const struct vmstructs *vs, const char *type, const char *field,
			  uint16_t *ret_offset);

/* Where a static field lies in the process; -ENODATA. */
int vmstructs_static(const struct vmstructs *vs, const char *type, const char *field,
		     uint64_t *ret_address);

/* The 8 bytes in a static field: its pointer. -ENODATA or an error of the read. */
int vmstructs_static_u64(const struct vmstructs *vs, const char *type, const char *field,
			 uint64_t *ret_value);

/* The C++ type of a field ("int", "int16_t", "nmethod*"), static or not; NULL when absent. */
const char *vmstructs_field_type(const struct vmstructs *vs, const char *type, const char *field);

int vmstructs_sizeof(const struct vmstructs *vs, const char *type, uint64_t *ret_size);

/* Enumerators and constants: ("CodeBlobKind::Nmethod"), of the int or the long table. */
int vmstructs_int_const(const struct vmstructs *vs, const char *name, int64_t *ret_value);

#endif
