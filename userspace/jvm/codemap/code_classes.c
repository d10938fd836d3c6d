// SPDX-License-Identifier: Apache-2.0
#include "jvm/codemap/code_classes.h"

#include "jvm/codemap/code_methods.h"
#include "profile/class_name.h"

/* The class file format has no array of more dimensions. */
#define MAX_DIMENSIONS 255

void code_classes_release(struct code_classes *classes)
{
	intern_release(&classes->names);
	hmap_release(&classes->ids);
	strbuf_release(&classes->scratch);
}

size_t code_classes_bytes(const struct code_classes *classes)
{
	return intern_bytes(&classes->names) + hmap_bytes(&classes->ids);
}

void code_class_of_signature(const char *signature, size_t len, struct strbuf *out)
{
	size_t dimensions = 0, rest;
	const char *type;

	while (dimensions < len && dimensions < MAX_DIMENSIONS && signature[dimensions] == '[')
		dimensions++;
	type = signature + dimensions;
	rest = len - dimensions;
	if (rest >= 3 && type[0] == 'L' && type[rest - 1] == ';') {
		code_class_name(type + 1, rest - 2, out);
	} else if (dimensions && rest == 1 && class_name_of_primitive(type[0])) {
		strbuf_addstr(out, class_name_of_primitive(type[0]));
	} else {
		code_clean_text(signature, len, out);
		return;
	}
	while (dimensions--)
		strbuf_addstr(out, "[]");
}

void code_classes_add(struct code_classes *classes, const struct codemap_event *event)
{
	struct strbuf *name = &classes->scratch;

	strbuf_reset(name);
	code_class_of_signature(event->class.name.data, event->class.name.len, name);
	strbuf_addch(name, '\0');
	hmap_put(&classes->ids, event->class.id,
		 intern_put(&classes->names, name->buf, name->len, NULL));
}

const char *code_classes_find(const struct code_classes *classes, uint64_t id)
{
	uint64_t name;

	return hmap_get(&classes->ids, id, &name)
		       ? intern_get(&classes->names, (uint32_t)name, NULL)
		       : NULL;
}
