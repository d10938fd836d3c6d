/* SPDX-License-Identifier: Apache-2.0 */
/* What Go's tables say of an address: the function, its file and line, and what was inlined there. */
#ifndef HOSTPROF_ELF_GO_GO_FRAMES_H
#define HOSTPROF_ELF_GO_GO_FRAMES_H

#include "elf/go/go_table.h"

/* Of more that are inlined into one another the innermost ones are told, and the function itself. */
#define GO_MAX_FRAMES 64
#define GO_TEXT_BYTES (32U << 10)
/* Longer names are cut; those of generic functions have some hundred bytes. */
#define GO_MAX_TEXT 1024

struct go_frame {
	uint32_t name, file; /* in the text, each with its end; file may be "" */
	int32_t line;	     /* 0: not known */
};

/* Innermost first; the last one is the function itself, the others were inlined. */
struct go_frames {
	uint64_t start; /* of the function */
	uint32_t count, text_bytes;
	struct go_frame frame[GO_MAX_FRAMES];
	char text[GO_TEXT_BYTES];
};

/* ADDRESS is within the call for a return address. False: no function of these tables is there. */
bool go_frames_find(const struct go_table *table, uint64_t address, struct go_frames *ret);

/* How many bytes of it there are. */
size_t go_frames_bytes(const struct go_frames *frames);
/* Is it what go_frames_find() makes? BYTES of it came from a reader. */
bool go_frames_are_sound(const struct go_frames *frames, size_t bytes);

#endif
