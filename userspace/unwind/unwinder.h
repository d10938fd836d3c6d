/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Userspace's half of the unwinder: keeps the tables of the BPF programs filled with what is asked
 * for, and finishes the walks that asked. A miss is looked at as soon as it is drained, so that the
 * next sample finds its rows; if its process is gone by then or its mappings were others at the
 * sample's time, it is finished when the sample is applied, with the registry's mappings.
 */
#ifndef HOSTPROF_UNWIND_UNWINDER_H
#define HOSTPROF_UNWIND_UNWINDER_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/image.h"
#include "process/registry.h"
#include "unwind/tables/table_memory.h"
#include "unwind/unwind_jvms.h"
#include "wire.h"

struct unwinder;

/*
 * IMAGES and MEMORY are borrowed, JVMS's data too. FILE_BYTES: what the files that are kept open for
 * their rows may take of memory.
 */
struct unwinder *unwinder_new(struct table_memory *memory, struct image_cache *images,
			      const struct unwind_jvm_source *jvms, size_t file_bytes);
void unwinder_free(struct unwinder *unwinder);
/* What files may take whose rows nobody can want any more: unwind_files_set_room(). */
void unwinder_set_room(struct unwinder *unwinder, size_t bytes);
DEFINE_CLEANUP(struct unwinder *, unwinder_free);

/*
 * A drained sample that BPF could not finish, and its miss. The finished sample (malloc'd, the
 * caller's), or NULL: keep both, and try again if unwinder_wants_again(), else ask
 * unwinder_finish() when the sample's time has come.
 */
struct wire_sample *unwinder_try(struct unwinder *unwinder, const struct wire_miss *miss,
				 const struct wire_sample *sample, uint32_t max_frames);
/* The last try was in vain for want of time, or because a JVM is still starting. */
bool unwinder_wants_again(const struct unwinder *unwinder);
/* To try SAMPLE again now would be in vain: its JVM is still starting. */
bool unwinder_waits_for_jvm(const struct unwinder *unwinder, const struct wire_sample *sample);
/*
 * PROCESS has the mappings of the sample's time. A sample, with a reason if not whole. NULL, where it MAY_WAIT: a slow disk has what the walk
 * wants, and it can be finished later.
 */
struct wire_sample *unwinder_finish(struct unwinder *unwinder, const struct wire_miss *miss,
				    const struct wire_sample *sample, struct process *process,
				    uint32_t max_frames, bool may_wait);

/*
 * PROCESS is a JVM whose samples may come: its mappings and its layout are read now. Until they are known walks wait for them, and
 * frames in its heap are lost.
 */
void unwinder_learn_jvm(struct unwinder *unwinder, const struct wire_process *process);

/* HotSpot's library in the process of a sample that was walked, borrowed; NULL: none is known. */
const struct mapping *unwinder_libjvm(const struct unwinder *unwinder,
				      const struct wire_sample *sample);

/* The time for walks is used up: something else comes first. */
bool unwinder_is_busy(const struct unwinder *unwinder);

/* The process maps this now, says the side-band. */
void unwinder_note_mapping(struct unwinder *unwinder, uint32_t pid, const struct mapping *mapping);
/* SAMPLE is marked WIRE_SAMPLE_STALE. */
void unwinder_note_stale(struct unwinder *unwinder, const struct wire_sample *sample);
/* It runs another program since then: samples from before must not read its memory. */
void unwinder_note_exec(struct unwinder *unwinder, uint32_t pid, uint64_t time_ns);
void unwinder_note_exit(struct unwinder *unwinder, uint32_t pid);

/* Time for walks anew. The rings, what is tried again and what is applied have as much each. */
void unwinder_grant(struct unwinder *unwinder);

/* What came up since the last call: refresh stale spaces, and JVMs. After every drain. */
void unwinder_turn(struct unwinder *unwinder, uint64_t now_ns);

/*
 * From time to time: close files that nobody wants rows of now (they keep what was deleted on the
 * disk), forget what no sample can want any more.
 */
void unwinder_tidy(struct unwinder *unwinder, uint64_t now_ns);

/* A figure: "unwind.NAME", and of what ("" when there is no more to say). */
typedef void (*unwinder_figure_fn)(const char *name, const char *detail, uint64_t value,
				   void *data);

/* CALL fn for each figure that is not 0. */
void unwinder_for_each_figure(const struct unwinder *unwinder, unwinder_figure_fn fn, void *data);

#endif
