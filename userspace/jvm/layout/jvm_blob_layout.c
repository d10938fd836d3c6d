/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share/code/codeBlob.hpp and share/code/nmethod.hpp, JDK 8 to 28; share/code/compiledMethod.hpp
 * from 9 to 22.
 */
#include "jvm/layout/jvm_blob_layout.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/macros.h"

/* What is read must hold the whole of every field. */
#define MAX_OFFSET (WIRE_BLOB_BYTES - 8)

#define SLOT(name) offsetof(struct wire_jvm, name)

static const struct wanted {
	const char *type, *field;
	size_t slot;
} wanted_ints[] = {
	{ "CodeBlob", "_size", SLOT(blob_size) },
	{ "CodeBlob", "_frame_size", SLOT(frame_size) },
	{ "nmethod", "_orig_pc_offset", SLOT(orig_pc) },
	{ "nmethod", "_compile_id", SLOT(compile_id) },
};

#undef SLOT

/* Where a frame that is to be deoptimised returns to; one of these. */
static const struct deopt_fields {
	const char *type, *field, *mh_field;
	enum wire_deopt kind;
} deopt_fields[] = {
	{ "nmethod", "_deopt_handler_entry_offset", NULL, WIRE_DEOPT_OFFSET },
	{ "nmethod", "_deopt_handler_offset", "_deopt_mh_handler_offset", WIRE_DEOPT_OFFSET },
	{ "nmethod", "_deoptimize_offset", "_deoptimize_mh_offset", WIRE_DEOPT_OFFSET },
	{ "CompiledMethod", "_deopt_handler_begin", "_deopt_mh_handler_begin", WIRE_DEOPT_POINTER },
};

/* Bytes of a C++ type; 0: not one that is expected here. */
static unsigned int type_bytes(const char *ctype)
{
	static const struct {
		const char *name;
		unsigned int bytes;
	} known[] = {
		{ "int", 4 },	{ "int32_t", 4 }, { "int16_t", 2 }, { "uint16_t", 2 },
		{ "short", 2 }, { "u2", 2 },	  { "address", 8 },
	};

	for (unsigned int i = 0; ctype && i < ARRAY_SIZE(known); i++)
		if (!strcmp(ctype, known[i].name))
			return known[i].bytes;
	return 0;
}

/* -ENODATA when absent, or of a size that is not in WIDTHS (a set of bits). */
static int find_field(const struct vmstructs *vs, const char *type, const char *field,
		      unsigned int widths, uint16_t *ret_offset, unsigned int *ret_bytes)
{
	unsigned int bytes = type_bytes(vmstructs_field_type(vs, type, field));
	uint64_t offset;
	int r = vmstructs_field_offset(vs, type, field, &offset);

	if (r < 0 || !(bytes & widths))
		return -ENODATA;
	if (offset >= MAX_OFFSET)
		return -EBADMSG;
	*ret_offset = (uint16_t)offset;
	*ret_bytes = bytes;
	return 0;
}

/* Take a field into *SLOT and into what must be read. */
static int take_field(const struct vmstructs *vs, const char *type, const char *field,
		      unsigned int widths, struct wire_jvm *wire, uint16_t *slot)
{
	unsigned int bytes;
	int r = find_field(vs, type, field, widths, slot, &bytes);

	if (!r && *slot + bytes > wire->blob_bytes)
		wire->blob_bytes = (uint16_t)((*slot + bytes + 7) & ~7U);
	return r;
}

static int read_ints(const struct vmstructs *vs, struct wire_jvm *wire, const char **ret_missing)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(wanted_ints); i++) {
		const struct wanted *w = &wanted_ints[i];
		uint16_t *slot = (uint16_t *)(void *)((char *)wire + w->slot);
		int r = take_field(vs, w->type, w->field, 4, wire, slot);

		if (r < 0) {
			*ret_missing = w->field;
			return r;
		}
	}
	return 0;
}

