/* SPDX-License-Identifier: Apache-2.0 */
#include "session/alloc/alloc_objects.h"

#include "base/hmap.h"
#include "session/alloc/alloc_weight.h"

/* Of a double's 53 bits. */
#define CHANCE_SHIFT 11
#define CHANCE_WHOLE ((double)(1ULL << 53))

uint64_t alloc_objects(const struct wire_sample *sample)
{
	uint64_t key[2] = { sample->time_ns, sample->tid };
	double chance = (double)(hash_bytes(key, sizeof(key)) >> CHANCE_SHIFT) / CHANCE_WHOLE;

	if (!sample->alloc_size || sample->flags & WIRE_SAMPLE_LOCK || sample->unmounted)
		return 0;
	return alloc_weight_objects(sample->weight, sample->alloc_size, &chance);
}
