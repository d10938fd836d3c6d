// SPDX-License-Identifier: Apache-2.0
#include "elf/infer/infer_addresses.h"

#include <stdlib.h>

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

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void infer_addresses_sort(uint64_t *addresses, size_t count)
{
	if (count)
		qsort(addresses, count, sizeof(addresses[0]), compare_addresses);
}
