/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser of the VMStructs tables: bytes of a JVM's memory in, look-ups out. Everything is
 * bounded, nothing is trusted. Source: src/hotspot/share/runtime/vmStructs.hpp (VMStructEntry,
 * VMTypeEntry, VMIntConstantEntry, VMLongConstantEntry and the exported g* variables), JDK 8 to 28.
 */
#ifndef HOSTPROF_JVM_LAYOUT_VMTABLES_H
#define HOSTPROF_JVM_LAYOUT_VMTABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm/layout/vm_memory.h"

/* The exported variables: where each table starts, its stride, where in an entry a field lies. */
enum vmtables_symbol {
	VM_STRUCTS,
	VM_STRUCTS_STRIDE,
	VM_STRUCTS_TYPE_NAME,
	VM_STRUCTS_FIELD_NAME,
	VM_STRUCTS_TYPE_STRING,
	VM_STRUCTS_IS_STATIC,
	VM_STRUCTS_OFFSET,
	VM_STRUCTS_ADDRESS,
	VM_TYPES,
	VM_TYPES_STRIDE,
	VM_TYPES_NAME,
	VM_TYPES_SIZE,
	VM_INTS,
	VM_INTS_STRIDE,
	VM_INTS_NAME,
	VM_INTS_VALUE,
	VM_LONGS,
	VM_LONGS_STRIDE,
	VM_LONGS_NAME,
	VM_LONGS_VALUE,
	VM_SYMBOL_COUNT
};

/* Their names in libjvm's .dynsym, by enum vmtables_symbol. */
extern const char *const vmtables_symbol_names[VM_SYMBOL_COUNT];

struct vmtables_field {
	const char *type;
	const char *name;
	const char *ctype;
	uint64_t value; /* byte offset; of a static field: its address less the load bias */
	bool is_static;
	bool added; /* by vmtables_add_static() */
};

struct vmtables;

/*
 * Read all four tables; ADDRESSES are those of the variables in MEMORY. Static addresses are kept
 * relative to BIAS, so that the result serves every process of the build. 0, or
 *   -EAGAIN	a table is empty or its stride not set: the JVM is still starting
 *   -EBADMSG	entries are impossible
 *   -E2BIG	more entries or longer names than any JVM has
 *   or the error of a read
 */
int vmtables_read(const struct vm_memory *memory, const uint64_t addresses[VM_SYMBOL_COUNT],
		  uint64_t bias, struct vmtables **ret_tables);

/*
 * Add a static field that the tables do not have, but that the library's symbol table tells of; a
 * field that is there stays. RELATIVE is its address less the load bias. Strings are copied. Not
 * for tables that are shared already.
 */
void vmtables_add_static(struct vmtables *tables, const char *type, const char *name,
			 const char *ctype, uint64_t relative);

/* Of what was read: equal tables have the same. */
uint64_t vmtables_hash(const struct vmtables *tables);

/* What was read says the same in both, entry by entry. WITH_ADDED: and so do the fields that were added. */
bool vmtables_equal(const struct vmtables *a, const struct vmtables *b, bool with_added);

/* Shared by reference count; made with one reference. */
struct vmtables *vmtables_ref(struct vmtables *tables);
void vmtables_unref(struct vmtables *tables);
DEFINE_CLEANUP(struct vmtables *, vmtables_unref);

/* NULL or false when absent. */
const struct vmtables_field *vmtables_find_field(const struct vmtables *tables, const char *type,
						 const char *field);
bool vmtables_find_size(const struct vmtables *tables, const char *type, uint64_t *ret_size);
bool vmtables_find_const(const struct vmtables *tables, const char *name, int64_t *ret_value);

#endif
