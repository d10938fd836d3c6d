/* SPDX-License-Identifier: Apache-2.0 */
/* The JVMTI callbacks. They run on the Service Thread, on compiler and application threads. */
#include <string.h>

#include "agent.h"
#include "code.h"
#include "threads.h"

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
	jni = agent_jni(&agent);
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

static void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	(void)jvmti;
	if (!agent_enter(&agent))
		return;
	threads_publish_start(&agent, jni, thread);
	agent_leave(&agent);
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	(void)jvmti;
	if (!agent_enter(&agent))
		return;
	threads_publish_end(&agent, jni, thread);
	alloc_forget_thread(&agent, jni);
	agent_leave(&agent);
}

static void JNICALL on_sampled_object_alloc(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread,
					    jobject object, jclass class, jlong size)
{
	(void)jvmti, (void)thread;
	if (!agent_enter(&agent))
		return;
	if (class && size > 0 && !live_is_ours(&agent.live))
		alloc_sample(&agent, jni, object, class, (uint64_t)size);
	agent_leave(&agent);
}

static void JNICALL on_monitor_contended_enter(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread,
					       jobject object)
{
	(void)jvmti, (void)jni, (void)thread, (void)object;
	if (!agent_enter(&agent))
		return;
	locks_begin_wait(&agent, LOCKS_ENTER);
	agent_leave(&agent);
}

static void JNICALL on_monitor_contended_entered(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread,
						 jobject object)
{
	(void)jvmti, (void)thread;
	if (!agent_enter(&agent))
		return;
	locks_end_wait(&agent, jni, object, LOCKS_ENTER);
	agent_leave(&agent);
}

static void JNICALL on_monitor_wait(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
				    jlong timeout)
{
	(void)jvmti, (void)jni, (void)thread, (void)object, (void)timeout;
	if (!agent_enter(&agent))
		return;
	locks_begin_wait(&agent, LOCKS_WAIT);
	agent_leave(&agent);
}

static void JNICALL on_monitor_waited(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
				      jboolean timed_out)
{
	(void)jvmti, (void)thread, (void)timed_out;
	if (!agent_enter(&agent))
		return;
	locks_end_wait(&agent, jni, object, LOCKS_WAIT);
	agent_leave(&agent);
}

/* The JVM stands still: nothing of it may be called. */
static void JNICALL on_garbage_collection_finish(jvmtiEnv *jvmti)
{
	(void)jvmti;
	if (!agent_enter(&agent))
		return;
	live_collected(&agent);
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

/*
 * The memory stays mapped: other threads may still be in their callbacks. A detach may be running
 * on another thread; it waits for us like for any callback.
 */
static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
	(void)jvmti, (void)jni;
	if (!agent_enter(&agent))
		return;
	__atomic_store_n(&agent.active, 0, __ATOMIC_SEQ_CST);
	control_stop(&agent, 0);
	agent_leave(&agent);
}

void events_fill(jvmtiEventCallbacks *callbacks)
{
	memset(callbacks, 0, sizeof(*callbacks));
	callbacks->CompiledMethodLoad = on_compiled_method_load;
	callbacks->CompiledMethodUnload = on_compiled_method_unload;
	callbacks->DynamicCodeGenerated = on_dynamic_code_generated;
	callbacks->SampledObjectAlloc = on_sampled_object_alloc;
	callbacks->MonitorContendedEnter = on_monitor_contended_enter;
	callbacks->MonitorContendedEntered = on_monitor_contended_entered;
	callbacks->MonitorWait = on_monitor_wait;
	callbacks->MonitorWaited = on_monitor_waited;
	callbacks->GarbageCollectionFinish = on_garbage_collection_finish;
	callbacks->ThreadStart = on_thread_start;
	callbacks->ThreadEnd = on_thread_end;
	callbacks->VMInit = on_vm_init;
	callbacks->VMDeath = on_vm_death;
}
