/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/names/scopes_layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/macros.h"
#include "jvm/layout/jvm_layout.h"

struct wanted {
	const char *type, *field, *ctype;
	size_t slot;
};

#define SLOT(name) offsetof(struct scopes_layout, name)

static const struct wanted in_blob[] = {
	{ "nmethod", "_scopes_pcs_offset", "int", SLOT(pcs) },
	{ "nmethod", "_dependencies_offset", "int", SLOT(pcs_end) },
	{ "nmethod", "_scopes_data_offset", "int", SLOT(scopes) },
	{ "nmethod", "_metadata_offset", "int", SLOT(methods) },
	{ 0 },
};

static const struct wanted by_pointer[] = {
	{ "nmethod", "_scopes_pcs_offset", "int", SLOT(pcs) },
	{ "nmethod", "_dependencies_offset", "int", SLOT(pcs_end) },
	{ "CompiledMethod", "_scopes_data_begin", "address", SLOT(scopes) },
	{ "nmethod", "_metadata_offset", "int", SLOT(methods) },
	{ 0 },
};

/* JDK 23 and 24 have the block, and their methods still in the blob: they stay unknown. */
static const struct wanted in_block[] = {
	{ "nmethod", "_scopes_pcs_offset", "int", SLOT(pcs) },
	{ "nmethod", "_scopes_data_offset", "int", SLOT(pcs_end) },
	{ "nmethod", "_scopes_data_offset", "int", SLOT(scopes) },
	{ "CodeBlob", "_relocation_size", "int", SLOT(methods) },
	{ "nmethod", "_immutable_data", "address", SLOT(block) },
	{ "nmethod", "_immutable_data_size", "int", SLOT(block_bytes) },
	{ "CodeBlob", "_mutable_data", "address", SLOT(methods_block) },
	{ 0 },
};

static const struct {
	enum scopes_place place;
	const struct wanted *fields;
} places[] = {
	{ SCOPES_IN_BLOCK, in_block },
	{ SCOPES_BY_POINTER, by_pointer },
	{ SCOPES_IN_BLOB, in_blob },
};

static bool take_field(const struct vmstructs *vs, const struct wanted *w,
		       struct scopes_layout *layout)
{
	const char *ctype = vmstructs_field_type(vs, w->type, w->field);
	uint64_t offset;

	if (!ctype || strcmp(ctype, w->ctype) != 0 ||
	    vmstructs_field_offset(vs, w->type, w->field, &offset) < 0 ||
	    offset > JVM_LAYOUT_MAX_STRUCT)
		return false;
	*(uint32_t *)(void *)((char *)layout + w->slot) = (uint32_t)offset;
	return true;
}

static bool take_fields(const struct vmstructs *vs, const struct wanted *w,
			struct scopes_layout *layout)
{
	for (; w->type; w++)
		if (!take_field(vs, w, layout))
			return false;
	return true;
}

static bool take_pc_desc(const struct vmstructs *vs, struct scopes_layout *layout)
{
	static const struct wanted fields[] = {
		{ "PcDesc", "_pc_offset", "int", SLOT(pc_offset) },
		{ "PcDesc", "_scope_decode_offset", "int", SLOT(pc_scope) },
		{ 0 },
	};
	uint64_t bytes;

	if (!take_fields(vs, fields, layout) || vmstructs_sizeof(vs, "PcDesc", &bytes) < 0 ||
	    bytes < sizeof(int32_t) || bytes > JVM_LAYOUT_MAX_STRUCT)
		return false;
	layout->pc_bytes = (uint32_t)bytes;
	return layout->pc_offset <= bytes - sizeof(int32_t) &&
	       layout->pc_scope <= bytes - sizeof(int32_t);
}

void scopes_layout_read(const struct vmstructs *vs, struct scopes_layout *ret_layout)
{
	struct scopes_layout layout = { .place = SCOPES_UNKNOWN };

	for (unsigned int i = 0; i < ARRAY_SIZE(places) && layout.place == SCOPES_UNKNOWN; i++)
		if (take_fields(vs, places[i].fields, &layout))
			layout.place = places[i].place;
	if (layout.place == SCOPES_UNKNOWN || !take_pc_desc(vs, &layout))
		layout = (struct scopes_layout){ .place = SCOPES_UNKNOWN };
	*ret_layout = layout;
}
