/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JVM as the agent sees it: tables of JVMTI, JNI and the invocation interface over methods and
 * threads that a test makes up. The agent's sources are compiled into the test. What JVMTI gives
 * out, and local references, are counted: a test ends with both at 0 (fake_check_balance()).
 */
#ifndef HOSTPROF_TESTS_FAKE_JVMTI_H
#define HOSTPROF_TESTS_FAKE_JVMTI_H

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The agent's clock is the test's: ours, and what a test lets pass. */
static uint64_t fake_passed_ns;

static int fake_clock(clockid_t id, struct timespec *ret)
{
	uint64_t ns;

	clock_gettime(id, ret);
	ns = (uint64_t)ret->tv_sec * 1000000000 + (uint64_t)ret->tv_nsec + fake_passed_ns;
	ret->tv_sec = (time_t)(ns / 1000000000);
	ret->tv_nsec = (long)(ns % 1000000000);
	return 0;
}

/* Who sleeps lets time pass. */
static int fake_nanosleep(const struct timespec *time, struct timespec *rest)
{
	const struct timespec moment = { 0, 100000 };

	(void)rest;
	__atomic_fetch_add(&fake_passed_ns,
			   (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec,
			   __ATOMIC_SEQ_CST);
	return nanosleep(&moment, NULL);
}

#include "fake_agent_os.h"
#define clock_gettime fake_clock
#define nanosleep     fake_nanosleep
#include "agent.c"
#include "alloc.c"
#include "classes.c"
#undef clock_gettime
#undef nanosleep
#include "code.c"
#define nanosleep fake_control_sleep
#include "control.c"
#undef nanosleep
#include "events.c"
#include "live.c"
#include "locks.c"
#include "methods.c"
#include "ring.c"
#include "threads.c"
#undef mmap
#undef madvise
#undef ftruncate
#undef fallocate
#undef syscall

/* What the agent's probe was told last, and how often it was hit. */
static struct {
	uint64_t class_id, size, interval, object_id;
	uint32_t hits;
} fake_hit;

void hostprof_alloc(uint64_t class_id, uint64_t size, uint64_t interval, uint64_t object_id)
{
	fake_hit.class_id = class_id;
	fake_hit.size = size;
	fake_hit.interval = interval;
	fake_hit.object_id = object_id;
	fake_hit.hits++;
}

static struct {
	uint64_t class_id, length_ns, chance, identity, kind, begin_ns;
	uint64_t sum_ns; /* of lengths times chances */
	uint32_t hits;
	/* hostprof_lock_begin() */
	uint64_t begun_ns;
	uint32_t begins;
} fake_lock;

void hostprof_lock_begin(uint64_t begin_ns)
{
	fake_lock.begun_ns = begin_ns;
	fake_lock.begins++;
}

void hostprof_lock(uint64_t class_id, uint64_t length_ns, uint64_t chance, uint64_t identity,
		   uint64_t kind, uint64_t begin_ns)
{
	fake_lock.begin_ns = begin_ns;
	fake_lock.class_id = class_id;
	fake_lock.length_ns = length_ns;
	fake_lock.chance = chance;
	fake_lock.identity = identity;
	fake_lock.kind = kind;
	fake_lock.sum_ns += length_ns * chance;
	fake_lock.hits++;
}

#define FAKE_METHODS 4000
#define FAKE_THREADS 8
#define FAKE_LINES   4
#define CODE	     ((const void *)0x7f1000001000)
#define STUB	     ((const void *)0x7f1000100000)
#define BOTH	     (CODEMAP_WANT_CODE | CODEMAP_WANT_THREADS)
#define ALL	     (BOTH | CODEMAP_WANT_ALLOC | CODEMAP_WANT_LIVE | CODEMAP_WANT_LOCKS)

#include "fake_heap.h"

struct fake_method {
	const char *class_signature; /* NULL: the class is gone */
	const char *name;
	const char *descriptor;
	const char *source;
	jvmtiLineNumberEntry lines[FAKE_LINES];
	jint line_count;
};

struct fake_thread {
	const char *name;
	jlong tid, eetop;
};

/* Which call into the JVM leaves an exception, or fails. */
enum fake_failure {
	FAKE_NO_FAILURE,
	FAKE_FIND_CLASS,
	FAKE_NO_CLASS, /* NULL, and no exception */
	FAKE_GET_METHOD,
	FAKE_NEW_STRING,
	FAKE_NO_STRING, /* NULL, and no exception */
	FAKE_NEW_OBJECT,
	FAKE_TOP_GROUPS,
	FAKE_NO_GROUPS, /* none */
	FAKE_ALL_THREADS,
	FAKE_PUSH_FRAME,
	FAKE_CAPACITY,
	FAKE_DECLARING_CLASS,
};

struct fake_jvm {
	struct fake_method methods[FAKE_METHODS];
	struct fake_thread threads[FAKE_THREADS];
	jint thread_count;
	const char *vm_version;
	jint jvmti_version;
	jvmtiCapabilities refused;
	jvmtiEventCallbacks callbacks;
	bool on[JVMTI_MAX_EVENT_TYPE_VAL + 1];
	void (*generate)(jvmtiEvent event); /* what exists is reported again */
	void (*naming)(jmethodID method);   /* a method's name is asked for */
	bool no_jni;			    /* the thread is no Java thread */
	bool exception;			    /* the next check finds one */
	bool no_agent_thread;
	bool no_jvmti;
	enum fake_failure fails;
	jlong tags[FAKE_METHODS]; /* of classes */
	jint loaded;		  /* classes, the first ones */
	jint interval;		  /* between samples of allocations; -1: it cannot be set */
	int intervals;		  /* times that it was set */
	int environments;	  /* of JVMTI, that were asked for */
	void (*asked)(void);	  /* an environment is asked for */
	jint capacity;		  /* of local references, announced last */
	int frames;		  /* of local references, not popped */
	int allocated;		  /* by JVMTI, not given back */
	int references;		  /* local ones, not given back */
	pthread_t control;	  /* the agent's thread */
	int agent_threads;	  /* that were started */
	jthreadGroup group;	  /* of the agent's thread */
	bool monitor_events;	  /* the capability is held */
	const void *stored;	  /* the thread's local storage */
};

static struct fake_jvm fake;

/* Any address that is nothing else serves as a handle. */
static char fake_class, fake_field_tid, fake_field_eetop, fake_groups[2], fake_agent_thread;

/* What a call that fails leaves in its outputs: nobody may use it or give it back. */
static char fake_poison[1];

static void *fake_given(const void *data, size_t size)
{
	void *copy = malloc(size);

	memcpy(copy, data, size);
	__atomic_fetch_add(&fake.allocated, 1, __ATOMIC_SEQ_CST);
	return copy;
}

static char *fake_text(const char *text)
{
	return text ? fake_given(text, strlen(text) + 1) : NULL;
}

static void *fake_reference(void *object)
{
	__atomic_fetch_add(&fake.references, 1, __ATOMIC_SEQ_CST);
	return object;
}

static struct fake_method *fake_method_of(jmethodID method)
{
	return (void *)method;
}

static jmethodID fake_id(int method)
{
	return (void *)&fake.methods[method];
}

static jthread fake_thread_id(int thread)
{
	return (void *)&fake.threads[thread];
}

/* --- JVMTI ------------------------------------------------------------------------------------- */

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
	(void)env;
	assert_true(interval > 0);
	if (fake.interval < 0)
		return JVMTI_ERROR_ILLEGAL_ARGUMENT;
	fake.interval = interval;
	fake.intervals++;
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

/* --- JNI --------------------------------------------------------------------------------------- */

static jboolean JNICALL fake_exception_check(JNIEnv *jni)
{
	(void)jni;
	return fake.exception;
}

static void JNICALL fake_exception_clear(JNIEnv *jni)
{
	(void)jni;
	fake.exception = false;
}

static bool fake_throws(enum fake_failure failure)
{
	fake.exception |= fake.fails == failure;
	return fake.fails == failure;
}

static void JNICALL fake_delete_reference(JNIEnv *jni, jobject object)
{
	(void)jni;
	if (object)
		__atomic_fetch_sub(&fake.references, 1, __ATOMIC_SEQ_CST);
}

static jclass JNICALL fake_find_class(JNIEnv *jni, const char *name)
{
	(void)jni;
	if (fake_throws(FAKE_FIND_CLASS) || fake.fails == FAKE_NO_CLASS)
		return NULL;
	return strcmp(name, "java/lang/Thread") ? NULL : fake_reference(&fake_class);
}

static jfieldID JNICALL fake_field(JNIEnv *jni, jclass class, const char *name, const char *type)
{
	(void)jni, (void)class;
	if (!strcmp(type, "J") && !strcmp(name, "tid"))
		return (void *)&fake_field_tid;
	if (!strcmp(type, "J") && !strcmp(name, "eetop"))
		return (void *)&fake_field_eetop;
	fake.exception = true;
	return NULL;
}

static jmethodID JNICALL fake_method(JNIEnv *jni, jclass class, const char *name, const char *type)
{
	(void)jni, (void)class, (void)name, (void)type;
	return fake_throws(FAKE_GET_METHOD) ? NULL : fake_id(0);
}

static jstring JNICALL fake_string(JNIEnv *jni, const char *text)
{
	(void)jni;
	if (fake_throws(FAKE_NEW_STRING) || fake.fails == FAKE_NO_STRING)
		return NULL;
	return fake_reference(*text ? (void *)&fake_class : fake_canary());
}

static jobject JNICALL fake_new_object(JNIEnv *jni, jclass class, jmethodID method, ...)
{
	va_list ap;

	(void)jni, (void)class;
	assert_false(fake.exception); /* nothing may be called then */
	if (fake_throws(FAKE_NEW_OBJECT))
		return NULL;
	va_start(ap, method);
	fake.group = va_arg(ap, jthreadGroup);
	va_end(ap);
	return fake_reference(&fake_agent_thread);
}

static jlong JNICALL fake_long(JNIEnv *jni, jobject object, jfieldID field)
{
	const struct fake_thread *t = (void *)object;

	(void)jni;
	return (void *)field == &fake_field_tid ? t->tid : t->eetop;
}

static jint JNICALL fake_capacity(JNIEnv *jni, jint count)
{
	(void)jni;
	fake.capacity = count;
	return fake_throws(FAKE_CAPACITY) ? JNI_ENOMEM : 0;
}

static jint JNICALL fake_push(JNIEnv *jni, jint count)
{
	(void)jni;
	assert_true(count >= 16);
	if (fake_throws(FAKE_PUSH_FRAME))
		return JNI_ENOMEM;
	fake.frames++;
	return 0;
}

static jobject JNICALL fake_pop(JNIEnv *jni, jobject object)
{
	(void)jni;
	fake.frames--;
	return object;
}

/* An object is its class. */
static jclass JNICALL fake_object_class(JNIEnv *jni, jobject object)
{
	(void)jni;
	return fake_reference(object);
}

static const struct JNINativeInterface_ fake_jni_table = {
	.GetObjectClass = fake_object_class,
	.FindClass = fake_find_class,
	.ExceptionClear = fake_exception_clear,
	.PushLocalFrame = fake_push,
	.PopLocalFrame = fake_pop,
	.DeleteLocalRef = fake_delete_reference,
	.EnsureLocalCapacity = fake_capacity,
	.NewObject = fake_new_object,
	.GetMethodID = fake_method,
	.GetFieldID = fake_field,
	.GetLongField = fake_long,
	.NewStringUTF = fake_string,
	.ExceptionCheck = fake_exception_check,
	.NewWeakGlobalRef = fake_new_weak,
	.DeleteWeakGlobalRef = fake_delete_weak,
	.IsSameObject = fake_is_same,
};
static JNIEnv fake_jni = &fake_jni_table;

/* --- the JVM ----------------------------------------------------------------------------------- */

static jint JNICALL fake_get_env(JavaVM *vm, void **ret_env, jint version)
{
	(void)vm;
	if (fake.asked)
		fake.asked();
	if (version == JVMTI_VERSION_1_2 && !fake.no_jvmti && ++fake.environments)
		*ret_env = &fake_jvmti;
	else if (version == JNI_VERSION_1_6 && !fake.no_jni)
		*ret_env = &fake_jni;
	else
		return JNI_EDETACHED;
	return JNI_OK;
}

static const struct JNIInvokeInterface_ fake_vm_table = { .GetEnv = fake_get_env };
static JavaVM fake_vm = &fake_vm_table;

static void *fake_run_thread(void *arg)
{
	(void)arg;
	fake_start.proc(&fake_jvmti, &fake_jni, fake_start.arg);
	return NULL;
}

/* A JVM with two methods and two threads, which can do all that is asked. */
static void fake_reset(void)
{
	memset(&fake, 0, sizeof(fake));
	memset(&agent, 0, sizeof(agent));
	memset(&fake_hit, 0, sizeof(fake_hit));
	memset(&fake_lock, 0, sizeof(fake_lock));
	fake_passed_ns = 0;
	fake_heap_reset();
	fake_os_reset();
	fake.jvmti_version = JVMTI_VERSION_1_2 + (8 << JVMTI_VERSION_SHIFT_MAJOR);
	fake.methods[0] = (struct fake_method){
		"Lpkg/A;", "run", "([I)J", "A.java", { { 0, 10 }, { 4, 11 }, { 9, 14 } }, 3
	};
	fake.methods[1] = (struct fake_method){ "Lpkg/B;", "add", "()V", NULL, { { 0, 0 } }, 0 };
	fake.threads[0] = (struct fake_thread){ "main", 1, 0x7000 };
	fake.threads[1] = (struct fake_thread){ "worker-1", 23, 0x8000 };
	fake.thread_count = 2;
}

/* An agent with its memory, without a control thread: a test calls what that would do. */
static struct agent *fake_agent(void)
{
	fake_reset();
	agent.vm = &fake_vm;
	agent.pid = getpid();
	/* As an activation before may have left it. */
	memset(&agent.ring, 0xff, sizeof(agent.ring));
	memset(&agent.methods, 0xff, sizeof(agent.methods));
	assert_int_equal(open_memory(&agent), AGENT_OK);
	assert_int_equal(open_jvmti(&agent), AGENT_OK);
	/* Once around, every byte is an old one. */
	memset(agent.ring.data, 0xff, CODEMAP_RING_BYTES);
	threads_init(&agent, &fake_jni, (void *)&fake_class);
	agent.active = 1;
	return &agent;
}

/* As HotSpot answers GenerateEvents(). */
static void one_stub_and_one_method(jvmtiEvent event)
{
	if (event == JVMTI_EVENT_DYNAMIC_CODE_GENERATED)
		fake.callbacks.DynamicCodeGenerated(&fake_jvmti, "Interpreter", STUB, 4096);
	else if (event == JVMTI_EVENT_COMPILED_METHOD_LOAD)
		fake.callbacks.CompiledMethodLoad(&fake_jvmti, fake_id(0), 512, CODE, 0, NULL,
						  NULL);
}

static void assert_events(bool code, bool threads)
{
	assert_int_equal(fake.on[JVMTI_EVENT_COMPILED_METHOD_LOAD], code);
	assert_int_equal(fake.on[JVMTI_EVENT_COMPILED_METHOD_UNLOAD], code);
	assert_int_equal(fake.on[JVMTI_EVENT_DYNAMIC_CODE_GENERATED], code);
	assert_int_equal(fake.on[JVMTI_EVENT_THREAD_START], threads);
	assert_int_equal(fake.on[JVMTI_EVENT_THREAD_END], threads);
}

static void fake_check_balance(void)
{
	assert_int_equal(fake.allocated, 0);
	assert_int_equal(fake.references, 0);
	assert_int_equal(fake.frames, 0);
	assert_int_equal(fake_heap.weak, 0);
	assert_false(fake.exception);
}

static void fake_drop(struct agent *a)
{
	close_memory(a);
	fake_check_balance();
}

#endif
