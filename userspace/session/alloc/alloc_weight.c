// SPDX-License-Identifier: Apache-2.0
#include "session/alloc/alloc_weight.h"

#include <math.h>

#include "base/macros.h"

#define MAX_SIZE     (1ULL << 40)
#define MAX_INTERVAL (1ULL << 40)

uint64_t alloc_weight_bytes(uint64_t size, uint64_t interval)
{
	double s = (double)MIN(MAX(size, 1ULL), MAX_SIZE);
	double r = (double)MIN(interval, MAX_INTERVAL);

	/* Of small objects 1 - e^x has no digits left. */
	return (uint64_t)(interval ? s / -expm1(-s / r) + 0.5 : s);
}

uint64_t alloc_weight_objects(uint64_t bytes, uint64_t size, double *carried)
{
	double objects = (double)bytes / (double)MIN(MAX(size, 1ULL), MAX_SIZE) + *carried;
	double whole = floor(objects);

	*carried = objects - whole;
	return (uint64_t)whole;
}
