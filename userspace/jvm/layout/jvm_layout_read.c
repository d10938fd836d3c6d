/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/layout/jvm_layout_read.h"

#include <errno.h>
#include <stddef.h>

#include "base/macros.h"
#include "jvm/layout/jvm_blob_layout.h"
#include "jvm/layout/jvm_entries.h"
#include "jvm/layout/jvm_heaps.h"
#include "jvm/layout/jvm_stubs.h"
#include "jvm/layout/vm_flags.h"

/* The interpreter takes 100 to 262 kB. */
#define MAX_INTERPRETER_BYTES (16U << 20)

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

/*
 * JDK 8 to 16 list their threads from Threads::_thread_list, where the first one comes when all
 * stubs and the interpreter are made: share/runtime/thread.cpp, Threads::create_vm(). Later
 * releases are told by their interpreter's buffer alone.
 */
static int check_has_threads(const struct vmstructs *vs)
{
	uint64_t first;
	int r = vmstructs_static_u64(vs, "Threads", "_thread_list", &first);

	if (r == -ENODATA)
		return 0;
	return r < 0 ? r : first ? 0 : -EAGAIN;
}

struct queue {
	uint64_t buffer;
	int32_t limit, end;
};

static int read_queue(const struct vmstructs *vs, struct queue *ret_queue)
{
	const struct vm_memory *memory = vmstructs_memory(vs);
	uint64_t queue, buffer = 0, limit = 0, end = 0;
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
		{ queue + buffer, &ret_queue->buffer, sizeof(ret_queue->buffer) },
		{ queue + limit, &ret_queue->limit, sizeof(ret_queue->limit) },
		{ queue + end, &ret_queue->end, sizeof(ret_queue->end) },
	};
	return memory->read(memory, spans, ARRAY_SIZE(spans));
}

/* share/code/stubs.hpp: AbstractInterpreter::_code is a StubQueue. */
static int read_interpreter(const struct vmstructs *vs, struct jvm_layout *layout,
			    uint32_t *ret_used)
{
	struct queue queue;
	int r = check_has_threads(vs);

	if (!r)
		r = read_queue(vs, &queue);
	if (r < 0)
		return r;
	/* Still being made: the rest of the buffer will go back to the code cache. */
	if (layout->feature_release >= BUFFER_TRIMMED_SINCE && queue.end != queue.limit)
		return -EAGAIN;
	if (queue.limit <= 0 || queue.limit > (int32_t)MAX_INTERPRETER_BYTES || queue.end < 0 ||
	    queue.end > queue.limit)
		return -EBADMSG;
	layout->interpreter_start = queue.buffer;
	layout->interpreter_end = queue.buffer + (uint32_t)queue.limit;
	*ret_used = (uint32_t)queue.end;
	if (layout->interpreter_start < layout->wire.code_start ||
	    layout->interpreter_end > layout->wire.code_end)
		return -EBADMSG;
	return 0;
}

static int read_code(const struct vmstructs *vs, struct jvm_layout *layout, struct err *err)
{
	uint32_t used = 0;
	int r = jvm_heaps_read(vs, &layout->wire, err);

	if (r < 0)
		return r;
	r = read_interpreter(vs, layout, &used);
	if (r == -EAGAIN)
		return err_set(err, r, "the JVM is still starting");
	if (r < 0)
		return err_sys(err, r, "cannot read where the JVM's interpreter lies");
	r = jvm_stubs_read(vs, layout, err);
	if (!r)
		r = jvm_entries_read(vs, layout->interpreter_start, used, &layout->wire, err);
	return r;
}

static void fill_wire(struct jvm_layout *layout)
{
	struct wire_jvm *wire = &layout->wire;

	layout->code_start = wire->code_start;
	layout->code_end = wire->code_end;
	wire->interpreter_start = layout->interpreter_start;
	wire->interpreter_end = layout->interpreter_end;
	wire->method_const_method = layout->method_const_method;
	wire->const_method_constants = layout->const_method_constants;
	wire->pool_holder = layout->pool_holder;
	wire->klass_name = layout->klass_name;
	/* share/oops/constMethod.hpp: _code_size, _name_index, _signature_index, _method_idnum. */
	if (layout->const_method_name_index == layout->const_method_code_size + 2 &&
	    layout->const_method_signature_index == layout->const_method_code_size + 4 &&
	    layout->const_method_code_size <= UINT8_MAX)
		wire->const_method_ids = (uint8_t)layout->const_method_code_size;
	wire->symbol_mask = layout->symbol_mask;
	wire->method_slot = layout->method_slot;
	wire->bcp_slot = layout->bcp_slot;
	wire->sender_sp_slot = layout->sender_sp_slot;
}

int jvm_layout_read(const struct vmstructs *vs, struct jvm_layout *ret_layout, struct err *err)
{
	struct jvm_layout layout = { .feature_release = vm_version_feature(vs) };
	int r = read_fields(vs, &layout, err);

	if (!r)
		r = read_sizes(vs, &layout, err);
	if (!r)
		r = jvm_blob_layout_read(vs, &layout, err);
	if (!r)
		r = read_code(vs, &layout, err);
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

int jvm_layout_refresh(const struct vmstructs *vs, struct jvm_layout *layout)
{
	struct jvm_layout fresh = *layout;
	struct err err = { 0 };
	int r = jvm_stubs_read(vs, &fresh, &err);

	if (r < 0)
		return r;
	*layout = fresh;
	return 0;
}
