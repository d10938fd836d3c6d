/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/layout/jvm_unpacking.h"

#include <stddef.h>

#include "base/macros.h"

#define SLOT(name) offsetof(struct wire_unpacking, name)

static const struct {
	const char *type, *field;
	size_t slot;
} wanted[] = {
	{ "JavaThread", "_vframe_array_head", SLOT(array) },
	{ "vframeArray", "_frames", SLOT(frames) },
	{ "vframeArrayElement", "_method", SLOT(method) },
	{ "vframeArrayElement", "_bci", SLOT(bci) },
};

#undef SLOT

static bool fits(uint64_t value)
{
	return value <= UINT16_MAX;
}

static bool read_fields(const struct vmstructs *vs, struct wire_unpacking *unpacking)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(wanted); i++) {
		uint16_t *slot = (uint16_t *)(void *)((char *)unpacking + wanted[i].slot);
		uint64_t offset;

		if (vmstructs_field_offset(vs, wanted[i].type, wanted[i].field, &offset) < 0 ||
		    !fits(offset))
			return false;
		*slot = (uint16_t)offset;
	}
	return true;
}

/* Nothing tells where the elements begin; but the last member of a vframeArray is the first one of them. */
static bool read_elements(const struct vmstructs *vs, struct wire_unpacking *unpacking)
{
	uint64_t array, element;

	if (vmstructs_sizeof(vs, "vframeArray", &array) < 0 ||
	    vmstructs_sizeof(vs, "vframeArrayElement", &element) < 0)
		return false;
	if (!fits(array) || element > array)
		return false;
	unpacking->elements = (uint16_t)(array - element);
	unpacking->element_bytes = (uint16_t)element;
	return true;
}

void jvm_unpacking_read(const struct vmstructs *vs, struct jvm_layout *layout)
{
	struct wire_unpacking *unpacking = &layout->wire.unpacking;

	unpacking->bytecodes = (uint16_t)layout->const_method_bytes;
	if (!read_fields(vs, unpacking) || !read_elements(vs, unpacking))
		*unpacking = (struct wire_unpacking){ 0 };
}
