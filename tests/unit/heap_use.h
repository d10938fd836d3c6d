/* SPDX-License-Identifier: Apache-2.0 */
/* What is left of memory when all was given back: for loops that free, whose effect is nothing else. */
#ifndef HOSTPROF_TESTS_HEAP_USE_H
#define HOSTPROF_TESTS_HEAP_USE_H

#include <malloc.h>
#include <stddef.h>

/*
 * Bytes in use; what was freed may count until it is needed, some pieces of each size (tcache). A
 * sanitizer's allocator says 0.
 */
static inline size_t heap_use(void)
{
	return mallinfo2().uordblks;
}

#endif
