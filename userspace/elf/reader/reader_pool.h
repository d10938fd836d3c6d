/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This thread's readers: one for files that are trusted, and some for those of others, each for one group of owners only
 * (reader_owner_group()). When there are too many, the one that was not asked for longest is ended, and the next group gets a process that
 * has seen nothing.
 */
#ifndef HOSTPROF_ELF_READER_READER_POOL_H
#define HOSTPROF_ELF_READER_READER_POOL_H

#include <stdint.h>

#include "wall/lane.h"

/* Groups at a time: the loop's thread keeps files of several open; others parse one file after the other. */
#define READER_POOL_LOOP   4
#define READER_POOL_OTHERS 1

/* For OWNER, made of TRADE when there is none. Borrowed until the next call. */
struct lane *reader_pool_get(const struct trade *trade, uint64_t owner);

/* Its process is shown to reader_pool_resident_bytes(). */
void reader_pool_show(struct lane *lane);

/* As lane_generation(), of the reader of OWNER; 0: he has none. */
uint64_t reader_pool_generation(uint64_t owner);

/* All of this thread end. */
void reader_pool_drop(void);

/* What all readers of all threads have in memory. Of one thread only: it keeps files open, until there is none of them. */
uint64_t reader_pool_resident_bytes(void);

#endif
