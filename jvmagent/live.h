/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which sampled objects are still alive: a weak reference to each, in a table of fixed size. When it is
 * full, the dead ones go; when all of them live, the level rises, and what codemap_live_keeps() does not
 * keep goes, of the old ones as of those to come. So each that is left stands for 2^level.
 *
 * An object counts as alive only when a collection has looked at it. Not each one that JVMTI tells of looks
 * at young objects (of G1's pauses, those for marking do not), so a canary says it: an object that nobody
 * refers to. When it is gone, all that was made before it has been looked at.
 */
#ifndef HOSTPROF_AGENT_LIVE_H
#define HOSTPROF_AGENT_LIVE_H

#include <jvmti.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct agent;

struct live {
	struct live_slot *slots; /* owned mapping */
	uint64_t next_id;	 /* atomic; goes on over all activations */
	uint32_t on;		 /* atomic; changed under the lock */
	uint32_t level;		 /* atomic; changed under the lock */
	uint32_t collections;	 /* atomic: that JVMTI told of */
	pthread_mutex_t lock; /* guards the slots and what follows, never held across a JVM call */
	uint32_t free;	      /* the first free slot; LIVE_NO_SLOT: none */
	uint32_t used;
	uint32_t condemned; /* slots whose objects the level does not keep */
	uint32_t hand;	    /* where the last condemned one was found */
	/* The control thread's own. */
	jweak canary;	     /* NULL: none */
	uint32_t canary_tid; /* atomic: the thread that makes one now; else 0 */
	uint32_t canary_at;  /* collections when it was made */
	uint32_t looked_at;  /* what was made before so many collections has been looked at */
	uint32_t cycles;     /* atomic: canaries that have gone */
	uint32_t watched_at; /* collections at the last live_watch() */
};

/* The table's address space, for one activation. 0 or -1. */
int live_open(struct live *live);
void live_close(struct live *live);
uint32_t live_bytes(void);

/* Ask for what it takes; false: this JVM has it not. */
bool live_add_capabilities(struct agent *a);

/* From now on objects are tracked, unless they are already. The events are the caller's. */
void live_begin(struct agent *a);
/* No reference of ours stays in the JVM. Not while another thread is in live_watch() or live_report(). */
void live_end(struct agent *a);

/* OBJECT was sampled, on this thread. Its id in the records to come; 0: it is not tracked. */
uint64_t live_track(struct agent *a, JNIEnv *jni, jobject object);

/* Is it the canary that this thread makes? Nobody wants to see that. */
bool live_is_ours(const struct live *live);

/* The GarbageCollectionFinish event, in which nothing of the JVM may be called. */
void live_collected(struct agent *a);

/* The control thread, after each collection. */
void live_watch(struct agent *a);

/* Write CODEMAP_LIVE records of all that live, and CODEMAP_LIVE_END. COLLECT: after a full collection. */
void live_report(struct agent *a, uint32_t seq, bool collect);

#endif
