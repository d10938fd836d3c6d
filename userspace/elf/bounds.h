/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the functions of a file begin and end that have no symbol, as its call frame information says: so that a frame
 * can be named by its function when the name is gone.
 */
#ifndef HOSTPROF_ELF_BOUNDS_H
#define HOSTPROF_ELF_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* 16 MiB of them; a browser has one and a half million functions. */
#define BOUNDS_MAX (2U << 20)

struct bound {
	uint32_t start; /* above the base */
	uint32_t size;
};

struct bounds {
	uint64_t base;
	VEC(struct bound) v; /* by start; they don't overlap */
};

/* In any order; those more than 4 GiB from the first are left out. */
void bounds_add(struct bounds *bounds, uint64_t start, uint64_t end);
/* All are there: in order, and where two overlap, the one that begins later has the word. */
void bounds_end(struct bounds *bounds);
void bounds_release(struct bounds *bounds);

/* Is this as bounds_end() leaves it? It came from a reader. */
bool bounds_are_sound(const struct bounds *bounds);

/* Where the function that holds ADDRESS begins; false when none does. */
bool bounds_find(const struct bounds *bounds, uint64_t address, uint64_t *ret_start);

#endif
