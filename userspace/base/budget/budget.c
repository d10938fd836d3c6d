/* SPDX-License-Identifier: Apache-2.0 */
#include "base/budget/budget.h"

#include "base/macros.h"

#define LEAST_PART 1024

bool budget_fits(struct budget *budget, uint64_t own_bytes, uint64_t bytes)
{
	uint64_t limit = budget->limit_bytes, used = budget->used_bytes;
	uint64_t others = used - MIN(own_bytes, used);
	uint64_t part = MAX((limit - MIN(others, limit)) / 2, limit / LEAST_PART);

	if (!bytes || (own_bytes + bytes <= part && used + bytes <= 2 * limit))
		return true;
	budget->refused++;
	return false;
}
