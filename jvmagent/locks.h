/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for monitors: JVMTI tells of the begin and the end of a contended enter and of Object.wait(), and at
 * the end we call a function that does nothing. hostprof has a probe there, whose stack is all the rest.
 */
#ifndef HOSTPROF_AGENT_LOCKS_H
#define HOSTPROF_AGENT_LOCKS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

struct agent;

/* What hostprof_lock() is told; bpf/sample/locks/lock.h has the same. */
enum locks_kind {
	LOCKS_ENTER, /* another thread had the monitor */
	LOCKS_WAIT,  /* Object.wait(), up to the thread's own waking */
};

struct locks {
	uint64_t least_ns;  /* atomic: shorter waits are not told */
	uint64_t begun_ns;  /* atomic: the events are on since then */
	uint64_t level_ns;  /* atomic: of shorter waits one of several is told; 0: all are */
	uint64_t window_ns; /* atomic */
	uint32_t hits;	    /* atomic: waits told of since window_ns */
};

/*
 * The probe is at its first instruction, as in alloc.h. The wait stands for CHANCE waits of its length;
 * IDENTITY is the identity hash of the object, 0: not known. BEGIN_NS is as hostprof_lock_begin() had it.
 */
void hostprof_lock(uint64_t class_id, uint64_t length_ns, uint64_t chance, uint64_t identity,
		   uint64_t kind, uint64_t begin_ns);
/* Likewise: the calling thread begins to wait for a monitor that another one has, which JavaThread and ObjectMonitor tell just now. */
void hostprof_lock_begin(uint64_t begin_ns);

/* From now on waits of LEAST_NS or more, and every class is named anew. The events are the caller's. */
void locks_begin(struct agent *a, uint64_t least_ns);
/*
 * The events on, with the capability that they take, or off and without it. False: they are off, or this
 * JVM has them not.
 */
bool locks_switch(struct agent *a, bool on);

/* The calling thread's wait, as the events tell it. */
void locks_begin_wait(struct agent *a, enum locks_kind kind);
void locks_end_wait(struct agent *a, JNIEnv *jni, jobject object, enum locks_kind kind);

/* Called every second: waits may have become rare meanwhile, and none of them says so. */
void locks_watch(struct agent *a);

#endif
