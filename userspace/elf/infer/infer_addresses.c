// SPDX-License-Identifier: Apache-2.0
#include "elf/infer/infer_addresses.h"

#include <string.h>

#include "base/alloc.h"
#include "base/macros.h"

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

/* By one byte of what they are above LOW, into RET. */
static void sort_by_byte(const uint64_t *addresses, size_t count, uint64_t low, unsigned int shift,
			 uint64_t *ret)
{
	size_t places[256] = { 0 }, sum = 0;

	for (size_t i = 0; i < count; i++)
		places[(uint8_t)((addresses[i] - low) >> shift)]++;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		size_t n = places[i];

		places[i] = sum;
		sum += n;
	}
	for (size_t i = 0; i < count; i++)
		ret[places[(uint8_t)((addresses[i] - low) >> shift)]++] = addresses[i];
}

/* By their bytes, from the least one on: a large program has a quarter of a million, and comparing them would take 20 ms. */
void infer_addresses_sort(uint64_t *addresses, size_t count)
{
	uint64_t low = UINT64_MAX, high = 0, *from = addresses, *to, *was;
	_cleanup_free_ uint64_t *room = NULL;

	if (count < 2)
		return;
	for (size_t i = 0; i < count; i++) {
		low = MIN(low, addresses[i]);
		high = MAX(high, addresses[i]);
	}
	to = room = xcalloc(count, sizeof(*room));
	for (unsigned int shift = 0; shift < 64 && (high - low) >> shift; shift += 8) {
		sort_by_byte(from, count, low, shift, to);
		was = from;
		from = to;
		to = was;
	}
	if (from != addresses)
		memcpy(addresses, from, count * sizeof(*addresses));
}
