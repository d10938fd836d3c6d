/* SPDX-License-Identifier: Apache-2.0 */
/* Names of a JVM's threads by tid and time. A tid may be used again by a later thread. */
#ifndef HOSTPROF_JVM_CODEMAP_CODE_THREADS_H
#define HOSTPROF_JVM_CODEMAP_CODE_THREADS_H

#include <stdint.h>

#include "base/hmap.h"
#include "jvm/codemap/codemap_record.h"

struct code_threads {
	struct hmap by_tid; /* tid -> newest struct code_thread *, owned; older ones behind it */
	size_t bytes;
};

void code_threads_release(struct code_threads *threads);
size_t code_threads_bytes(const struct code_threads *threads);

/*
 * A CODEMAP_THREAD or CODEMAP_THREAD_END record. One with CODEMAP_FLAG_REPLAYED is a thread that
 * has lived for an unknown time.
 */
void code_threads_add(struct code_threads *threads, const struct codemap_event *event);
void code_threads_expire(struct code_threads *threads, uint64_t horizon_ns);

/* NULL when unknown; borrowed until the next add or expire. */
const char *code_threads_find(const struct code_threads *threads, uint32_t tid, uint64_t time_ns,
			      uint64_t *ret_java_tid);

#endif
