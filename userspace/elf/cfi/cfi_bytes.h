/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cursor over bytes of call frame information. Past the end every read gives 0 and sets `bad`,
 * so that a decoder asks once when it is done.
 */
#ifndef HOSTPROF_ELF_CFI_CFI_BYTES_H
#define HOSTPROF_ELF_CFI_CFI_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cfi_bytes {
	const uint8_t *at, *end;
	bool bad;
};

static inline size_t cfi_bytes_left(const struct cfi_bytes *b)
{
	return (size_t)(b->end - b->at);
}

static inline void cfi_bytes_skip(struct cfi_bytes *b, uint64_t n)
{
	if (n > cfi_bytes_left(b)) {
		b->bad = true;
		b->at = b->end;
		return;
	}
	b->at += n;
}

/* A little-endian number of N (1..8) bytes. */
static inline uint64_t cfi_bytes_fixed(struct cfi_bytes *b, unsigned int n)
{
	const uint8_t *at = b->at;
	uint64_t value = 0;

	cfi_bytes_skip(b, n);
	for (unsigned int i = 0; !b->bad && i < n; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

static inline uint8_t cfi_bytes_byte(struct cfi_bytes *b)
{
	return (uint8_t)cfi_bytes_fixed(b, 1);
}

/* LEB128 (DWARF 5, 7.6): the bits and their number; more than 64 are no number. */
static inline uint64_t cfi_bytes_leb(struct cfi_bytes *b, unsigned int *ret_bits, uint8_t *ret_last)
{
	unsigned int shift = 0;
	uint64_t value = 0;
	uint8_t byte;

	do {
		byte = cfi_bytes_byte(b);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		else
			b->bad = true;
		shift += 7;
	} while ((byte & 0x80) && !b->bad);
	*ret_bits = shift;
	*ret_last = byte;
	return value;
}

static inline uint64_t cfi_bytes_uleb(struct cfi_bytes *b)
{
	unsigned int bits;
	uint8_t last;

	return cfi_bytes_leb(b, &bits, &last);
}

static inline int64_t cfi_bytes_sleb(struct cfi_bytes *b)
{
	unsigned int bits;
	uint8_t last;
	uint64_t value = cfi_bytes_leb(b, &bits, &last);

	if ((last & 0x40) && bits < 64)
		value |= ~0ULL << bits;
	return (int64_t)value;
}

#endif
