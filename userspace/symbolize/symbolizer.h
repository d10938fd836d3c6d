/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses of a sample → frames of a profile: kernel, native, vDSO, perf maps, Java. The state of
 * the registry and of the code maps must be that of the sample's time (the caller merges by time).
 */
#ifndef HOSTPROF_SYMBOLIZE_SYMBOLIZER_H
#define HOSTPROF_SYMBOLIZE_SYMBOLIZER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "elf/image.h"
#include "process/registry.h"
#include "profile/profile.h"
#include "wire.h"

struct symbolizer;
struct jvm;	  /* jvm/jvm.h */
struct jvm_table; /* the same */

/* What a sample's numbers mean; ids in the profile's tables. */
struct symbolized {
	uint32_t stack;
	uint32_t thread_name; /* the full Java name where it is known, else the kernel's */
	uint32_t java_tid;    /* 0 unknown */
	bool is_virtual;      /* of a virtual thread */
	struct jvm
		*jvm; /* borrowed from the process; NULL: none, or none that the registry knows */
};

/* Both are borrowed. */
struct symbolizer *symbolizer_new(struct image_cache *images, struct jvm_table *jvms);
/* POOL, which is to end before the symbolizer, reads the kernel's symbols; without it the first sample that has such frames does. */
void symbolizer_set_pool(struct symbolizer *symbolizer, struct worker_pool *pool);
void symbolizer_free(struct symbolizer *symbolizer);
DEFINE_CLEANUP(struct symbolizer *, symbolizer_free);

/* Of allocations the frames between the probe and the first Java frame stay; else they are left out. */
void symbolizer_keep_jvm_frames(struct symbolizer *symbolizer, bool keep);

/*
 * A sample has just arrived, its turn comes later. What may be gone by then is taken now: the files
 * of its process's mappings are opened, those that it needs begin to be parsed, names that are not known yet are read from its
 * JVM, which throws code away and unloads classes. PROCESS may be NULL (not known yet). False: it has
 * Java frames, and the registry knows no JVM.
 */
bool symbolizer_arrive(struct symbolizer *symbolizer, struct process *process,
		       const struct wire_sample *sample);
/* Then the names, of the JVM that the caller knows. */
void symbolizer_read_names(struct jvm *jvm, const struct wire_sample *sample);

/*
 * The stack of SAMPLE in PROFILE's tables: kernel frames, then user frames with inlined Java
 * methods as frames of their own, then "[unwind: reason]" as the root when the walk ended early. Of an
 * allocation the class comes first. And its thread's name as of then. False: files that it needs are
 * not parsed yet, which they were asked for; try again.
 */
bool symbolizer_try(struct symbolizer *symbolizer, struct profile *profile, struct process *process,
		    const struct wire_sample *sample, struct symbolized *ret);
/* The same in any case: with module and offset of files that are not parsed. */
struct symbolized symbolizer_take(struct symbolizer *symbolizer, struct profile *profile,
				  struct process *process, const struct wire_sample *sample);

/*
 * That before the sample's turn, by the mappings, symbols and code maps of now. PROCESS may be NULL
 * (not known yet): its frames are addresses.
 */
struct symbolized symbolizer_take_now(struct symbolizer *symbolizer, struct profile *profile,
				      struct process *process, const struct wire_sample *sample);

/* Why kernel frames have no names: a sentence; "" when they have (known after the first one). */
const char *symbolizer_kernel_failure(const struct symbolizer *symbolizer);

/*
 * The kernel's variable at ADDRESS; NULL: none, or the kernel does not tell. The first call begins to read them, and until that is done there
 * are none. Borrowed.
 */
const char *symbolizer_variable_of_kernel(struct symbolizer *symbolizer, uint64_t address);

/* A process has gone or execed: drop its caches. */
void symbolizer_forget(struct symbolizer *symbolizer, struct process *process);

/* PROFILE's tables were emptied (a new chunk): drop every cached id. */
void symbolizer_reset_ids(struct symbolizer *symbolizer);

#endif
