// SPDX-License-Identifier: Apache-2.0
/*
 * jdk/internal/vm/{ThreadContainers,SharedThreadContainer}.java, java/util/concurrent/{ThreadPerTaskExecutor,ConcurrentHashMap}.java,
 * java/lang/VirtualThread.java, JDK 21 to 28.
 */
#include "jvm/continuation/virtual_layout.h"

#include <errno.h>

#include "base/macros.h"
#include "jvm/continuation/boot_classes.h"
#include "jvm/continuation/jvm_classes.h"
#include "jvm/heap/java_fields.h"

#define OF_SETS "Ljava/util/Set;"

enum {
	CLASS_CONTAINERS,
	CLASS_ROOT,
	CLASS_EXECUTOR,
	CLASS_SHARED,
	CLASS_MAP,
	CLASS_VIEW,
	CLASS_NODE,
	CLASS_COUNT
};

static const char *const class_names[CLASS_COUNT] = {
	[CLASS_CONTAINERS] = "jdk/internal/vm/ThreadContainers",
	[CLASS_ROOT] = "jdk/internal/vm/ThreadContainers$RootContainer$TrackingRootContainer",
	[CLASS_EXECUTOR] = "java/util/concurrent/ThreadPerTaskExecutor",
	[CLASS_SHARED] = "jdk/internal/vm/SharedThreadContainer",
	[CLASS_MAP] = "java/util/concurrent/ConcurrentHashMap",
	[CLASS_VIEW] = "java/util/concurrent/ConcurrentHashMap$CollectionView",
	[CLASS_NODE] = "java/util/concurrent/ConcurrentHashMap$Node",
};

struct reader {
	const struct vmstructs *vs;
	const struct jvm_layout *layout;
	struct vm_pages *pages;
	struct boot_class classes[CLASS_COUNT];
};

static int find_field(const struct reader *r, uint64_t klass, const char *name,
		      const char *signature, uint32_t *ret_offset)
{
	if (!klass)
		return -EAGAIN;
	return java_fields_find(r->vs, r->layout, r->pages, klass, name, signature, ret_offset);
}

/* --- what leads to them ----------------------------------------------------------------------- */

static int read_root(const struct reader *r, uint64_t klass, const char *field,
		     struct virtual_root *ret)
{
	uint64_t mirror;
	int error;

	if (!klass)
		return 0;
	if (vmstructs_field_offset(r->vs, "Klass", "_java_mirror", &mirror) < 0)
		return -EOPNOTSUPP;
	error = find_field(r, klass, field, OF_SETS, &ret->offset);
	return error < 0 ? error
			 : vm_pages_read(r->pages, klass + mirror, &ret->mirror_at,
					 sizeof(ret->mirror_at));
}

static int read_container(const struct reader *r, const struct java_objects *objects,
			  uint64_t klass, const char *field, struct virtual_container *ret)
{
	int error;

	if (!klass)
		return 0;
	error = java_objects_klass_word(objects, klass, &ret->word);
	return error < 0 ? error : find_field(r, klass, field, OF_SETS, &ret->set);
}

/* Neither is loaded before it is needed. */
static int read_roots(const struct reader *r, struct virtual_layout *l)
{
	const struct java_objects *objects = &l->threads.objects;
	const struct boot_class *c = r->classes;
	int error = read_root(r, c[CLASS_ROOT].klass, "VTHREADS", &l->of_threads);

	if (!error)
		error = read_root(r, c[CLASS_CONTAINERS].klass, "CONTAINER_REGISTRY",
				  &l->of_containers);
	if (!error)
		error = read_container(r, objects, c[CLASS_EXECUTOR].klass, "threads",
				       &l->containers[VIRTUAL_EXECUTOR]);
	if (!error)
		error = read_container(r, objects, c[CLASS_SHARED].klass, "virtualThreads",
				       &l->containers[VIRTUAL_SHARED]);
	return error;
}

/* --- fields ----------------------------------------------------------------------------------- */

static int read_sets(const struct reader *r, struct virtual_layout *l)
{
	static const char of_objects[] = "Ljava/lang/Object;";
	const struct boot_class *c = r->classes;
	uint64_t reference;
	int error = find_field(r, c[CLASS_VIEW].klass, "map",
			       "Ljava/util/concurrent/ConcurrentHashMap;", &l->map);

	if (!error)
		error = find_field(r, c[CLASS_MAP].klass, "table",
				   "[Ljava/util/concurrent/ConcurrentHashMap$Node;", &l->table);
	if (!error)
		error = find_field(r, c[CLASS_NODE].klass, "hash", "I", &l->hash);
	if (!error)
		error = find_field(r, c[CLASS_NODE].klass, "key", of_objects, &l->key);
	if (!error)
		error = find_field(r, c[CLASS_NODE].klass, "next",
				   "Ljava/util/concurrent/ConcurrentHashMap$Node;", &l->next);
	if (!error)
		error = jvm_classes_find(r->vs, r->layout, r->pages, "java/lang/ref/Reference",
					 &reference);
	if (!error)
		error = find_field(r, reference, "referent", of_objects, &l->referent);
	return error;
}

static int read_thread(const struct reader *r, struct virtual_layout *l)
{
	uint64_t klass;
	int error = jvm_classes_find(r->vs, r->layout, r->pages, "java/lang/VirtualThread", &klass);

	if (!error)
		error = java_objects_klass_word(&l->threads.objects, klass, &l->of_thread);
	if (!error)
		error = find_field(r, klass, "state", "I", &l->state);
	if (!error)
		error = find_field(r, klass, "carrierThread", "Ljava/lang/Thread;", &l->carrier);
	if (!error)
		error = find_field(r, klass, "cont", "Ljdk/internal/vm/Continuation;", &l->cont);
	return error;
}

/* JDK 23 moved an array's first element up to its length, as far as a reference's alignment allows it. */
static uint32_t elements_of(const struct java_thread_layout *l, uint32_t release)
{
	uint32_t behind = l->array_len + 4;

	if (release >= 23)
		return l->objects.narrow_oops ? behind : (behind + 7) & ~7U;
	return l->objects.narrow_klasses ? 16 : 24;
}

int virtual_layout_read(const struct vmstructs *vs, const struct jvm_layout *layout,
			struct virtual_layout *ret_layout)
{
	_cleanup_(vm_pages_freep) struct vm_pages *pages = vm_pages_new(vmstructs_memory(vs));
	struct reader reader = { .vs = vs, .layout = layout, .pages = pages };
	struct virtual_layout l = { .chunks = layout->wire.chunks };
	int r;

	if (!l.chunks.klass_mask)
		return -EOPNOTSUPP;
	for (size_t i = 0; i < CLASS_COUNT; i++)
		reader.classes[i].name = class_names[i];
	r = java_thread_layout_read(vs, layout, &l.threads);
	if (!r)
		r = boot_classes_find(vs, layout, pages, reader.classes, CLASS_COUNT);
	if (!r)
		r = read_thread(&reader, &l);
	if (!r)
		r = read_sets(&reader, &l);
	if (!r)
		r = read_roots(&reader, &l);
	if (!r && (!l.threads.id || !l.threads.has_coder))
		r = -EOPNOTSUPP;
	if (r < 0)
		return r == -ENODATA ? -EOPNOTSUPP : r;
	l.elements = elements_of(&l.threads, layout->feature_release);
	*ret_layout = l;
	return 0;
}
