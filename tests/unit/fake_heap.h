/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JVM's heap as far as weak references show it: objects that are alive until a test says otherwise, and
 * strings that nobody refers to, which the next collection takes. What refers to them is counted.
 * Included by fake_jvm_state.h.
 */
#ifndef HOSTPROF_TESTS_FAKE_HEAP_H
#define HOSTPROF_TESTS_FAKE_HEAP_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdlib.h>

struct fake_object {
	bool dead;
	bool garbage; /* it dies in the next collection */
};

struct fake_weak {
	struct fake_object *object; /* borrowed */
};

struct fake_heap {
	struct fake_object canaries[256]; /* strings that were made */
	unsigned int canary_count;
	long weak; /* references, not deleted */
	bool no_weak;
	bool no_collection; /* asked for one, the JVM refuses */
	unsigned int looks; /* whether an object is alive */
	unsigned int forced;
	void (*looking)(void); /* while one is looked at */
};

static struct fake_heap fake_heap;

static void fake_heap_reset(void)
{
	memset(&fake_heap, 0, sizeof(fake_heap));
}

static jweak JNICALL fake_new_weak(JNIEnv *jni, jobject object)
{
	struct fake_weak *weak;

	(void)jni;
	if (fake_heap.no_weak)
		return NULL;
	weak = malloc(sizeof(*weak));
	weak->object = (void *)object;
	__atomic_fetch_add(&fake_heap.weak, 1, __ATOMIC_SEQ_CST);
	return (void *)weak;
}

/* Twice: the sanitizer tells. */
static void JNICALL fake_delete_weak(JNIEnv *jni, jweak weak)
{
	(void)jni;
	__atomic_fetch_sub(&fake_heap.weak, 1, __ATOMIC_SEQ_CST);
	free(weak);
}

/* Of a weak reference and NULL only. */
static jboolean JNICALL fake_is_same(JNIEnv *jni, jobject weak, jobject null)
{
	const struct fake_weak *w = (void *)weak;

	(void)jni, (void)null;
	__atomic_fetch_add(&fake_heap.looks, 1, __ATOMIC_SEQ_CST);
	if (fake_heap.looking)
		fake_heap.looking();
	return w->object->dead;
}

/* A string of its own each time. */
static struct fake_object *fake_canary(void)
{
	struct fake_object *canary = &fake_heap.canaries[fake_heap.canary_count++ % 256];

	*canary = (struct fake_object){ .garbage = true };
	return canary;
}

/* A collection that looks at young objects. */
static void fake_heap_collect(void)
{
	for (unsigned int i = 0; i < 256; i++)
		fake_heap.canaries[i].dead |= fake_heap.canaries[i].garbage;
}

#endif
