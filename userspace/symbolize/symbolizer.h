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
struct jvm; /* jvm/jvm.h */
struct jvm_table;

/* JVMS may be NULL: no Java names then. */
struct symbolizer *symbolizer_new(struct image_cache *images, struct jvm_table *jvms);
void symbolizer_free(struct symbolizer *symbolizer);
DEFINE_CLEANUP(struct symbolizer *, symbolizer_free);

/*
 * Open (not parse) the file of every mapping of PROCESS that was not opened yet, while it lives.
 * Call when its first sample or a new mapping arrives.
 */
void symbolizer_touch(struct symbolizer *symbolizer, struct process *process);

/*
 * A sample has just arrived, its turn comes later: read the names that may be gone by then: code
 * is thrown away, classes are unloaded.
 */
void symbolizer_prefetch(struct symbolizer *symbolizer, struct process *process,
			 const struct wire_sample *sample);
/* The same while the registry does not know the JVM's process yet. */
void symbolizer_prefetch_jvm(struct jvm *jvm, const struct wire_sample *sample);

/* True when every image that the sample needs is parsed (or failed); else parsing was asked for. */
bool symbolizer_ready(struct symbolizer *symbolizer, struct process *process,
		      const struct wire_sample *sample);

/*
 * The stack of SAMPLE in PROFILE's tables: kernel frames, then user frames with inlined Java
 * methods as frames of their own, then "[unwind: reason]" as the root when the walk ended early.
 * Returns the stack id.
 */
uint32_t symbolizer_stack(struct symbolizer *symbolizer, struct profile *profile,
			  struct process *process, const struct wire_sample *sample);

/*
 * The same before the sample's turn, and at once: by the mappings, symbols and code maps of now, with
 * module and offset of files that are not parsed yet. PROCESS may be NULL (not known yet): its frames
 * are addresses.
 */
uint32_t symbolizer_stack_now(struct symbolizer *symbolizer, struct profile *profile,
			      struct process *process, const struct wire_sample *sample);

/* Why kernel frames have no names: a sentence; "" when they have (known after the first one). */
const char *symbolizer_kernel_failure(const struct symbolizer *symbolizer);

/* A process has gone or execed: drop its caches. */
void symbolizer_forget(struct symbolizer *symbolizer, struct process *process);

/* PROFILE's tables were emptied (a new chunk): drop every cached id. */
void symbolizer_reset_ids(struct symbolizer *symbolizer);

#endif
