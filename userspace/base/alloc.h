/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation that does not return NULL: running out of memory ends the program with a message. */
#ifndef HOSTPROF_BASE_ALLOC_H
#define HOSTPROF_BASE_ALLOC_H

#include <stddef.h>

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *p, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *s, size_t len) __attribute__((malloc, returns_nonnull));
void *xmemdup(const void *p, size_t len) __attribute__((malloc, returns_nonnull));

#endif
