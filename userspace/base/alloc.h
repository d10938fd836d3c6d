/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation that does not return NULL: running out of memory ends the program with a message. */
#ifndef HOSTPROF_BASE_ALLOC_H
#define HOSTPROF_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *p, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *s, size_t len) __attribute__((malloc, returns_nonnull));
void *xmemdup(const void *p, size_t len) __attribute__((malloc, returns_nonnull));

/*
 * Memory to end with in good order: the first allocation that fails, of any thread, gets it (BYTES of
 * addresses, which cost nothing until then), and from then on alloc_is_short() tells that it is time.
 */
void alloc_reserve(size_t bytes);
void alloc_drop_reserve(void);
bool alloc_is_short(void);

#endif
