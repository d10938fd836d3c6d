/* SPDX-License-Identifier: Apache-2.0 */
/* JVMTI of a JVM that is made up. Included by fake_jvmti.h. */
#ifndef HOSTPROF_TESTS_FAKE_JVMTI_TABLE_H
#define HOSTPROF_TESTS_FAKE_JVMTI_TABLE_H

#include "fake_jvm_state.h"

static jvmtiError JNICALL fake_deallocate(jvmtiEnv *env, unsigned char *memory)
{
	(void)env;
	assert_ptr_not_equal(memory, fake_poison);
	if (memory)
		__atomic_fetch_sub(&fake.allocated, 1, __ATOMIC_SEQ_CST);
	free(memory);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_set_mode(jvmtiEnv *env, jvmtiEventMode mode, jvmtiEvent event,
					jthread thread, ...)
{
	(void)env, (void)thread;
	__atomic_store_n(&fake.on[event], mode == JVMTI_ENABLE, __ATOMIC_SEQ_CST);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_set_callbacks(jvmtiEnv *env, const jvmtiEventCallbacks *callbacks,
					     jint size)
{
	(void)env;
	fake.callbacks = *callbacks;
	return size == sizeof(*callbacks) ? JVMTI_ERROR_NONE : JVMTI_ERROR_ILLEGAL_ARGUMENT;
}

static jvmtiError JNICALL fake_add_capabilities(jvmtiEnv *env, const jvmtiCapabilities *wanted)
{
	const unsigned char *w = (const void *)wanted, *refused = (const void *)&fake.refused;

	(void)env;
	for (size_t i = 0; i < sizeof(*wanted); i++)
		if (w[i] & refused[i])
			return JVMTI_ERROR_NOT_AVAILABLE;
	fake.monitor_events |= wanted->can_generate_monitor_events;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_relinquish(jvmtiEnv *env, const jvmtiCapabilities *given)
{
	(void)env;
	assert_true(given->can_generate_monitor_events && fake.monitor_events);
	fake.monitor_events = false;
	return JVMTI_ERROR_NONE;
}

/* The thread is the calling one. */
static jvmtiError JNICALL fake_store(jvmtiEnv *env, jthread thread, const void *data)
{
	(void)env;
	assert_null(thread);
	fake.stored = data;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_load(jvmtiEnv *env, jthread thread, void **ret_data)
{
	(void)env;
	assert_null(thread);
	*ret_data = (void *)(uintptr_t)fake.stored;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_hash_code(jvmtiEnv *env, jobject object, jint *ret_hash)
{
	(void)env;
	*ret_hash = (jint)((void *)object == (void *)&fake.methods[0] ? 0x7abcdef1 : 17);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_version(jvmtiEnv *env, jint *ret_version)
{
	(void)env;
	*ret_version = fake.jvmti_version;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_property(jvmtiEnv *env, const char *name, char **ret_value)
{
	(void)env;
	if (strcmp(name, "java.vm.version") || !fake.vm_version)
		return JVMTI_ERROR_NOT_AVAILABLE;
	*ret_value = fake_text(fake.vm_version);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_method_name(jvmtiEnv *env, jmethodID method, char **ret_name,
					   char **ret_signature, char **ret_generic)
{
	(void)env, (void)ret_generic;
	*ret_name = *ret_signature = fake_poison;
	if (fake.naming)
		fake.naming(method);
	if (!fake_method_of(method)->name)
		return JVMTI_ERROR_INVALID_METHODID;
	*ret_name = fake_text(fake_method_of(method)->name);
	*ret_signature = fake_text(fake_method_of(method)->descriptor);
	return JVMTI_ERROR_NONE;
}

/* Each method has a class of its own here: the class is the method. */
static jvmtiError JNICALL fake_declaring_class(jvmtiEnv *env, jmethodID method, jclass *ret_class)
{
	(void)env;
	if (fake.fails == FAKE_DECLARING_CLASS)
		return JVMTI_ERROR_INVALID_METHODID;
	*ret_class = fake_reference(fake_method_of(method));
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_signature(jvmtiEnv *env, jclass class, char **ret_signature,
					 char **ret_generic)
{
	const struct fake_method *m = (void *)class;

	(void)env, (void)ret_generic;
	*ret_signature = fake_poison;
	if (!m->class_signature)
		return JVMTI_ERROR_INVALID_CLASS;
	*ret_signature = fake_text(m->class_signature);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_get_tag(jvmtiEnv *env, jobject object, jlong *ret_tag)
{
	(void)env;
	*ret_tag = fake.tags[(struct fake_method *)(void *)object - fake.methods];
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_set_tag(jvmtiEnv *env, jobject object, jlong tag)
{
	(void)env;
	fake.tags[(struct fake_method *)(void *)object - fake.methods] = tag;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_loaded_classes(jvmtiEnv *env, jint *ret_count, jclass **ret_classes)
{
	jclass classes[FAKE_METHODS];

	(void)env;
	for (jint i = 0; i < fake.loaded; i++)
		classes[i] = fake_reference(&fake.methods[i]);
	*ret_classes = fake_given(classes, sizeof(classes));
	*ret_count = fake.loaded;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_set_interval(jvmtiEnv *env, jint interval)
{
	void (*others)(void) = fake.interval_set;

	(void)env;
	assert_true(interval > 0);
	if (fake.interval < 0)
		return JVMTI_ERROR_ILLEGAL_ARGUMENT;
	fake.interval = interval;
	fake.intervals++;
	fake.interval_set = NULL;
	if (others)
		others();
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_source(jvmtiEnv *env, jclass class, char **ret_name)
{
	const struct fake_method *m = (void *)class;

	(void)env;
	*ret_name = fake_poison;
	if (!m->source)
		return JVMTI_ERROR_ABSENT_INFORMATION;
	*ret_name = fake_text(m->source);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_lines(jvmtiEnv *env, jmethodID method, jint *ret_count,
				     jvmtiLineNumberEntry **ret_lines)
{
	const struct fake_method *m = fake_method_of(method);
	jvmtiLineNumberEntry *lines;

	(void)env;
	*ret_count = 77;
	*ret_lines = (void *)fake_poison;
	if (!m->line_count)
		return JVMTI_ERROR_ABSENT_INFORMATION;
	*ret_count = m->line_count;
	if (m->line_count <= FAKE_LINES) {
		*ret_lines = fake_given(m->lines, sizeof(m->lines));
		return JVMTI_ERROR_NONE;
	}
	/* More than a test can write down: line N is at bci N. */
	lines = calloc((size_t)m->line_count, sizeof(*lines));
	__atomic_fetch_add(&fake.allocated, 1, __ATOMIC_SEQ_CST);
	for (jint i = 0; i < m->line_count; i++)
		lines[i] = (jvmtiLineNumberEntry){ i, i };
	*ret_lines = lines;
	return JVMTI_ERROR_NONE;
}

/* One that JVMTI tells of; SCAVENGES: it looks at young objects. */
static void fake_collection(bool scavenges)
{
	if (scavenges)
		fake_heap_collect();
	if (fake.on[JVMTI_EVENT_GARBAGE_COLLECTION_FINISH])
		fake.callbacks.GarbageCollectionFinish(NULL);
}

static jvmtiError JNICALL fake_force_collection(jvmtiEnv *env)
{
	(void)env;
	fake_heap.forced++;
	if (fake_heap.no_collection)
		return JVMTI_ERROR_INTERNAL;
	fake_collection(true);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_generate(jvmtiEnv *env, jvmtiEvent event)
{
	(void)env;
	if (fake.generate)
		fake.generate(event);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_top_groups(jvmtiEnv *env, jint *ret_count, jthreadGroup **ret_groups)
{
	jthreadGroup groups[] = { (void *)&fake_groups[0], (void *)&fake_groups[1] };

	(void)env;
	if (fake.fails == FAKE_TOP_GROUPS)
		return JVMTI_ERROR_INTERNAL;
	*ret_groups = fake_given(groups, sizeof(groups));
	*ret_count = fake.fails == FAKE_NO_GROUPS ? 0 : 2;
	for (jint i = 0; i < *ret_count; i++)
		fake_reference(groups[i]);
	return JVMTI_ERROR_NONE;
}

struct fake_start {
	jvmtiStartFunction proc;
	void *arg;
};

static struct fake_start fake_start;

static void *fake_run_thread(void *arg);

static jvmtiError JNICALL fake_run_agent_thread(jvmtiEnv *env, jthread thread,
						jvmtiStartFunction proc, const void *arg,
						jint priority)
{
	(void)env;
	if (fake.no_agent_thread || (void *)thread != (void *)&fake_agent_thread ||
	    priority != JVMTI_THREAD_NORM_PRIORITY)
		return JVMTI_ERROR_INVALID_PRIORITY;
	fake_start = (struct fake_start){ proc, (void *)(uintptr_t)arg };
	fake.agent_threads++;
	return pthread_create(&fake.control, NULL, fake_run_thread, NULL) ? JVMTI_ERROR_INTERNAL
									  : JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_thread_info(jvmtiEnv *env, jthread thread, jvmtiThreadInfo *ret_info)
{
	const struct fake_thread *t = (void *)thread;

	(void)env;
	if (t < fake.threads || t >= fake.threads + FAKE_THREADS)
		return JVMTI_ERROR_INVALID_THREAD;
	ret_info->name = fake_text(t->name);
	ret_info->thread_group = fake_reference(&fake_groups[1]);
	ret_info->context_class_loader = NULL;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_all_threads(jvmtiEnv *env, jint *ret_count, jthread **ret_threads)
{
	jthread threads[FAKE_THREADS];

	(void)env;
	if (fake.fails == FAKE_ALL_THREADS)
		return JVMTI_ERROR_INTERNAL;
	for (jint i = 0; i < fake.thread_count; i++)
		threads[i] = fake_reference(&fake.threads[i]);
	*ret_threads = fake_given(threads, sizeof(threads));
	*ret_count = fake.thread_count;
	return JVMTI_ERROR_NONE;
}

static const struct jvmtiInterface_1_ fake_jvmti_table = {
	.SetEventNotificationMode = fake_set_mode,
	.GetAllThreads = fake_all_threads,
	.GetThreadInfo = fake_thread_info,
	.RunAgentThread = fake_run_agent_thread,
	.RelinquishCapabilities = fake_relinquish,
	.SetThreadLocalStorage = fake_store,
	.GetThreadLocalStorage = fake_load,
	.GetObjectHashCode = fake_hash_code,
	.GetTopThreadGroups = fake_top_groups,
	.Deallocate = fake_deallocate,
	.GetClassSignature = fake_signature,
	.GetSourceFileName = fake_source,
	.GetMethodName = fake_method_name,
	.GetMethodDeclaringClass = fake_declaring_class,
	.GetLineNumberTable = fake_lines,
	.GetVersionNumber = fake_version,
	.SetEventCallbacks = fake_set_callbacks,
	.GenerateEvents = fake_generate,
	.GetSystemProperty = fake_property,
	.AddCapabilities = fake_add_capabilities,
	.GetTag = fake_get_tag,
	.SetTag = fake_set_tag,
	.GetLoadedClasses = fake_loaded_classes,
	.SetHeapSamplingInterval = fake_set_interval,
	.ForceGarbageCollection = fake_force_collection,
};
static jvmtiEnv fake_jvmti = &fake_jvmti_table;

#endif
