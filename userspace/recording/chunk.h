/* SPDX-License-Identifier: Apache-2.0 */
/* The 68 bytes that a chunk begins with, big-endian; see jdk/jfr/internal/consumer/ChunkHeader.java. */
#ifndef HOSTPROF_RECORDING_CHUNK_H
#define HOSTPROF_RECORDING_CHUNK_H

#include <stdint.h>

#include "recording/write_values.h"

struct jfr_chunk_header {
	uint8_t magic[4];
	uint16_t major, minor;
	uint64_t size;	     /* of the chunk with this header */
	uint64_t checkpoint; /* offset of the last one in the chunk */
	uint64_t metadata;   /* offset in the chunk */
	uint64_t start_wall_ns;
	uint64_t duration_ns;
	uint64_t start_ticks;
	uint64_t ticks_per_second;
	uint8_t state; /* 0: finished */
	uint8_t pad[2];
	uint8_t flags;
} __attribute__((packed));

_Static_assert(sizeof(struct jfr_chunk_header) == JFR_HEADER_BYTES, "the header is 68 bytes");

static const uint8_t jfr_magic[4] = { 'F', 'L', 'R', 0 };

#endif
