/* SPDX-License-Identifier: Apache-2.0 */
#include "classes.h"

#include <string.h>

#include "agent.h"

/* Longer names are cut. */
#define CLASSES_NAME_MAX 8192

/* False: it is not in the ring. */
static bool publish_class(struct agent *a, uint64_t id, const char *signature)
{
	size_t name_len = strnlen(signature, CLASSES_NAME_MAX);
	struct codemap_class *c;

	c = (void *)agent_reserve(a, CODEMAP_CLASS, (uint32_t)(sizeof(*c) + name_len),
				  agent_now_ns());
	if (!c)
		return false;
	c->id = id;
	c->name_len = (uint32_t)name_len;
	c->pad = 0;
	memcpy(c + 1, signature, name_len);
	ring_commit(&a->ring, &c->record);
	return true;
}

/* Two threads may name one class at once: then it has two ids of the same name. 0: it has none. */
static uint64_t name_class(struct agent *a, jclass class)
{
	jvmtiEnv *jvmti = a->jvmti;
	uint64_t id = __atomic_add_fetch(&a->classes.next, 1, __ATOMIC_RELAXED);
	char *signature = NULL;
	bool named;

	if ((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) || !signature)
		return 0;
	named = publish_class(a, id, signature);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	if (!named)
		return 0;
	(*jvmti)->SetTag(jvmti, class, (jlong)id);
	return id;
}

uint64_t classes_id(struct agent *a, jclass class)
{
	uint64_t first = __atomic_load_n(&a->classes.first, __ATOMIC_ACQUIRE);
	jlong tag = 0;

	if (!(*a->jvmti)->GetTag(a->jvmti, class, &tag) && tag > 0 && (uint64_t)tag >= first)
		return (uint64_t)tag;
	return name_class(a, class);
}

/* The JVM's tables of tags are looked through in every collection: they end with our need of them. */
static void forget_classes(struct agent *a, JNIEnv *jni)
{
	jvmtiEnv *jvmti = a->jvmti;
	jclass *classes = NULL;
	jint count = 0;

	if ((*jvmti)->GetLoadedClasses(jvmti, &count, &classes) || !classes)
		return;
	/* -Xcheck:jni complains of more references than were announced. */
	(*jni)->EnsureLocalCapacity(jni, count);
	agent_clear_exception(jni);
	for (jint i = 0; i < count; i++) {
		jlong tag = 0;

		if (!(*jvmti)->GetTag(jvmti, classes[i], &tag) && tag)
			(*jvmti)->SetTag(jvmti, classes[i], 0);
		(*jni)->DeleteLocalRef(jni, classes[i]);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
}

void classes_begin(struct agent *a)
{
	__atomic_store_n(&a->classes.first, __atomic_load_n(&a->classes.next, __ATOMIC_RELAXED) + 1,
			 __ATOMIC_RELEASE);
}

void classes_end(struct agent *a)
{
	JNIEnv *jni = agent_jni(a);

	if (jni)
		forget_classes(a, jni);
}
