/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of perf maps, in the reader. */
#ifndef HOSTPROF_ELF_READER_READER_SERVE_PERF_MAP_H
#define HOSTPROF_ELF_READER_READER_SERVE_PERF_MAP_H

#include "elf/reader/reader_call.h"
#include "wall/wall_call.h"

/* FD is borrowed. */
int64_t reader_serve_perf_map(struct wall_call *call, int fd);

/* This thread's, for one call: what is read of the file, and what is found in that. */
struct reader_map_room {
	char text[READER_MAP_BYTES];
	struct reader_perf_map found;
};

struct reader_map_room *reader_map_room(void);

/* For whoever else says what is where: is there room for one line more, whatever its name? */
bool reader_map_has_room(const struct reader_perf_map *answer);
/* One line; none when it has no bytes, no name and no place it came FROM, or ends beyond all addresses. LEN: READER_MAP_NAME at most. */
void reader_map_add(struct reader_perf_map *answer, uint64_t start, uint64_t size, const char *name,
		    size_t len, uint64_t from);
/* What the call is answered with; its bytes. */
int64_t reader_map_answer(struct wall_call *call, const struct reader_perf_map *answer);

#endif
