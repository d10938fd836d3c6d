/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of allocations: HotSpot's sampler (JEP 331, JDK 11 on) calls us for an object every so many
 * bytes of a thread, and we call a function that does nothing. hostprof has a probe there, whose stack is
 * all the rest.
 */
#ifndef HOSTPROF_AGENT_ALLOC_H
#define HOSTPROF_AGENT_ALLOC_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

struct agent;

/* Threads whose draws are kept; of more, one may take another's place. */
#define ALLOC_DRAWS_BITS 12
#define ALLOC_DRAWS	 (1U << ALLOC_DRAWS_BITS)

struct alloc {
	uint32_t wanted;	     /* mean interval that the consumer asked for, bytes */
	uint32_t interval;	     /* atomic: the one in force */
	uint32_t next;		     /* atomic: the one that was asked for last */
	uint32_t hits;		     /* atomic: samples since window_ns */
	uint64_t window_ns;	     /* atomic */
	uint64_t draws[ALLOC_DRAWS]; /* atomic; see alloc.c */
};

/*
 * The probe is at its first instruction, a nop of 5 bytes: newer kernels put a call there, older ones
 * skip it in the trap. INTERVAL is the mean one, in bytes, by which this object was chosen;
 * OBJECT_ID is that of live.h, 0: none.
 */
void hostprof_alloc(uint64_t class_id, uint64_t size, uint64_t interval, uint64_t object_id);

/* Ask for what it takes; false: this JVM has it not (JDK 8), or another agent holds it. */
bool alloc_add_capabilities(struct agent *a);

/* From now on a sample every INTERVAL bytes, and every class is named anew. The events are the caller's. */
void alloc_begin(struct agent *a, uint32_t interval);

/* The SampledObjectAlloc event. */
void alloc_sample(struct agent *a, JNIEnv *jni, jobject object, jclass class, uint64_t size);

/* The calling thread ends; another one may get its JNI's address. */
void alloc_forget_thread(struct agent *a, const JNIEnv *jni);

/* Called every second: samples may have become rare meanwhile, and none of them says so. */
void alloc_watch(struct agent *a);

#endif
