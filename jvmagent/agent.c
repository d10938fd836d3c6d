/* SPDX-License-Identifier: Apache-2.0 */
/* Entry points, life cycle, capabilities. */
#include "agent.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "futex.h"

#define AGENT_STOP_NS 5000000000ULL
#define AGENT_STEP_NS 1000000L

/* The first JDK 8 update that survives CompiledMethodLoad (JDK-8305165). */
#define AGENT_JDK8_UPDATE 382

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

struct agent agent;

uint64_t agent_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

uint32_t agent_gettid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

JNIEnv *agent_jni(const struct agent *a)
{
	void *jni = NULL;

	return (*a->vm)->GetEnv(a->vm, &jni, JNI_VERSION_1_6) == JNI_OK ? jni : NULL;
}

bool agent_clear_exception(JNIEnv *jni)
{
	if (!(*jni)->ExceptionCheck(jni))
		return false;
	(*jni)->ExceptionClear(jni);
	return true;
}

/*
 * A child that forked and runs on as a JVM of its own has not got the ring (MADV_DONTFORK). It is asked for in
 * every callback, and getpid() took a sixth of a sample's time in the JVM: from Linux 4.14 on a page says it.
 */
static bool is_own_process(const struct agent *a)
{
	return a->own ? __atomic_load_n(a->own, __ATOMIC_RELAXED) != 0 : getpid() == a->pid;
}

/* The page stays as long as the JVM lives: who looks at it may be late. */
static void note_own_process(struct agent *a)
{
	a->pid = getpid();
	if (!a->own) {
		void *page = mmap(NULL, sizeof(*a->own), PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (page == MAP_FAILED)
			return;
		if (madvise(page, sizeof(*a->own), MADV_WIPEONFORK)) {
			munmap(page, sizeof(*a->own));
			return;
		}
		a->own = page;
	}
	__atomic_store_n(a->own, 1, __ATOMIC_RELAXED);
}

bool agent_enter(struct agent *a)
{
	__atomic_fetch_add(&a->users, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&a->active, __ATOMIC_SEQ_CST) && is_own_process(a))
		return true;
	agent_leave(a);
	return false;
}

void agent_leave(struct agent *a)
{
	__atomic_fetch_sub(&a->users, 1, __ATOMIC_SEQ_CST);
}

void agent_switch_event(struct agent *a, bool on, jvmtiEvent event)
{
	jvmtiEnv *jvmti = a->jvmti;

	(*jvmti)->SetEventNotificationMode(jvmti, on ? JVMTI_ENABLE : JVMTI_DISABLE, event, NULL);
}

/* Whose records name classes. */
#define NAMES_CLASSES (CODEMAP_WANT_ALLOC | CODEMAP_WANT_LOCKS)

