/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a perf map ("START SIZE name") and records of a jitdump, asked of this thread's reader. */
#ifndef HOSTPROF_ELF_READER_READER_PERF_MAP_H
#define HOSTPROF_ELF_READER_READER_PERF_MAP_H

#include "elf/reader/reader.h"

/*
 * What is in LEN bytes at OFFSET of the file FD (borrowed) of OWNER, as far as it fits: each line ends behind its start, each
 * name has 1 to READER_MAP_NAME bytes and an end. `taken` bytes need not be read again; 0: there is no more line yet. 0 or a
 * negative errno; reader_has_gone(): its reader came to its end with it.
 */
int reader_perf_map(int fd, uint64_t owner, uint64_t offset, uint64_t len,
		    struct reader_perf_map *ret_map, struct err *err);

/*
 * The same of a jitdump, of which more is skipped than a call looks at: the machine code. Its lines may be code that has moved (`from`). -EBADMSG: it is none, or
 * what is at OFFSET is no record, and nothing behind it can be told.
 */
int reader_jit_dump(int fd, uint64_t owner, uint64_t offset, uint64_t len,
		    struct reader_perf_map *ret_map, struct err *err);

/* Borrowed, of a line of MAP. */
const char *reader_map_name(const struct reader_perf_map *map, const struct reader_map_line *line);

#endif
