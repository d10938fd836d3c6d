/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *or_die(void *p)
{
	if (p)
		return p;
	fputs("hostprof: out of memory\n", stderr);
	_Exit(1);
}

static struct {
	void *at; /* NULL: there is none, or it was used */
	size_t bytes;
	bool is_used;
} reserve;

/* False: there is nothing left to give. */
static bool use_reserve(void)
{
	void *at = __atomic_exchange_n(&reserve.at, NULL, __ATOMIC_ACQ_REL);

	if (at) {
		munmap(at, reserve.bytes);
		__atomic_store_n(&reserve.is_used, true, __ATOMIC_RELEASE);
	}
	/* Another thread's failure may have been what gave it up. */
	return alloc_is_short();
}

#define TRY(allocation)                    \
	({                                 \
		void *p_ = (allocation);   \
                                           \
		if (!p_ && use_reserve())  \
			p_ = (allocation); \
		or_die(p_);                \
	})

void alloc_reserve(size_t bytes)
{
	void *at;

	alloc_drop_reserve();
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return;
	reserve.bytes = bytes;
	__atomic_store_n(&reserve.at, at, __ATOMIC_RELEASE);
}

void alloc_drop_reserve(void)
{
	void *at = __atomic_exchange_n(&reserve.at, NULL, __ATOMIC_ACQ_REL);

	if (at)
		munmap(at, reserve.bytes);
	__atomic_store_n(&reserve.is_used, false, __ATOMIC_RELEASE);
}

bool alloc_is_short(void)
{
	return __atomic_load_n(&reserve.is_used, __ATOMIC_ACQUIRE);
}

void *xmalloc(size_t size)
{
	return TRY(malloc(size ? size : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return TRY(calloc(n ? n : 1, size ? size : 1));
}

void *xrealloc(void *p, size_t size)
{
	return TRY(realloc(p, size ? size : 1));
}

char *xstrdup(const char *s)
{
	return TRY(strdup(s));
}

char *xstrndup(const char *s, size_t len)
{
	return TRY(strndup(s, len));
}

void *xmemdup(const void *p, size_t len)
{
	return memcpy(xmalloc(len), p, len);
}
