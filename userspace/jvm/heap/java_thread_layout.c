/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share/runtime/{threadSMR,javaThread,osThread}.hpp, share/oops/{oop,arrayOop}.hpp, java/lang/{Thread,String}.java, JDK 8
 * to 28.
 */
#include "jvm/heap/java_thread_layout.h"

#include <errno.h>
#include <string.h>

#include "jvm/heap/java_fields.h"
#include "jvm/layout/vm_flags.h"

static int read_heap(const struct vmstructs *vs, struct java_thread_layout *l)
{
	struct vm_flags flags;
	int r = vm_flags_read(vs, &flags);

	if (r < 0)
		return r;
	if (flags.use_z == 1 || flags.use_shenandoah == 1)
		return -EOPNOTSUPP;
	r = heap_pause_find(vs, &l->pause);
	return r < 0 ? r : java_objects_read(vs, &flags, &l->objects);
}

static int read_thread(const struct vmstructs *vs, struct java_thread_layout *l)
{
	const char *type = vmstructs_field_type(vs, "JavaThread", "_threadObj");

	if (vmstructs_field_offset(vs, "JavaThread", "_threadObj", &l->thread_object) < 0 ||
	    (vmstructs_field_offset(vs, "JavaThread", "_osthread", &l->thread_os) < 0 &&
	     vmstructs_field_offset(vs, "Thread", "_osthread", &l->thread_os) < 0) ||
	    vmstructs_field_offset(vs, "OSThread", "_thread_id", &l->os_tid) < 0)
		return -EOPNOTSUPP;
	l->has_handles = type && !strcmp(type, "OopHandle");
	return 0;
}

static int read_list(const struct vmstructs *vs, struct java_thread_layout *l)
{
	if (vmstructs_static(vs, "ThreadsSMRSupport", "_java_thread_list", &l->list_at) == 0 &&
	    vmstructs_field_offset(vs, "ThreadsList", "_length", &l->list_len) == 0 &&
	    vmstructs_field_offset(vs, "ThreadsList", "_threads", &l->list_items) == 0)
		return 0;
	l->is_chain = true;
	if (vmstructs_static(vs, "Threads", "_thread_list", &l->list_at) == 0 &&
	    vmstructs_field_offset(vs, "JavaThread", "_next", &l->next) == 0)
		return 0;
	return -EOPNOTSUPP;
}

int java_thread_layout_read_list(const struct vmstructs *vs, struct java_thread_layout *ret_layout)
{
	struct java_thread_layout l = { .memory = vmstructs_memory(vs) };
	int r = read_thread(vs, &l);

	if (!r)
		r = read_list(vs, &l);
	if (!r)
		*ret_layout = l;
	return r;
}

/* --- classes ---------------------------------------------------------------------------------- */

/* What the fields of a class are read by. */
struct classes {
	const struct vmstructs *vs;
	const struct jvm_layout *layout;
	struct vm_pages *pages;
};

/* A class that the JVM knows by itself: FIELD of vmClasses from JDK 17 on. */
static int read_known_class(const struct vmstructs *vs, const char *field, const char *older_field,
			    uint64_t *ret_klass)
{
	if (vmstructs_static_u64(vs, "vmClasses", field, ret_klass) < 0 &&
	    vmstructs_static_u64(vs, "SystemDictionary", older_field, ret_klass) < 0)
		return -EOPNOTSUPP;
	return *ret_klass ? 0 : -EAGAIN;
}

#define KNOWN_CLASS(name)                                             \
	"_klasses[static_cast<int>(vmClassID::" name "_klass_knum)]", \
		"_well_known_klasses[SystemDictionary::" name "_klass_knum]"

static int find(const struct classes *c, uint64_t klass, const char *name, const char *signature,
		uint32_t *ret_offset)
{
	return java_fields_find(c->vs, c->layout, c->pages, klass, name, signature, ret_offset);
}

static int read_thread_class(const struct classes *c, struct java_thread_layout *l)
{
	uint64_t klass;
	int r = read_known_class(c->vs, KNOWN_CLASS("Thread"), &klass);

	if (!r)
		r = find(c, klass, "eetop", "J", &l->eetop);
	if (!r)
		r = find(c, klass, "name", "Ljava/lang/String;", &l->name);
	if (!r && find(c, klass, "tid", "J", &l->id) < 0)
		l->id = 0;
	if (!r && find(c, klass, "parkBlocker", "Ljava/lang/Object;", &l->blocker) < 0)
		l->blocker = 0;
	return r;
}

static int read_string_class(const struct classes *c, struct java_thread_layout *l)
{
	uint64_t klass;
	int r = read_known_class(c->vs, KNOWN_CLASS("String"), &klass);

	if (!r)
		r = java_objects_klass_word(&l->objects, klass, &l->of_string);
	if (r < 0 || find(c, klass, "value", "[C", &l->value) == 0)
		return r;
	l->has_coder = true;
	r = find(c, klass, "value", "[B", &l->value);
	return r < 0 ? r : find(c, klass, "coder", "B", &l->coder);
}

static void set_arrays(uint32_t release, struct java_thread_layout *l)
{
	l->array_len = java_objects_header(&l->objects);
	/* JDK 23 moved the first element up to the length. */
	l->array_data = l->objects.narrow_klasses || release >= 23 ? l->array_len + 4 : 24;
}

int java_thread_layout_read(const struct vmstructs *vs, const struct jvm_layout *layout,
			    struct java_thread_layout *ret_layout)
{
	struct java_thread_layout l = { .memory = vmstructs_memory(vs) };
	_cleanup_(vm_pages_freep) struct vm_pages *pages = vm_pages_new(l.memory);
	const struct classes classes = { vs, layout, pages };
	int r = read_heap(vs, &l);

	if (!r)
		r = read_thread(vs, &l);
	if (!r)
		r = read_list(vs, &l);
	if (!r)
		r = read_thread_class(&classes, &l);
	if (!r)
		r = read_string_class(&classes, &l);
	if (r < 0)
		return r;
	set_arrays(layout->feature_release, &l);
	*ret_layout = l;
	return 0;
}
