/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the names of one JVM's threads by time: when a name was read, and what the kernel told. It tells when a thread
 * begins and when its comm is set, which HotSpot does for a thread that starts, and for one that renames itself, just after
 * (JVM_SetNativeThreadName() in share/prims/jvm.cpp). So a name that was read holds from the last of these before it
 * to the next one behind it, however late it was read. That a thread was renamed by another one nobody tells: such a name
 * holds until another one is read, a second at most, and two where it has been the same for long.
 */
#ifndef HOSTPROF_JVM_HEAP_THREAD_NAMES_H
#define HOSTPROF_JVM_HEAP_THREAD_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hmap.h"

/*
 * A name is read anew after this at the latest, after twice as long where it has been the same for long, if its thread has a sample then:
 * all of them are due at the same moments, so that whoever reads them is woken for many at once.
 */
#define THREAD_NAMES_AGAIN_NS (500 * 1000000ULL)

enum thread_mark {
	THREAD_BEGINS, /* another one may have had its tid before */
	THREAD_COMM,
};

struct thread_names {
	struct hmap by_tid; /* host tid -> struct named_thread *, owned */
	size_t bytes;	    /* of these */
	uint64_t lost_ns;   /* what was told until then may be missing */
};

void thread_names_release(struct thread_names *names);

/* The kernel told it of TID at TIME_NS; also of one that has no sample yet. */
void thread_names_mark(struct thread_names *names, uint32_t tid, enum thread_mark mark,
		       uint64_t time_ns);

/* The kernel lost some of what it tells, until TIME_NS. */
void thread_names_lose(struct thread_names *names, uint64_t time_ns);

/* TID has a sample at NOW_NS, of Java code or not. Should its name be read? THREAD_AGAIN: it has one, which may be another's by now. */
enum thread_wish { THREAD_KNOWN, THREAD_AGAIN, THREAD_NOW };

enum thread_wish thread_names_want(struct thread_names *names, uint32_t tid, bool runs_java,
				   uint64_t now_ns);

/*
 * Up to MOST threads with a name that are due and have had a sample since a moment ago: they will soon have another one, and may be read with those
 * that have. As if each had one at NOW_NS. Of very many threads: none.
 */
size_t thread_names_take_due(struct thread_names *names, uint64_t now_ns, uint32_t *ret_tids,
			     size_t most);

/* It was read between these times: NAME (copied; NULL: it has none) and Java's number of it. */
struct thread_reading {
	uint64_t begin_ns, end_ns;
	const char *name;
	uint64_t java_tid;
};

void thread_names_add(struct thread_names *names, uint32_t tid,
		      const struct thread_reading *reading);
/* It could not be read, or not yet: try again, later each time. */
void thread_names_add_failure(struct thread_names *names, uint32_t tid, uint64_t now_ns);

/* The name of TID at TIME_NS, NULL: not known. Borrowed until the next call of another function. */
const char *thread_names_find(const struct thread_names *names, uint32_t tid, uint64_t time_ns,
			      uint64_t *ret_java_tid);

/* Where no name is known at TIME_NS: was it renamed, before or later, so that what it is called at another time may not be its name? */
bool thread_names_was_renamed(const struct thread_names *names, uint32_t tid, uint64_t time_ns);

/* Forget what nobody asks for any more: threads without a sample since HORIZON_NS, and what was before it. */
void thread_names_expire(struct thread_names *names, uint64_t horizon_ns);

#endif
