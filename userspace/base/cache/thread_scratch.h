/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that each thread has for itself at one place of the program, from when it first asks for it until the thread ends. A large
 * variable with __thread would be there, and written to, in every thread and every child, whether they come to that place or not
 * (pthread_create(), glibc's _dl_allocate_tls_init()).
 */
#ifndef HOSTPROF_BASE_CACHE_THREAD_SCRATCH_H
#define HOSTPROF_BASE_CACHE_THREAD_SCRATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Static, all 0 at first; one for each place. */
struct thread_scratch {
	pthread_key_t key;
	bool has_key;
};

/* BYTES, always as many at one place, all 0 the first time; as it was left afterwards. Borrowed. */
void *thread_scratch_get(struct thread_scratch *scratch, size_t bytes);

#endif
