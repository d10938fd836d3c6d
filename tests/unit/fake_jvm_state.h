/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a JVM that is made up has and does, and what it gives out: what JVMTI gives, and local references, are counted. Included by
 * fake_jvmti.h.
 */
#ifndef HOSTPROF_TESTS_FAKE_JVM_STATE_H
#define HOSTPROF_TESTS_FAKE_JVM_STATE_H

#include "fake_agent.h"
#include "fake_heap.h"

#define FAKE_METHODS 4000
#define FAKE_THREADS 8
#define FAKE_LINES   4
#define CODE	     ((const void *)0x7f1000001000)
#define STUB	     ((const void *)0x7f1000100000)
#define BOTH	     (CODEMAP_WANT_CODE | CODEMAP_WANT_THREADS)
#define ALL	     (BOTH | CODEMAP_WANT_ALLOC | CODEMAP_WANT_LIVE | CODEMAP_WANT_LOCKS)

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
	jlong tags[FAKE_METHODS];   /* of classes */
	jint loaded;		    /* classes, the first ones */
	jint interval;		    /* between samples of allocations; -1: it cannot be set */
	int intervals;		    /* times that it was set */
	void (*interval_set)(void); /* what others do before who has set it goes on; once */
	int environments;	    /* of JVMTI, that were asked for */
	void (*asked)(void);	    /* an environment is asked for */
	jint capacity;		    /* of local references, announced last */
	int frames;		    /* of local references, not popped */
	int allocated;		    /* by JVMTI, not given back */
	int references;		    /* local ones, not given back */
	pthread_t control;	    /* the agent's thread */
	int agent_threads;	    /* that were started */
	jthreadGroup group;	    /* of the agent's thread */
	bool monitor_events;	    /* the capability is held */
	const void *stored;	    /* the thread's local storage */
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

#endif
