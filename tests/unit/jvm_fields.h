/* SPDX-License-Identifier: Apache-2.0 */
/* struct wire_jvm as text, a line for each field: "jvm NAME VALUE", "heap …", "entry …". */
#ifndef HOSTPROF_TESTS_JVM_FIELDS_H
#define HOSTPROF_TESTS_JVM_FIELDS_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "wire.h"

#define JVM_FIELDS(X)             \
	X(serial)                 \
	X(log2_segment)           \
	X(block_header)           \
	X(interpreter_start)      \
	X(interpreter_end)        \
	X(code_start)             \
	X(code_end)               \
	X(call_stub_return)       \
	X(return_barrier)         \
	X(enter_return)           \
	X(blob_bytes)             \
	X(blob_size)              \
	X(frame_size)             \
	X(frame_complete)         \
	X(code_begin)             \
	X(deopt)                  \
	X(deopt_mh)               \
	X(orig_pc)                \
	X(compile_id)             \
	X(frame_complete_bytes)   \
	X(const_method_ids)       \
	X(code_begin_kind)        \
	X(deopt_kind)             \
	X(thread_anchor)          \
	X(thread_cont_entry)      \
	X(thread_saved_pc)        \
	X(thread_exception_pc)    \
	X(anchor_sp)              \
	X(anchor_pc)              \
	X(anchor_fp)              \
	X(wrapper_anchor)         \
	X(method_slot)            \
	X(bcp_slot)               \
	X(sender_sp_slot)         \
	X(method_const_method)    \
	X(const_method_constants) \
	X(pool_holder)            \
	X(klass_name)             \
	X(symbol_mask)            \
	X(entries_start)

static inline void jvm_fields_print(FILE *f, const struct wire_jvm *jvm)
{
#define JVM_FIELD(name) fprintf(f, "jvm " #name " %#" PRIx64 "\n", (uint64_t)jvm->name);
	JVM_FIELDS(JVM_FIELD)
#undef JVM_FIELD
	for (int i = 0; i < jvm->heap_count && i < WIRE_JVM_HEAPS; i++)
		fprintf(f, "heap %#" PRIx64 " %#" PRIx64 " %#" PRIx64 "\n", jvm->heaps[i].start,
			jvm->heaps[i].end, jvm->heaps[i].segmap);
	for (int i = 0; i < jvm->entry_count && i < WIRE_JVM_ENTRIES; i++)
		fprintf(f, "entry %#x %#x\n", jvm->entries[i].start, jvm->entries[i].frame);
}

static inline bool jvm_fields_set(struct wire_jvm *jvm, const char *field, uint64_t value)
{
#define JVM_FIELD(name)                                   \
	if (strcmp(field, #name) == 0) {                  \
		jvm->name = (__typeof__(jvm->name))value; \
		return true;                              \
	}
	JVM_FIELDS(JVM_FIELD)
#undef JVM_FIELD
	return false;
}

/* False: it is not a line of a JVM. */
static inline bool jvm_fields_read(struct wire_jvm *jvm, const char *line)
{
	struct wire_code_heap *heap = &jvm->heaps[jvm->heap_count % WIRE_JVM_HEAPS];
	struct wire_entry *entry = &jvm->entries[jvm->entry_count % WIRE_JVM_ENTRIES];
	uint64_t value;
	char field[32];

	if (sscanf(line, "jvm %31s %" SCNx64, field, &value) == 2)
		return jvm_fields_set(jvm, field, value);
	if (sscanf(line, "heap %" SCNx64 " %" SCNx64 " %" SCNx64, &heap->start, &heap->end,
		   &heap->segmap) == 3)
		return ++jvm->heap_count <= WIRE_JVM_HEAPS;
	if (sscanf(line, "entry %" SCNx16 " %" SCNx16, &entry->start, &entry->frame) == 2)
		return ++jvm->entry_count <= WIRE_JVM_ENTRIES;
	return false;
}

#endif
