/* SPDX-License-Identifier: Apache-2.0 */
/* What an input does to the heap of fake_threads.h (memory_changes.h). */
#ifndef HOSTPROF_FUZZ_HEAP_CHANGES_H
#define HOSTPROF_FUZZ_HEAP_CHANGES_H

/* Before fixtures. */
#include "fuzz_asserts.h"

#include "fake_threads.h"
#include "memory_changes.h"

#endif
