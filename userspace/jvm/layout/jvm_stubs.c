/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/layout/jvm_stubs.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/macros.h"
#include "jvm/continuation/jvm_chunks.h"
#include "jvm/continuation/jvm_continuations.h"
#include "jvm/continuation/jvm_virtual.h"

/* A field whose offset goes to a uint16_t. */
struct offset_field {
	const char *type, *field;
	size_t slot;
};

/* Those that are told below LIMIT; the others are WIRE_JVM_ABSENT. Whether all are. */
static bool read_offsets(const struct vmstructs *vs, const struct offset_field *fields,
			 unsigned int count, uint64_t limit, void *wire)
{
	bool all = true;

	for (unsigned int i = 0; i < count; i++) {
		uint16_t *slot = (uint16_t *)(void *)((char *)wire + fields[i].slot);
		uint64_t offset;
		int r = vmstructs_field_offset(vs, fields[i].type, fields[i].field, &offset);
		bool told = r == 0 && offset < limit;

		*slot = told ? (uint16_t)offset : WIRE_JVM_ABSENT;
		all = all && told;
	}
	return all;
}

#define SLOT(name) offsetof(struct wire_jvm, name)

/* What is absent leaves a way unused; a stack is walked without it. */
static const struct offset_field thread_fields[] = {
	{ "JavaThread", "_anchor", SLOT(thread_anchor) },
	{ "JavaThread", "_cont_entry", SLOT(thread_cont_entry) },
	{ "JavaThread", "_saved_exception_pc", SLOT(thread_saved_pc) },
	{ "JavaThread", "_exception_pc", SLOT(thread_exception_pc) },
	{ "JavaFrameAnchor", "_last_Java_sp", SLOT(anchor_sp) },
	{ "JavaFrameAnchor", "_last_Java_pc", SLOT(anchor_pc) },
	{ "JavaFrameAnchor", "_last_Java_fp", SLOT(anchor_fp) },
	{ "JavaCallWrapper", "_anchor", SLOT(wrapper_anchor) },
};

#undef SLOT

/* --- frames that are put in place: bpf/hotspot/unpacking.h --- */

#define SLOT(name) offsetof(struct wire_unpacking, name)

static const struct offset_field unpacking_fields[] = {
	{ "JavaThread", "_vframe_array_head", SLOT(array) },
	{ "vframeArray", "_frames", SLOT(frames) },
	{ "vframeArrayElement", "_method", SLOT(method) },
	{ "vframeArrayElement", "_bci", SLOT(bci) },
};

#undef SLOT

/* Nothing tells where the elements begin; but the last member of a vframeArray is the first one of them. */
static bool read_unpacking_elements(const struct vmstructs *vs, struct wire_unpacking *unpacking)
{
	uint64_t array, element;

	if (vmstructs_sizeof(vs, "vframeArray", &array) < 0 ||
	    vmstructs_sizeof(vs, "vframeArrayElement", &element) < 0)
		return false;
	if (array > UINT16_MAX || element > array)
		return false;
	unpacking->elements = (uint16_t)(array - element);
	unpacking->element_bytes = (uint16_t)element;
	return true;
}

/* All of it, or nothing: then such frames have no names. */
static void read_unpacking(const struct vmstructs *vs, struct jvm_layout *layout)
{
	struct wire_unpacking *unpacking = &layout->wire.unpacking;

	unpacking->bytecodes = (uint16_t)layout->const_method_bytes;
	if (!read_offsets(vs, unpacking_fields, ARRAY_SIZE(unpacking_fields), UINT16_MAX + 1U,
			  unpacking) ||
	    !read_unpacking_elements(vs, unpacking))
		*unpacking = (struct wire_unpacking){ 0 };
}

/* --- stubs --- */

/* The pointer in a static field; 0 when there is no such field, or nothing in it yet. */
static uint64_t static_or_zero(const struct vmstructs *vs, const char *type, const char *field)
{
	uint64_t value;

	return vmstructs_static_u64(vs, type, field, &value) < 0 ? 0 : value;
}

static bool in_code(const struct wire_jvm *wire, uint64_t pc)
{
	return pc >= wire->code_start && pc < wire->code_end;
}

static bool has_static(const struct vmstructs *vs, const char *type, const char *field)
{
	uint64_t address;

	return vmstructs_static(vs, type, field, &address) == 0;
}

/* JavaThread::_vthread came with virtual threads. */
static bool has_continuations(const struct vmstructs *vs)
{
	uint64_t offset;

	return vmstructs_field_offset(vs, "JavaThread", "_vthread", &offset) == 0;
}

/* Once: it takes some hundred reads, most of them of the classes, which both look at. */
static void read_chunks(const struct vmstructs *vs, struct jvm_layout *layout)
{
	_cleanup_(vm_pages_freep) struct vm_pages *pages = NULL;

	if (layout->chunks_final && layout->virtual_final)
		return;
	pages = vm_pages_new(vmstructs_memory(vs));
	if (!layout->chunks_final)
		layout->chunks_final =
			jvm_chunks_read(vs, layout, pages, &layout->wire.chunks) != -EAGAIN;
	if (layout->chunks_final && !layout->virtual_final)
		layout->virtual_final =
			jvm_virtual_read(vs, layout, pages, &layout->wire.virtuals) != -EAGAIN;
}

static void read_continuations(const struct vmstructs *vs, struct jvm_layout *layout)
{
	struct wire_jvm *wire = &layout->wire;
	uint64_t barrier = static_or_zero(vs, "StubRoutines", "_cont_returnBarrier");
	uint64_t enter = static_or_zero(vs, "ContinuationEntry", "_return_pc");

	wire->return_barrier = in_code(wire, barrier) ? barrier : 0;
	wire->enter_return = in_code(wire, enter) ? enter : 0;
	if (!has_static(vs, "StubRoutines", "_cont_returnBarrier") ||
	    !has_static(vs, "ContinuationEntry", "_return_pc"))
		jvm_continuations_find(vs, layout);
	/* VMStructs know it from JDK 25 on. */
	if (wire->return_barrier && wire->thread_cont_entry == WIRE_JVM_ABSENT)
		wire->thread_cont_entry =
			jvm_continuations_entry(vmstructs_memory(vs), wire->return_barrier);
}

int jvm_stubs_read(const struct vmstructs *vs, struct jvm_layout *layout, struct err *err)
{
	struct wire_jvm *wire = &layout->wire;
	int r = vmstructs_static(vs, "StubRoutines", "_call_stub_return_address",
				 &layout->call_stub_at);

	if (!r)
		r = vm_memory_read_u64(vmstructs_memory(vs), layout->call_stub_at,
				       &wire->call_stub_return);

	if (r == -ENODATA)
		return err_set(err, -EOPNOTSUPP, "this JVM's VMStructs do not tell of a call stub");
	if (!r && !wire->call_stub_return)
		return err_set(err, -EAGAIN, "the JVM is still starting");
	if (!r && !in_code(wire, wire->call_stub_return))
		r = -EBADMSG;
	if (r < 0)
		return err_sys(err, r, "cannot read where the JVM's call stub is");
	(void)read_offsets(vs, thread_fields, ARRAY_SIZE(thread_fields), JVM_LAYOUT_MAX_STRUCT,
			   wire);
	read_unpacking(vs, layout);
	layout->provisional = false;
	if (has_continuations(vs)) {
		read_continuations(vs, layout);
		read_chunks(vs, layout);
		layout->provisional =
			!wire->return_barrier || !wire->enter_return || !layout->virtual_final;
	}
	return 0;
}
