// SPDX-License-Identifier: Apache-2.0
#include "jvm/codemap/code_classes.h"

#include "jvm/java_name.h"

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

void code_classes_add(struct code_classes *classes, const struct codemap_event *event)
{
	struct strbuf *name = &classes->scratch;

	strbuf_reset(name);
	java_name_add_signature(name, event->class.name.data, event->class.name.len);
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