static int read_frame_complete(const struct vmstructs *vs, struct wire_jvm *wire)
{
	int r = take_field(vs, "CodeBlob", "_frame_complete_offset", 4, wire,
			   &wire->frame_complete);

	wire->frame_complete_bytes = 4;
	if (r == -ENODATA) {
		r = take_field(vs, "CodeBlob", "_frame_complete_offset", 2, wire,
			       &wire->frame_complete);
		wire->frame_complete_bytes = 2;
	}
	return r;
}

static int read_code_begin(const struct vmstructs *vs, struct wire_jvm *wire)
{
	int r = take_field(vs, "CodeBlob", "_code_begin", 8, wire, &wire->code_begin);

	wire->code_begin_kind = WIRE_CODE_BEGIN_POINTER;
	if (r == -ENODATA) {
		r = take_field(vs, "CodeBlob", "_code_offset", 4, wire, &wire->code_begin);
		wire->code_begin_kind = WIRE_CODE_BEGIN_OFFSET;
	}
	return r;
}

/* Without it frames that wait to be deoptimised end a stack; all others are walked. */
static int read_deopt(const struct vmstructs *vs, struct wire_jvm *wire)
{
	wire->deopt = wire->deopt_mh = WIRE_JVM_ABSENT;
	wire->deopt_kind = WIRE_DEOPT_NONE;
	for (unsigned int i = 0; i < ARRAY_SIZE(deopt_fields); i++) {
		const struct deopt_fields *d = &deopt_fields[i];
		unsigned int width = d->kind == WIRE_DEOPT_POINTER ? 8 : 4;
		int r = take_field(vs, d->type, d->field, width, wire, &wire->deopt);

		if (r == -ENODATA)
			continue;
		wire->deopt_kind = (uint8_t)d->kind;
		if (!r && d->mh_field)
			r = take_field(vs, d->type, d->mh_field, width, wire, &wire->deopt_mh);
		return r == -ENODATA ? 0 : r;
	}
	return 0;
}

static uint32_t name_offset(const struct vmstructs *vs, const char *type, const char *field)
{
	uint64_t offset;

	if (vmstructs_field_offset(vs, type, field, &offset) < 0 || offset > JVM_LAYOUT_MAX_STRUCT)
		return JVM_LAYOUT_ABSENT;
	return (uint32_t)offset;
}

/* For names, which are no part of the walk. */
static void read_names(const struct vmstructs *vs, struct jvm_layout *layout)
{
	int64_t kind;

	layout->block_used = name_offset(vs, "HeapBlock::Header", "_used");
	layout->blob_name = name_offset(vs, "CodeBlob", "_name");
	layout->blob_kind = name_offset(vs, "CodeBlob", "_kind");
	layout->nmethod_method = name_offset(vs, "nmethod", "_method");
	if (layout->nmethod_method == JVM_LAYOUT_ABSENT)
		layout->nmethod_method = name_offset(vs, "CompiledMethod", "_method");
	if (vmstructs_int_const(vs, "CodeBlobKind::Nmethod", &kind) < 0 || kind < 0 ||
	    kind > UINT8_MAX)
		layout->blob_kind = JVM_LAYOUT_ABSENT;
	else
		layout->blob_kind_nmethod = (uint8_t)kind;
}

int jvm_blob_layout_read(const struct vmstructs *vs, struct jvm_layout *layout, struct err *err)
{
	struct wire_jvm *wire = &layout->wire;
	const char *missing = "";
	int r;

	wire->blob_bytes = 0;
	r = read_ints(vs, wire, &missing);
	if (!r) {
		missing = "_frame_complete_offset";
		r = read_frame_complete(vs, wire);
	}
	if (!r) {
		missing = "_code_begin";
		r = read_code_begin(vs, wire);
	}
	if (!r) {
		missing = "deoptimisation handler";
		r = read_deopt(vs, wire);
	}
	read_names(vs, layout);
	if (r == -ENODATA)
		return err_set(err, -EOPNOTSUPP, "this JVM's VMStructs have no %s of code blobs",
			       missing);
	if (r < 0)
		return err_set(err, r, "%s of code blobs lies at an impossible offset", missing);
	return 0;
}
