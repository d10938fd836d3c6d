/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/jvm_layout.h"

#include <errno.h>
#include <stddef.h>

#include "base/macros.h"
#include "jvm/vm_flags.h"

/* The interpreter takes 100 to 262 kB. */
#define MAX_INTERPRETER_BYTES (16U << 20)
/* ReservedCodeCacheSize is at most 2 GB. */
#define MAX_CODE_BYTES (4ULL << 30)

/*
 * Slots of an interpreted frame on x86-64: src/hotspot/cpu/x86/frame_x86.hpp, interpreter_frame_*.
 * JDK 9 put the mirror between method and bcp.
 */
#define METHOD_SLOT    (-3)
#define BCP_SLOT       (-8)
#define BCP_SLOT_JDK_8 (-7)
#define SENDER_SP_SLOT (-1)

/*
 * The reference count in a Symbol's first word: the low half of _hash_and_refcount, or, up to
 * JDK 11, what follows the length. share/oops/symbol.hpp.
 */
#define SYMBOL_MASK	   0xffffffffffff0000ULL
#define SYMBOL_MASK_JDK_11 0xffffffff0000ffffULL

/* JDK 20 left zero bytes out of the coding: share/utilities/unsigned5.hpp. */
#define UNSIGNED5_BIAS_SINCE 20

/* Since when the interpreter's buffer is cut to its size at the end of its making. */
#define BUFFER_TRIMMED_SINCE 11

static const struct {
	const char *type, *field;
	size_t slot; /* offset in struct jvm_layout */
	bool optional;
} wanted_fields[] = {

#define SLOT(name) offsetof(struct jvm_layout, name)
	{ "Method", "_constMethod", SLOT(method_const_method), false },
	{ "ConstMethod", "_constants", SLOT(const_method_constants), false },
	{ "ConstMethod", "_constMethod_size", SLOT(const_method_size_words), false },
	{ "ConstMethod", "_code_size", SLOT(const_method_code_size), false },
	{ "ConstMethod", "_name_index", SLOT(const_method_name_index), false },
	{ "ConstMethod", "_signature_index", SLOT(const_method_signature_index), false },
	/* Bit 0, has_linenumber_table, is the same in both; little-endian. */
	{ "ConstMethod", "_flags", SLOT(const_method_flags), true },
	{ "ConstMethod", "_flags._flags", SLOT(const_method_flags), true },
	{ "ConstantPool", "_pool_holder", SLOT(pool_holder), false },
	{ "ConstantPool", "_source_file_name_index", SLOT(pool_source_index), true },
	{ "InstanceKlass", "_source_file_name_index", SLOT(klass_source_index), true },
	{ "Klass", "_name", SLOT(klass_name), false },
	{ "Symbol", "_length", SLOT(symbol_length), false },
	{ "Symbol", "_body", SLOT(symbol_body), false },
};

static const struct {
	const char *type;
	size_t slot;
} wanted_sizes[] = {
	{ "ConstMethod", SLOT(const_method_bytes) },
	{ "ConstantPool", SLOT(pool_bytes) },

#undef SLOT
};

static uint32_t *layout_slot(struct jvm_layout *layout, size_t slot)
{
	return (uint32_t *)(void *)((char *)layout + slot);
}

static int read_fields(const struct vmstructs *vs, struct jvm_layout *layout, struct err *err)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(wanted_fields); i++)
		*layout_slot(layout, wanted_fields[i].slot) = JVM_LAYOUT_ABSENT;
	for (unsigned int i = 0; i < ARRAY_SIZE(wanted_fields); i++) {
		const char *type = wanted_fields[i].type, *field = wanted_fields[i].field;
		uint64_t offset;
		int r = vmstructs_field_offset(vs, type, field, &offset);

		if (r < 0 && wanted_fields[i].optional)
			continue;
		if (r < 0)
			return err_set(err, -EOPNOTSUPP, "this JVM's VMStructs have no %s.%s", type,
				       field);
		if (offset > JVM_LAYOUT_MAX_STRUCT)
			return err_set(err, -EBADMSG, "%s.%s lies at an impossible offset", type,
				       field);
		*layout_slot(layout, wanted_fields[i].slot) = (uint32_t)offset;
	}
	return 0;
}

static int read_sizes(const struct vmstructs *vs, struct jvm_layout *layout, struct err *err)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(wanted_sizes); i++) {
		const char *type = wanted_sizes[i].type;
		uint64_t size;

		if (vmstructs_sizeof(vs, type, &size) < 0)
			return err_set(err, -EOPNOTSUPP, "this JVM's VMStructs have no %s", type);
		if (size > JVM_LAYOUT_MAX_STRUCT)
			return err_set(err, -EBADMSG, "%s has an impossible size", type);
		*layout_slot(layout, wanted_sizes[i].slot) = (uint32_t)size;
	}
	return 0;
}

