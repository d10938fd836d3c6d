/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the functions that give native memory and take it back, of all allocators that are known. */
#ifndef HOSTPROF_SESSION_MALLOC_FUNCTIONS_H
#define HOSTPROF_SESSION_MALLOC_FUNCTIONS_H

#include <stdbool.h>

#include "elf/reader/reader_call.h"
#include "wire.h"

/* All of them; READER_MAX_NAMES at most. */
#define MALLOC_FUNCTIONS 72

struct malloc_function {
	const char *name;
	enum wire_malloc_form form; /* WIRE_MALLOC_FORMS: only others of its file call it */
};

extern const struct malloc_function malloc_functions[MALLOC_FUNCTIONS];

/* operator new, operator delete */
bool malloc_function_is_cxx(const struct malloc_function *function);
/* One that only jemalloc, tcmalloc or mimalloc have, whose operators of C++ do not call malloc(). */
bool malloc_function_is_allocators(const struct malloc_function *function);

_Static_assert(MALLOC_FUNCTIONS <= READER_MAX_NAMES, "a reader is asked once");

/* What a file is by the PATH that a process maps it by. */
enum malloc_kind {
	MALLOC_NONE,	  /* a library that has none of them */
	MALLOC_PROGRAM,	  /* may be linked with them */
	MALLOC_LIBC,	  /* glibc, musl */
	MALLOC_ALLOCATOR, /* nothing but that: jemalloc, tcmalloc, mimalloc */
};

enum malloc_kind malloc_kind_of(const char *path);

#endif
