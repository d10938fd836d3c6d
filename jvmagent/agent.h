/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent inside a JVM. Rules that every file here keeps: no lock is held across a call into the
 * JVM; a live event never waits; everything that JVMTI allocates is given back; a JVMTI error makes
 * a record poorer, never the JVM; nothing is imported that is newer than GLIBC_2.17 or that musl
 * lacks.
 */
#ifndef HOSTPROF_AGENT_H
#define HOSTPROF_AGENT_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "alloc.h"
#include "classes.h"
#include "codemap.h"
#include "live.h"
#include "locks.h"
#include "methods.h"
#include "ring.h"

/*
 * One activation: from OnLoad or OnAttach to `stop`, after which a new one may begin. Fields
 * without a remark are set before `active` and do not change until no callback is left.
 */
struct agent {
	JavaVM *vm;
	jvmtiEnv *jvmti; /* the first activation's, for the life of the JVM */
	struct ring ring;
	struct method_table methods;
	struct classes classes;
	struct alloc alloc;
	struct locks locks;
	struct live live;
	jfieldID thread_tid;   /* java.lang.Thread.tid, NULL unknown */
	jfieldID thread_eetop; /* java.lang.Thread.eetop, NULL unknown */
	uint32_t can;	       /* enum codemap_want bits that this JVM can give */
	bool can_source;
	bool can_lines;
	pid_t pid;		/* whose memory the ring is */
	uint32_t *own;		/* a page that is 0 in children; NULL: this kernel has none such */
	uint32_t active;	/* atomic: callbacks may work */
	uint32_t users;		/* atomic: callbacks inside */
	uint32_t control_alive; /* atomic: the control thread runs; also a futex */
	uint32_t stop;		/* atomic: the control thread shall end */
	uint32_t replay_tid;	/* atomic: thread that replays now, may wait for room; else 0 */
	uint32_t events_on;	/* enum codemap_want bits; our own, the header's is for show */
	uint32_t replay_given_up; /* atomic: the consumer went away during this replay */
};

extern struct agent agent;

/* Brackets around every callback's work; false: this JVM has no agent (any more), do nothing. */
bool agent_enter(struct agent *a);
void agent_leave(struct agent *a);

/* One event on or off. */
void agent_switch_event(struct agent *a, bool on, jvmtiEvent event);

/* The events of WANT on, all others off. The control thread, or whoever has waited for its end. */
void agent_switch_events(struct agent *a, uint32_t want);

/* Start the control thread unless it runs; needs the live phase. 0 or negative. */
int control_start(struct agent *a, JNIEnv *jni);
/* Ask it to end and wait for that, at most TIMEOUT_NS. */
bool control_stop(struct agent *a, uint64_t timeout_ns);

/* JVMTI callbacks. */
void events_fill(jvmtiEventCallbacks *callbacks);

/* Does the calling thread replay? */
bool agent_is_replaying(const struct agent *a);

/* Room for one record; the replaying thread may wait for it, others never do. */
struct codemap_record *agent_reserve(struct agent *a, uint16_t kind, uint32_t size,
				     uint64_t time_ns);

/* No Java exception may be left behind in the caller's thread. True: there was one. */
bool agent_clear_exception(JNIEnv *jni);

/* The calling thread's JNI; NULL when it has none. */
JNIEnv *agent_jni(const struct agent *a);

uint64_t agent_now_ns(void);
uint32_t agent_gettid(void);

#endif
