/* SPDX-License-Identifier: Apache-2.0 */
/* Source: share/runtime/javaThread.hpp, java/lang/VirtualThread.java, JDK 21 to 28. */
#include "jvm/continuation/jvm_virtual.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/macros.h"
#include "jvm/continuation/jvm_classes.h"
#include "jvm/heap/java_thread_layout.h"

static const struct {
	const char *field;
	size_t slot;
} thread_fields[] = {

#define SLOT(name) offsetof(struct wire_virtual, name)
	{ "_vthread", SLOT(vthread) },
	{ "_stack_base", SLOT(stack_base) },
	{ "_stack_size", SLOT(stack_size) },
#undef SLOT
};

static int read_thread(const struct vmstructs *vs, struct wire_virtual *v)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(thread_fields); i++) {
		uint16_t *slot = (uint16_t *)(void *)((char *)v + thread_fields[i].slot);
		int r = vmstructs_near_offset(vs, "JavaThread", thread_fields[i].field, slot);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Offsets in objects are all less than 64 kB (java_fields.c). */
static void take_objects(const struct java_thread_layout *l, struct wire_virtual *v)
{
	v->pause_active = l->pause.active_at;
	v->pause_count = l->pause.count_at;
	v->string_klass = l->of_string.value;
	v->id = (uint16_t)l->id;
	v->name = (uint16_t)l->name;
	v->value = (uint16_t)l->value;
	v->coder = (uint16_t)l->coder;
	v->array_len = (uint16_t)l->array_len;
	v->array_data = (uint16_t)l->array_data;
}

static int read_class(const struct vmstructs *vs, const struct jvm_layout *layout,
		      struct vm_pages *pages, const struct java_objects *objects,
		      struct wire_virtual *v)
{
	struct java_klass_word word;
	uint64_t klass;
	int r = jvm_classes_find(vs, layout, pages, "java/lang/VirtualThread", &klass);

	if (!r)
		r = java_objects_klass_word(objects, klass, &word);
	if (!r)
		v->klass = word.value;
	return r;
}

int jvm_virtual_read(const struct vmstructs *vs, const struct jvm_layout *layout,
		     struct vm_pages *pages, struct wire_virtual *ret_virtual)
{
	struct wire_virtual v = { 0 };
	struct java_thread_layout l;
	int r;

	memset(ret_virtual, 0, sizeof(*ret_virtual));
	/* It is said there how references and classes are written. */
	if (!layout->wire.chunks.klass_mask)
		return -EOPNOTSUPP;
	r = java_thread_layout_read(vs, layout, &l);
	if (!r)
		r = read_thread(vs, &v);
	if (!r)
		r = read_class(vs, layout, pages, &l.objects, &v);
	if (!r && (!l.id || !l.has_coder))
		r = -EOPNOTSUPP;
	if (r < 0)
		return r;
	take_objects(&l, &v);
	*ret_virtual = v;
	return 0;
}
