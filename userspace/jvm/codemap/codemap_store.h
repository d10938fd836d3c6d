/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code of one JVM by address and time, fed with the records of its agent.
 *
 * The JVM reports loads and unloads from its Service Thread, in their order but some time after
 * they happened, so that a sample may be older than the report of the code that it ran in, and
 * younger than the end of code whose end is still in the queue. A look-up asks for the code at a
 * past moment, when the reports around that moment have come in:
 *
 *  - Code whose [load, unload) holds the moment T is the answer, unless other code that came to
 *    its address may have been running at T already, the unload being reported late. That other
 *    code's load was then waiting in the queue behind the unload, and both were reported in one
 *    go. So the answer is that the code is gone when T lies within CODE_QUEUE_NS before such an
 *    unload, and within CODE_LAG_NS before any.
 *  - Otherwise the first code to come within CODE_SLACK_NS after T: it ran before its report. Not
 *    when records were lost in between.
 *
 * It is a history and no cache: with one piece of code gone its neighbours would answer for it, and
 * a method's names come only once, however many pieces refer to them later. So nothing of it goes
 * singly but what is too old to be asked for (codemap_store_expire()), and what has grown past
 * CODE_STORE_MAX_BYTES in spite of that is a loss of records: all of it goes, and nothing is known
 * of any code until the agent has replayed.
 */
#ifndef HOSTPROF_JVM_CODEMAP_CODEMAP_STORE_H
#define HOSTPROF_JVM_CODEMAP_CODEMAP_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/macros.h"
#include "jvm/codemap/codemap_record.h"
#include "jvm/java_frame.h"

/* The Service Thread's usual delay is well below this. */
#define CODE_LAG_NS (3 * NSEC_PER_MSEC)
/* Its delay on a busy host; and reports that follow each other within IDLE had been waiting. */
#define CODE_QUEUE_NS	   (50 * NSEC_PER_MSEC)
#define CODE_QUEUE_IDLE_NS NSEC_PER_MSEC
/* Code that came to an address later than this after the unload did not run before it. */
#define CODE_SUCCESSOR_NS (200 * NSEC_PER_MSEC)
/* Reports are late by milliseconds, but the first samples of a recording precede the replay. */
#define CODE_SLACK_NS (3 * NSEC_PER_SEC)
/* A JVM whose code takes more of our memory than this is forgotten and asked again. */
#define CODE_STORE_MAX_BYTES (40U << 20)

struct codemap_store;

struct codemap_store *codemap_store_new(void);
void codemap_store_free(struct codemap_store *store);
DEFINE_CLEANUP(struct codemap_store *, codemap_store_free);

/* Take in one record; times in our clock. */
void codemap_store_add(struct codemap_store *store, const struct codemap_event *event);

/* From SINCE_NS on nothing is known until the next replay ends. */
void codemap_store_note_gap(struct codemap_store *store, uint64_t since_ns);

/* Have records been lost that no replay has made good since? */
bool codemap_store_needs_replay(const struct codemap_store *store);

/* Replays that were seen from their begin to their end. */
uint32_t codemap_store_replays(const struct codemap_store *store);

/* No more records will come: what lives is known up to TIME_NS only. 0: they come again. */
void codemap_store_set_known_until(struct codemap_store *store, uint64_t time_ns);

/* Drop what ended before HORIZON_NS. */
void codemap_store_expire(struct codemap_store *store, uint64_t horizon_ns);

size_t codemap_store_bytes(const struct codemap_store *store);

/* All of it goes, as if records had been lost at TIME_NS: somebody else needs the room. */
void codemap_store_forget(struct codemap_store *store, uint64_t time_ns);

/* As jvm_find_code(). Strings are borrowed until the next add or expire. */
enum java_lookup codemap_store_find(const struct codemap_store *store, uint64_t address,
				    uint64_t time_ns, struct java_frame *frames,
				    unsigned int *ret_count, const char **ret_stub);

/*
 * From some moment on nothing of the code has changed, so that a look-up of any later moment has the same answer: is TIME_NS behind it?
 * And by which number of changes; what was found under another one may be wrong.
 */
bool codemap_store_is_settled(const struct codemap_store *store, uint64_t time_ns,
			      uint64_t *ret_changes);

/* The class of an id that samples of allocations carry, dotted; NULL unknown, borrowed until the next add. */
const char *codemap_store_class_name(const struct codemap_store *store, uint64_t id);

/* Name of the thread that had TID (of the JVM's pid namespace) at TIME_NS, or NULL. */
const char *codemap_store_thread_name(const struct codemap_store *store, uint32_t tid,
				      uint64_t time_ns, uint64_t *ret_java_tid);

#endif
