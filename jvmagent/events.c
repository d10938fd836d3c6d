/* SPDX-License-Identifier: Apache-2.0 */
/* The JVMTI callbacks. They run on the Service Thread, on compiler and application threads. */
#include <string.h>

#include "agent.h"
#include "code.h"

static JNIEnv *current_jni(const struct agent *a)
{
	void *jni = NULL;

	return (*a->vm)->GetEnv(a->vm, &jni, JNI_VERSION_1_6) == JNI_OK ? jni : NULL;
}

/* JVMTI's signature. NOLINTNEXTLINE(readability-function-size) */
static void JNICALL on_compiled_method_load(jvmtiEnv *jvmti, jmethodID method, jint code_size,
					    const void *code_addr, jint map_length,
					    const jvmtiAddrLocationMap *map,
					    const void *compile_info)
{
	struct code_event event = { method, code_addr, (uint32_t)code_size, compile_info, 0 };
	JNIEnv *jni;

	(void)jvmti, (void)map_length, (void)map;
	if (!agent_enter(&agent))
		return;
	event.time_ns = agent_now_ns();
	jni = current_jni(&agent);
	if (jni && code_size > 0)
		code_publish(&agent, jni, &event);
	agent_leave(&agent);
}

static void JNICALL on_compiled_method_unload(jvmtiEnv *jvmti, jmethodID method,
					      const void *code_addr)
{
	struct codemap_unload *unload;

	(void)jvmti, (void)method;
	if (!agent_enter(&agent))
		return;
	unload = (void *)agent_reserve(&agent, CODEMAP_UNLOAD, sizeof(*unload), agent_now_ns());
	if (unload) {
		unload->address = (uint64_t)(uintptr_t)code_addr;
		ring_commit(&agent.ring, &unload->record);
	}
	agent_leave(&agent);
}

static void publish_dynamic(struct agent *a, const char *name, const void *address, jint length)
{
	size_t name_len = strnlen(name, 1024);
	struct codemap_dynamic *d;
	uint64_t now = agent_now_ns();

	d = (void *)agent_reserve(a, CODEMAP_DYNAMIC, (uint32_t)(sizeof(*d) + name_len), now);
	if (!d)
		return;
	if (agent_is_replaying(a))
		d->record.flags |= CODEMAP_FLAG_REPLAYED;
	d->address = (uint64_t)(uintptr_t)address;
	d->code_bytes = (uint32_t)length;
	d->name_len = (uint32_t)name_len;
	memcpy(d + 1, name, name_len);
	ring_commit(&a->ring, &d->record);
}

static void JNICALL on_dynamic_code_generated(jvmtiEnv *jvmti, const char *name,
					      const void *address, jint length)
{
	(void)jvmti;
	if (!agent_enter(&agent))
		return;
	if (name && length > 0)
		publish_dynamic(&agent, name, address, length);
	agent_leave(&agent);
}

static uint64_t java_thread_id(struct agent *a, JNIEnv *jni, jthread thread)
{
	if (!a->thread_tid || !thread)
		return 0;
	return (uint64_t)(*jni)->GetLongField(jni, thread, a->thread_tid);
}

static void publish_thread(struct agent *a, uint16_t kind, uint64_t java_tid, const char *name)
{
	size_t name_len = name ? strnlen(name, 1024) : 0;
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

/* Thread events run on the thread itself, so that gettid() is the thread's. */
static void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	jvmtiThreadInfo info;

	if (!agent_enter(&agent))
		return;
	memset(&info, 0, sizeof(info));
	if (!(*jvmti)->GetThreadInfo(jvmti, thread, &info)) {
		publish_thread(&agent, CODEMAP_THREAD, java_thread_id(&agent, jni, thread),
			       info.name);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)info.name);
		(*jni)->DeleteLocalRef(jni, info.thread_group);
		(*jni)->DeleteLocalRef(jni, info.context_class_loader);
	}
	agent_leave(&agent);
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	(void)jvmti;
	if (!agent_enter(&agent))
		return;
	publish_thread(&agent, CODEMAP_THREAD_END, java_thread_id(&agent, jni, thread), NULL);
	agent_leave(&agent);
}

/* Only asked for by -agentpath: before this the JVM cannot run our thread. */
static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	(void)jvmti, (void)thread;
	if (!agent_enter(&agent))
		return;
	control_start(&agent, jni);
	agent_leave(&agent);
}

/* The memory stays mapped: other threads may still be in their callbacks. */
static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
	(void)jvmti, (void)jni;
	__atomic_store_n(&agent.active, 0, __ATOMIC_SEQ_CST);
	control_stop(&agent, 0);
}

void events_fill(jvmtiEventCallbacks *callbacks)
{
	memset(callbacks, 0, sizeof(*callbacks));
	callbacks->CompiledMethodLoad = on_compiled_method_load;
	callbacks->CompiledMethodUnload = on_compiled_method_unload;
	callbacks->DynamicCodeGenerated = on_dynamic_code_generated;
	callbacks->ThreadStart = on_thread_start;
	callbacks->ThreadEnd = on_thread_end;
	callbacks->VMInit = on_vm_init;
	callbacks->VMDeath = on_vm_death;
}
