// SPDX-License-Identifier: Apache-2.0
#include "elf/infer/infer_addresses.h"

#include <string.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "base/sort/radix.h"

size_t infer_addresses_find(const uint64_t *addresses, size_t count, uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (addresses[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void infer_addresses_sort(uint64_t *addresses, size_t count)
{
	_cleanup_free_ uint64_t *room = NULL;

	if (count < 2)
		return;
	room = xcalloc(count, sizeof(*room));
	if (radix_sort(addresses, room, count) == room)
		memcpy(addresses, room, count * sizeof(*addresses));
}
