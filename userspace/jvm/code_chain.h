/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a compiler wrote down of its code: places, and which bytecodes of which methods, inlined into one
 * another, each of them stands for. Methods are numbers, whoever gives them.
 */
#ifndef HOSTPROF_JVM_CODE_CHAIN_H
#define HOSTPROF_JVM_CODE_CHAIN_H

#include <stdint.h>

/* A chain is its leaf node; each node's caller has a lower index. */
#define CODE_NO_NODE UINT32_MAX

struct code_node {
	uint32_t method;
	int32_t bci;
	uint32_t caller; /* CODE_NO_NODE: outermost */
};

/* Covers the code up to and including OFFSET, from the entry before. */
struct code_pc {
	uint32_t offset;
	uint32_t node;
};

/*
 * The node of the first pc at or after OFFSET (HotSpot: PcDescContainer::find_pc_desc, approximate), or
 * CODE_NO_NODE: behind the last pc lie exception and deoptimisation handlers and stubs.
 */
static inline uint32_t code_chain_find(const struct code_pc *pcs, uint32_t count, uint32_t offset)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (pcs[mid].offset < offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low < count ? pcs[low].node : CODE_NO_NODE;
}

#endif
