// SPDX-License-Identifier: Apache-2.0
#include "base/budget/patience.h"

#include "base/macros.h"

uint64_t patience_begin(struct patience *patience, uint64_t now_ns)
{
	uint64_t back_ns = (now_ns - patience->began_ns) / PATIENCE_PART;

	patience->spent_ns -= MIN(patience->spent_ns, back_ns);
	patience->began_ns = now_ns;
	return MIN(PATIENCE_STORE_NS - patience->spent_ns, PATIENCE_CALL_NS);
}

void patience_end(struct patience *patience, uint64_t now_ns, uint64_t usual_ns)
{
	uint64_t took_ns = now_ns - patience->began_ns;
	uint64_t more_ns = took_ns - MIN(took_ns, usual_ns);

	patience->spent_ns += MIN(more_ns, PATIENCE_STORE_NS - patience->spent_ns);
}