/* share/code/stubs.hpp: AbstractInterpreter::_code is a StubQueue. */
static int read_interpreter(const struct vmstructs *vs, struct jvm_layout *layout)
{
	const struct vm_memory *memory = vmstructs_memory(vs);
	uint64_t queue, buffer = 0, limit = 0, end = 0;
	int32_t limit_bytes, end_bytes;
	int r = vmstructs_static_u64(vs, "AbstractInterpreter", "_code", &queue);

	if (!r)
		r = vmstructs_field_offset(vs, "StubQueue", "_stub_buffer", &buffer);
	if (!r)
		r = vmstructs_field_offset(vs, "StubQueue", "_buffer_limit", &limit);
	if (!r)
		r = vmstructs_field_offset(vs, "StubQueue", "_queue_end", &end);
	if (r < 0)
		return r;
	if (!queue)
		return -EAGAIN;
	const struct vm_span spans[] = {
		{ queue + buffer, &layout->interpreter_start, sizeof(layout->interpreter_start) },
		{ queue + limit, &limit_bytes, sizeof(limit_bytes) },
		{ queue + end, &end_bytes, sizeof(end_bytes) },
	};
	r = memory->read(memory, spans, ARRAY_SIZE(spans));
	if (r < 0)
		return r;
	/* Still being made: the rest of the buffer will go back to the code cache. */
	if (layout->feature_release >= BUFFER_TRIMMED_SINCE && end_bytes != limit_bytes)
		return -EAGAIN;
	if (limit_bytes <= 0 || limit_bytes > (int32_t)MAX_INTERPRETER_BYTES)
		return -EBADMSG;
	layout->interpreter_end = layout->interpreter_start + (uint32_t)limit_bytes;
	return 0;
}

/* JDK 8 has one CodeHeap, whose reserved memory is a VirtualSpace: share/memory/heap.hpp. */
static int read_code_heap(const struct vmstructs *vs, struct jvm_layout *layout)
{
	const struct vm_memory *memory = vmstructs_memory(vs);
	uint64_t heap, space = 0, low = 0, high = 0;
	int r = vmstructs_static_u64(vs, "CodeCache", "_heap", &heap);

	if (!r)
		r = vmstructs_field_offset(vs, "CodeHeap", "_memory", &space);
	if (!r)
		r = vmstructs_field_offset(vs, "VirtualSpace", "_low_boundary", &low);
	if (!r)
		r = vmstructs_field_offset(vs, "VirtualSpace", "_high_boundary", &high);
	if (r < 0)
		return r;
	if (!heap)
		return -EAGAIN;
	const struct vm_span spans[] = {
		{ heap + space + low, &layout->code_start, sizeof(layout->code_start) },
		{ heap + space + high, &layout->code_end, sizeof(layout->code_end) },
	};
	return memory->read(memory, spans, ARRAY_SIZE(spans));
}

static int read_code_bounds(const struct vmstructs *vs, struct jvm_layout *layout)
{
	int r = vmstructs_static_u64(vs, "CodeCache", "_low_bound", &layout->code_start);

	if (!r)
		r = vmstructs_static_u64(vs, "CodeCache", "_high_bound", &layout->code_end);
	else if (r == -ENODATA)
		r = read_code_heap(vs, layout);
	if (r < 0)
		return r;
	if (!layout->code_start)
		return -EAGAIN;
	if (layout->code_end <= layout->code_start ||
	    layout->code_end - layout->code_start > MAX_CODE_BYTES)
		return -EBADMSG;
	return 0;
}

static int read_ranges(const struct vmstructs *vs, struct jvm_layout *layout, struct err *err)
{
	int r = read_code_bounds(vs, layout);

	if (!r)
		r = read_interpreter(vs, layout);
	if (!r && (layout->interpreter_start < layout->code_start ||
		   layout->interpreter_end > layout->code_end))
		r = -EBADMSG;
	if (r == -EAGAIN)
		return err_set(err, r, "the JVM is still starting");
	return r < 0 ? err_sys(err, r, "cannot read where the JVM's code lies") : 0;
}

static void fill_wire(struct jvm_layout *layout)
{
	layout->wire = (struct wire_jvm){
		.interpreter_start = layout->interpreter_start,
		.interpreter_end = layout->interpreter_end,
		.code_start = layout->code_start,
		.code_end = layout->code_end,
		.method_const_method = layout->method_const_method,
		.const_method_constants = layout->const_method_constants,
		.pool_holder = layout->pool_holder,
		.klass_name = layout->klass_name,
		.symbol_mask = layout->symbol_mask,
		.method_slot = layout->method_slot,
		.bcp_slot = layout->bcp_slot,
		.sender_sp_slot = layout->sender_sp_slot,
	};
}

int jvm_layout_read(const struct vmstructs *vs, struct jvm_layout *ret_layout, struct err *err)
{
	struct jvm_layout layout = { .feature_release = vm_version_feature(vs) };
	int r = read_fields(vs, &layout, err);

	if (!r)
		r = read_sizes(vs, &layout, err);
	if (!r)
		r = read_ranges(vs, &layout, err);
	if (r < 0)
		return r;
	if (!layout.feature_release)
		return err_set(err, -EOPNOTSUPP, "cannot tell which Java release this JVM is");
	layout.method_slot = METHOD_SLOT;
	layout.bcp_slot = layout.feature_release <= 8 ? BCP_SLOT_JDK_8 : BCP_SLOT;
	layout.sender_sp_slot = SENDER_SP_SLOT;
	layout.symbol_mask = layout.symbol_length ? SYMBOL_MASK : SYMBOL_MASK_JDK_11;
	layout.unsigned5_bias = layout.feature_release >= UNSIGNED5_BIAS_SINCE;
	fill_wire(&layout);
	*ret_layout = layout;
	return 0;
}
