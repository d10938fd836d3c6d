/* SPDX-License-Identifier: Apache-2.0 */
#include "threads.h"

#include <string.h>

/* Longer names are cut; the kernel's own have 15 bytes. */
#define THREADS_NAME_MAX 1024
/* Local references that one thread's data take, with room to spare. */
#define THREADS_LOCAL_REFS 32

static jfieldID find_long_field(JNIEnv *jni, jclass class, const char *name)
{
	jfieldID field = (*jni)->GetFieldID(jni, class, name, "J");

	return agent_clear_exception(jni) ? NULL : field;
}

void threads_init(struct agent *a, JNIEnv *jni, jclass class)
{
	a->thread_tid = find_long_field(jni, class, "tid");
	a->thread_eetop = find_long_field(jni, class, "eetop");
}

static uint64_t read_long(JNIEnv *jni, jthread thread, jfieldID field)
{
	return field && thread ? (uint64_t)(*jni)->GetLongField(jni, thread, field) : 0;
}

static void publish_own(struct agent *a, uint16_t kind, uint64_t java_tid, const char *name)
{
	size_t name_len = name ? strnlen(name, THREADS_NAME_MAX) : 0;
	struct codemap_thread *t;
	uint64_t now = agent_now_ns();

	t = (void *)agent_reserve(a, kind, (uint32_t)(sizeof(*t) + name_len), now);
	if (!t)
		return;
	t->tid = agent_gettid();
	t->name_len = (uint32_t)name_len;
	t->java_tid = java_tid;
	if (name_len)
		memcpy(t + 1, name, name_len);
	ring_commit(&a->ring, &t->record);
}

static bool read_info(struct agent *a, jthread thread, jvmtiThreadInfo *ret_info)
{
	return !(*a->jvmti)->GetThreadInfo(a->jvmti, thread, ret_info);
}

static void release_info(struct agent *a, JNIEnv *jni, const jvmtiThreadInfo *info)
{
	(*a->jvmti)->Deallocate(a->jvmti, (unsigned char *)info->name);
	(*jni)->DeleteLocalRef(jni, info->thread_group);
	(*jni)->DeleteLocalRef(jni, info->context_class_loader);
}

void threads_publish_start(struct agent *a, JNIEnv *jni, jthread thread)
{
	jvmtiThreadInfo info;

	if (!read_info(a, thread, &info))
		return;
	publish_own(a, CODEMAP_THREAD, read_long(jni, thread, a->thread_tid), info.name);
	release_info(a, jni, &info);
}

void threads_publish_end(struct agent *a, JNIEnv *jni, jthread thread)
{
	publish_own(a, CODEMAP_THREAD_END, read_long(jni, thread, a->thread_tid), NULL);
}

static void publish_seen(struct agent *a, uint64_t java_thread, uint64_t java_tid, const char *name)
{
	size_t name_len = strnlen(name, THREADS_NAME_MAX);
	struct codemap_thread_seen *t;
	uint64_t now = agent_now_ns();
	uint32_t size = (uint32_t)(sizeof(*t) + name_len);

	t = (void *)agent_reserve(a, CODEMAP_THREAD_SEEN, size, now);
	if (!t)
		return;
	t->record.flags |= CODEMAP_FLAG_REPLAYED;
	t->java_thread = java_thread;
	t->java_tid = java_tid;
	t->name_len = (uint32_t)name_len;
	t->pad = 0;
	memcpy(t + 1, name, name_len);
	ring_commit(&a->ring, &t->record);
}

/* eetop is 0 before a thread's start and after its end (javaClasses.cpp, java_lang_Thread). */
static void replay_thread(struct agent *a, JNIEnv *jni, jthread thread)
{
	uint64_t java_thread = read_long(jni, thread, a->thread_eetop);
	jvmtiThreadInfo info;

	if (!java_thread || !read_info(a, thread, &info))
		return;
	if (info.name)
		publish_seen(a, java_thread, read_long(jni, thread, a->thread_tid), info.name);
	release_info(a, jni, &info);
}

static void replay_all(struct agent *a, JNIEnv *jni)
{
	jthread *threads = NULL;
	jint count = 0;

	if ((*a->jvmti)->GetAllThreads(a->jvmti, &count, &threads) || !threads)
		return;
	/* -Xcheck:jni complains of more references than were announced. */
	(*jni)->EnsureLocalCapacity(jni, count + THREADS_LOCAL_REFS);
	agent_clear_exception(jni);
	for (jint i = 0; i < count; i++) {
		replay_thread(a, jni, threads[i]);
		(*jni)->DeleteLocalRef(jni, threads[i]);
	}
	(*a->jvmti)->Deallocate(a->jvmti, (unsigned char *)threads);
}

void threads_replay(struct agent *a, JNIEnv *jni)
{
	if (!jni || !a->thread_eetop)
		return;
	if ((*jni)->PushLocalFrame(jni, THREADS_LOCAL_REFS)) {
		agent_clear_exception(jni);
		return;
	}
	replay_all(a, jni);
	(*jni)->PopLocalFrame(jni, NULL);
}