void agent_switch_events(struct agent *a, uint32_t want)
{
	bool code = want & CODEMAP_WANT_CODE;
	bool threads = want & CODEMAP_WANT_THREADS;
	bool alloc = want & CODEMAP_WANT_ALLOC;
	bool live = want & CODEMAP_WANT_LIVE;

	agent_switch_event(a, code, JVMTI_EVENT_COMPILED_METHOD_LOAD);
	agent_switch_event(a, code, JVMTI_EVENT_COMPILED_METHOD_UNLOAD);
	agent_switch_event(a, code, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
	agent_switch_event(a, threads, JVMTI_EVENT_THREAD_START);
	agent_switch_event(a, threads, JVMTI_EVENT_THREAD_END);
	/* A JVM that cannot have it does not know its number. */
	if (a->can & CODEMAP_WANT_ALLOC)
		agent_switch_event(a, alloc, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC);
	if (!locks_switch(a, want & CODEMAP_WANT_LOCKS))
		want &= ~(uint32_t)CODEMAP_WANT_LOCKS;
	if (!(want & NAMES_CLASSES) && a->events_on & NAMES_CLASSES)
		classes_end(a);
	agent_switch_event(a, live, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH);
	if (!live)
		live_end(a);
	a->events_on = want;
	__atomic_store_n(&a->ring.header->events_on, want, __ATOMIC_RELEASE);
}

/*
 * JDK 8 before update 382 frees code that waits to be reported and crashes (JDK-8173361,
 * JDK-8305165). Its JVMTI is 1.2, and java.vm.version is "25.UPDATE-bNN".
 */
static bool code_events_are_safe(struct agent *a)
{
	jvmtiEnv *jvmti = a->jvmti;
	char *version = NULL;
	jint jvmti_version = 0;
	int major = 0, update = 0;

	(*jvmti)->GetVersionNumber(jvmti, &jvmti_version);
	a->ring.header->jvmti_version = (uint32_t)jvmti_version;
	if (((uint32_t)jvmti_version & JVMTI_VERSION_MASK_MAJOR) >> JVMTI_VERSION_SHIFT_MAJOR > 1)
		return true;
	if ((*jvmti)->GetSystemProperty(jvmti, "java.vm.version", &version) || !version)
		return false;
	for (const char *s = version; *s >= '0' && *s <= '9' && major < 1000; s++)
		major = major * 10 + (*s - '0');
	for (const char *s = strchr(version, '.'); s && s[1] >= '0' && s[1] <= '9'; s++)
		update = update < 100000 ? update * 10 + (s[1] - '0') : update;
	(*jvmti)->Deallocate(jvmti, (unsigned char *)version);
	return major == 25 && update >= AGENT_JDK8_UPDATE;
}

/* Each capability on its own, so that a missing one costs only what needs it. */
static void add_capabilities(struct agent *a)
{
	jvmtiEnv *jvmti = a->jvmti;
	jvmtiCapabilities c;

	memset(&c, 0, sizeof(c));
	c.can_generate_compiled_method_load_events = 1;
	if (code_events_are_safe(a) && !(*jvmti)->AddCapabilities(jvmti, &c))
		a->can |= CODEMAP_WANT_CODE;
	memset(&c, 0, sizeof(c));
	c.can_get_source_file_name = 1;
	a->can_source = !(*jvmti)->AddCapabilities(jvmti, &c);
	memset(&c, 0, sizeof(c));
	c.can_get_line_numbers = 1;
	a->can_lines = !(*jvmti)->AddCapabilities(jvmti, &c);
	/* What locks take is asked for when they are wanted (locks_switch()). */
	a->can |= CODEMAP_WANT_THREADS | CODEMAP_WANT_LOCKS;
	if (alloc_add_capabilities(a))
		a->can |= CODEMAP_WANT_ALLOC;
	if (a->can & CODEMAP_WANT_ALLOC && live_add_capabilities(a))
		a->can |= CODEMAP_WANT_LIVE;
	a->ring.header->cannot = ~a->can & (CODEMAP_WANT_CODE | CODEMAP_WANT_THREADS |
					    CODEMAP_WANT_ALLOC | CODEMAP_WANT_LIVE);
}

/* "1.2.3" to 10203. */
static uint32_t build_number(const char *version)
{
	uint32_t number = 0, part = 0;

	for (; *version; version++) {
		if (*version >= '0' && *version <= '9') {
			part = part * 10 + (uint32_t)(*version - '0');
		} else {
			number = number * 100 + part;
			part = 0;
		}
	}
	return number * 100 + part;
}

static void close_memory(struct agent *a)
{
	ring_close(&a->ring);
	method_table_close(&a->methods);
	live_close(&a->live);
}

static int open_memory(struct agent *a)
{
	if (ring_open(&a->ring))
		return AGENT_NO_MEMORY;
	if (method_table_open(&a->methods) || live_open(&a->live)) {
		close_memory(a);
		return AGENT_NO_MEMORY;
	}
	a->ring.header->agent_build = build_number(HOSTPROF_VERSION);
	a->ring.header->agent_bytes =
		CODEMAP_HEADER_BYTES + CODEMAP_RING_BYTES + method_table_bytes() + live_bytes();
	return AGENT_OK;
}

static int open_jvmti(struct agent *a)
{
	jvmtiEventCallbacks callbacks;
	void *env = a->jvmti;

	if (!env && ((*a->vm)->GetEnv(a->vm, &env, JVMTI_VERSION_1_2) != JNI_OK || !env))
		return AGENT_NO_JVMTI;
	a->jvmti = env;
	add_capabilities(a);
	events_fill(&callbacks);
	(*a->jvmti)->SetEventCallbacks(a->jvmti, &callbacks, sizeof(callbacks));
	agent_switch_event(a, true, JVMTI_EVENT_VM_DEATH);
	return AGENT_OK;
}

/*
 * The environment is never disposed. HotSpot frees the JVMTI state of a thread that ends only while
 * some environment exists (runtime/thread.cpp, JavaThread::exit(), asks
 * JvmtiEnvBase::environments_might_exist(); the same in 8 to 28). Behind the last one the state
 * stays, and the next one's THREAD_END makes prims/jvmtiEventController.cpp write through it into
 * the freed thread.
 */
static void rest_jvmti(struct agent *a)
{
	agent_switch_events(a, 0);
	agent_switch_event(a, false, JVMTI_EVENT_VM_INIT);
	agent_switch_event(a, false, JVMTI_EVENT_VM_DEATH);
}

static bool wait_for_callbacks(struct agent *a, uint64_t timeout_ns)
{
	uint64_t until = agent_now_ns() + timeout_ns;
	struct timespec step = { 0, AGENT_STEP_NS };

	while (__atomic_load_n(&a->users, __ATOMIC_SEQ_CST)) {
		if (agent_now_ns() >= until)
			return false;
		nanosleep(&step, NULL);
	}
	return true;
}

/*
 * Undo agent_begin(), but for the JVMTI environment. Callbacks that are inside use the memory, so it
 * stays until the last one has left; after a time-out all is left alone, and the next call goes on.
 */
static int agent_end(struct agent *a)
{
	__atomic_store_n(&a->active, 0, __ATOMIC_SEQ_CST);
	if (!control_stop(a, AGENT_STOP_NS) || !wait_for_callbacks(a, AGENT_STOP_NS))
		return AGENT_BUSY;
	if (!a->ring.header)
		return AGENT_OK;
	rest_jvmti(a);
	close_memory(a);
	return AGENT_OK;
}

/* JNI is NULL before VMInit; the control thread then starts there. */
static int agent_begin(struct agent *a, JavaVM *vm, JNIEnv *jni)
{
	int r = agent_end(a);

	if (r)
		return r;
	a->vm = vm;
	note_own_process(a);
	a->can = 0;
	a->stop = 0;
	a->events_on = 0;
	r = open_memory(a);
	if (r)
		return r;
	r = open_jvmti(a);
	if (r) {
		close_memory(a);
		return r;
	}
	__atomic_store_n(&a->active, 1, __ATOMIC_SEQ_CST);
	if (!jni) {
		agent_switch_event(a, true, JVMTI_EVENT_VM_INIT);
		return AGENT_OK;
	}
	if (control_start(a, jni)) {
		agent_end(a);
		return AGENT_NO_THREAD;
	}
	return AGENT_OK;
}

/* Is WORD one of the comma-separated options? */
static bool has_option(const char *options, const char *word)
{
	size_t len = strlen(word);

	for (const char *s = options; s; s = strchr(s, ',')) {
		s += *s == ',';
		if (!strncmp(s, word, len) && (s[len] == '\0' || s[len] == ','))
			return true;
	}
	return false;
}

static void warn_unknown_options(const char *options)
{
	const char *s = options;

	while (s && *s) {
		int len = (int)strcspn(s, ",");

		if (len && !(len == 5 && !strncmp(s, "start", 5)))
			fprintf(stderr, "hostprof agent: option \"%.*s\" is not known, ignored\n",
				len, s);
		s += len;
		s += *s == ',';
	}
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	int r;

	(void)reserved;
	warn_unknown_options(options);
	r = agent_begin(&agent, vm, NULL);
	/* A profiler must not keep a program from starting: say it and stay out of the way. */
	if (r)
		fprintf(stderr, "hostprof agent: cannot start (%d)\n", r);
	else if (!(agent.can & CODEMAP_WANT_CODE))
		fprintf(stderr,
			"hostprof agent: this JVM cannot report its JIT code safely "
			"(JDK 8 needs update %d)\n",
			AGENT_JDK8_UPDATE);
	return JNI_OK;
}

static int attach(struct agent *a, JavaVM *vm, const char *options)
{
	void *jni = NULL;

	if (options && (has_option(options, "stop") || has_option(options, "detach")))
		return agent_end(a);
	if ((*vm)->GetEnv(vm, &jni, JNI_VERSION_1_6) != JNI_OK || !jni)
		return AGENT_NO_THREAD;
	if (!__atomic_load_n(&a->active, __ATOMIC_SEQ_CST))
		return agent_begin(a, vm, jni);
	/* It runs; but at the start of the JVM there may have been no room for its thread. */
	return control_start(a, jni) ? AGENT_NO_THREAD : AGENT_OK;
}

/* JVMTI.agent_load comes on any thread when it is sent through JMX. */
JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	static uint32_t attaching;
	int r;

	(void)reserved;
	if (__atomic_exchange_n(&attaching, 1, __ATOMIC_SEQ_CST))
		return AGENT_BUSY;
	r = attach(&agent, vm, options);
	__atomic_store_n(&attaching, 0, __ATOMIC_SEQ_CST);
	return r;
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
	(void)vm;
	__atomic_store_n(&agent.active, 0, __ATOMIC_SEQ_CST);
}
