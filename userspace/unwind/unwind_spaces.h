/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes that BPF knows the code of: their mappings are read when a walk first asks for
 * them, and again when they have changed, which may cost two per cent of a cpu for all together.
 */
#ifndef HOSTPROF_UNWIND_UNWIND_SPACES_H
#define HOSTPROF_UNWIND_UNWIND_SPACES_H

#include <stdbool.h>
#include <stdint.h>

#include "process/live_processes.h"
#include "unwind/tables/space_store.h"
#include "unwind/unwind_files.h"
#include "wire.h"

struct unwind_spaces;

/* All are borrowed; LIVE must stay until it is freed. */
struct unwind_spaces *unwind_spaces_new(struct table_memory *memory, struct unwind_files *files,
					struct live_processes *live);
void unwind_spaces_free(struct unwind_spaces *spaces);
DEFINE_CLEANUP(struct unwind_spaces *, unwind_spaces_free);

/* What is published of the process generation that SAMPLE is of; -ENOENT. */
int unwind_spaces_get(const struct unwind_spaces *spaces, const struct wire_sample *sample,
		      struct wire_space *ret_space);

/*
 * The code of HotSpot's library in that process, borrowed until its mappings are read again. NULL:
 * it maps none, or its mappings are not known.
 */
const struct mapping *unwind_spaces_libjvm(const struct unwind_spaces *spaces,
					   const struct wire_sample *sample);
/* Its layout is published. -ENOENT: the process is not. */
int unwind_spaces_set_jvm(struct unwind_spaces *spaces, const struct wire_sample *sample,
			  uint32_t serial);

/* Were its mappings read after SAMPLE was taken? */
bool unwind_spaces_read_since(const struct unwind_spaces *spaces, const struct wire_sample *sample);

/*
 * Read the mappings of MISS's process now and publish them for the generation of SAMPLE. -ESTALE:
 * it is another program by now; -EAGAIN: that was done only just now, and often, or is in vain.
 */
int unwind_spaces_read(struct unwind_spaces *spaces, const struct wire_miss *miss,
		       const struct wire_sample *sample, uint64_t now_ns);

/* The same before it has a sample or misses anything: OF tells its generation (tgid, start_ns, exec_id). */
int unwind_spaces_learn(struct unwind_spaces *spaces, const struct wire_sample *of,
			uint64_t now_ns);

/*
 * The process maps this now: read its mappings again soon, if it is one of those that are known.
 * If it is HotSpot's library, its Java frames are missed from now on. One that puts another file
 * where code was is given up for a second: BPF does not see that, and only the registry knows what
 * was there at the time of a sample.
 */
void unwind_spaces_note_mapping(struct unwind_spaces *spaces, uint32_t pid,
				const struct mapping *mapping, uint64_t now_ns);
/* What it maps can be had now: read its mappings again, if it is one of those that are known. */
void unwind_spaces_note_warmed(struct unwind_spaces *spaces, uint32_t pid);
/* BPF says so by a sample of TIME_NS. Where reading again does not help, it is told not to. */
void unwind_spaces_note_differs(struct unwind_spaces *spaces, uint32_t pid, uint64_t time_ns);
void unwind_spaces_forget(struct unwind_spaces *spaces, uint32_t pid, uint64_t now_ns);

/* Read what is stale, as far as it may cost. */
void unwind_spaces_turn(struct unwind_spaces *spaces, uint64_t now_ns);

/* unwind_files_mark() all that is published. */
void unwind_spaces_mark_files(const struct unwind_spaces *spaces);

struct unwind_spaces_stats {
	uint64_t reads, read_ns, refuted;
	struct space_store_stats store;
};

void unwind_spaces_get_stats(const struct unwind_spaces *spaces,
			     struct unwind_spaces_stats *ret_stats);

#endif
