/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *or_die(void *p)
{
	if (p)
		return p;
	fputs("hostprof: out of memory\n", stderr);
	_Exit(1);
}

void *xmalloc(size_t size)
{
	return or_die(malloc(size ? size : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return or_die(calloc(n ? n : 1, size ? size : 1));
}

void *xrealloc(void *p, size_t size)
{
	return or_die(realloc(p, size ? size : 1));
}

char *xstrdup(const char *s)
{
	return or_die(strdup(s));
}

char *xstrndup(const char *s, size_t len)
{
	return or_die(strndup(s, len));
}

void *xmemdup(const void *p, size_t len)
{
	return memcpy(xmalloc(len), p, len);
}
