/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HotSpot's compressed numbers. Source: share/code/compressedStream.{hpp,cpp}, JDK 8 to 19;
 * share/utilities/unsigned5.hpp, 20 to 28.
 */
#ifndef HOSTPROF_JVM_NAMES_UNSIGNED5_H
#define HOSTPROF_JVM_NAMES_UNSIGNED5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A byte of at least this much says that another one follows; each carries 6 bits of worth. */
#define UNSIGNED5_MORE	    192
#define UNSIGNED5_MAX_BYTES 5
#define UNSIGNED5_BITS	    6

/* Bytes that numbers are read from; BIAS: what every byte has too much, 0 before JDK 20, then 1. */
struct unsigned5 {
	const uint8_t *data;
	size_t len, at;
	uint8_t bias;
};

/* False at the end, and where there is no number. */
static inline bool unsigned5_read(struct unsigned5 *s, uint32_t *ret_value)
{
	uint32_t value = 0;

	for (unsigned int i = 0; i < UNSIGNED5_MAX_BYTES; i++) {
		uint8_t byte;

		if (s->at >= s->len)
			return false;
		byte = s->data[s->at++];
		if (byte < s->bias)
			return false;
		value += (uint32_t)(byte - s->bias) << (UNSIGNED5_BITS * i);
		if (byte < UNSIGNED5_MORE)
			break;
	}
	*ret_value = value;
	return true;
}

/* The sign is the lowest bit. */
static inline bool unsigned5_read_signed(struct unsigned5 *s, int32_t *ret_value)
{
	uint32_t value;

	if (!unsigned5_read(s, &value))
		return false;
	*ret_value = (int32_t)(value >> 1) ^ -(int32_t)(value & 1);
	return true;
}

#endif
