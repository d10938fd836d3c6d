/* SPDX-License-Identifier: Apache-2.0 */
/*
 * So much memory for one kind of things, of which everybody may have a part: at most half of what the
 * others leave, so that who takes all that he gets leaves as much for the next one. When nothing is left
 * each may still have a 1024th, until there is twice as much as there should be.
 */
#ifndef HOSTPROF_BASE_BUDGET_BUDGET_H
#define HOSTPROF_BASE_BUDGET_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct budget {
	uint64_t limit_bytes;
	uint64_t used_bytes;
	uint64_t refused; /* how often */
};

/* May who has OWN bytes have BYTES more? Nothing is taken yet; a refusal is counted. */
bool budget_fits(struct budget *budget, uint64_t own_bytes, uint64_t bytes);

/* What was there took BEFORE bytes and takes AFTER now. */
static inline void budget_note(struct budget *budget, uint64_t before, uint64_t after)
{
	budget->used_bytes += after - before;
}

#endif
