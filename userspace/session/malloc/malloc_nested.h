/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of allocators among themselves, told by their stacks: what calloc() asks malloc() for is counted once. */
#ifndef HOSTPROF_SESSION_MALLOC_NESTED_H
#define HOSTPROF_SESSION_MALLOC_NESTED_H

#include <stdbool.h>

#include "process/process.h"
#include "session/malloc/malloc_files.h"
#include "wire.h"

/*
 * Was the function that SAMPLE is of called by another one that gives memory? PROCESS has the mappings of its time. Pages
 * (WIRE_MALLOC_PAGES) are an allocator's own, too, when a C library or an allocator has asked for them itself.
 */
bool malloc_is_nested(const struct malloc_files *files, struct process *process,
		      const struct wire_sample *sample);

#endif
