// SPDX-License-Identifier: Apache-2.0
#include "base/cache/thread_scratch.h"

#include <stdlib.h>

#include "base/alloc.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static pthread_key_t key_of(struct thread_scratch *scratch)
{
	pthread_mutex_lock(&lock);
	if (!scratch->has_key && pthread_key_create(&scratch->key, free))
		abort();
	scratch->has_key = true;
	pthread_mutex_unlock(&lock);
	return scratch->key;
}

void *thread_scratch_get(struct thread_scratch *scratch, size_t bytes)
{
	pthread_key_t key = key_of(scratch);
	void *memory = pthread_getspecific(key);

	if (memory)
		return memory;
	memory = xcalloc(1, bytes);
	if (pthread_setspecific(key, memory))
		abort();
	return memory;
}
