/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorting by digits: records in the order of the 64-bit number that each begins with, equal ones in theirs. Symbols and
 * addresses come by the hundred thousand, and comparing them takes as long as all the rest.
 */
#ifndef HOSTPROF_BASE_SORT_RADIX_H
#define HOSTPROF_BASE_SORT_RADIX_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Three digits hold the addresses of most files. */
#define RADIX_BITS   10
#define RADIX_VALUES (1U << RADIX_BITS)

static inline uint64_t radix_key(const char *record)
{
	uint64_t key;

	memcpy(&key, record, sizeof(key));
	return key;
}

/* From FROM to TO in the order of one digit. */
static inline __attribute__((always_inline)) void radix_sort_by_digit(const char *from, char *to,
								      size_t count, size_t size,
								      unsigned int shift)
{
	size_t at[RADIX_VALUES] = { 0 }, sum = 0;

	for (size_t i = 0; i < count; i++)
		at[radix_key(from + i * size) >> shift & (RADIX_VALUES - 1)]++;
	for (size_t i = 0; i < RADIX_VALUES; i++) {
		size_t n = at[i];

		at[i] = sum;
		sum += n;
	}
	for (size_t i = 0; i < count; i++) {
		const char *record = from + i * size;

		memcpy(to + at[radix_key(record) >> shift & (RADIX_VALUES - 1)]++ * size, record,
		       size);
	}
}

/* See radix_sort(); inline, so that SIZE is a constant. */
static inline __attribute__((always_inline)) void *radix_sort_records(void *items, void *room,
								      size_t count, size_t size)
{
	char *from = items, *to = room;
	uint64_t bits = 0;

	for (size_t i = 0; i < count; i++)
		bits |= radix_key(from + i * size);
	for (unsigned int shift = 0; shift < 64 && bits >> shift; shift += RADIX_BITS) {
		char *sorted = to;

		radix_sort_by_digit(from, to, count, size, shift);
		to = from;
		from = sorted;
	}
	return from;
}

/* COUNT records at ITEMS, with ROOM for as many: where they are now, one of the two. */
#define radix_sort(items, room, count) radix_sort_records(items, room, count, sizeof(*(items)))

#endif
