/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JVMs whose layouts BPF knows. A layout is read when the first walk wants it, and looked at
 * again from time to time: a JVM makes some of its code only when it is needed.
 */
#ifndef HOSTPROF_UNWIND_UNWIND_JVMS_H
#define HOSTPROF_UNWIND_UNWIND_JVMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "process/live_processes.h"
#include "process/mapping.h"
#include "unwind/tables/table_memory.h"
#include "wire.h"

/* Where layouts come from: jvm_get_wire() of the JVM that maps LIBJVM, -ENODATA too when none does. */
struct unwind_jvm_source {
	int (*read)(uint32_t pid, const struct mapping *libjvm, bool urgent,
		    struct wire_jvm *ret_wire, void *data);
	void *data;
};

struct unwind_jvms;

/* MEMORY and LIVE are borrowed; LIVE must stay until it is freed. */
struct unwind_jvms *unwind_jvms_new(struct table_memory *memory,
				    const struct unwind_jvm_source *source,
				    struct live_processes *live);
void unwind_jvms_free(struct unwind_jvms *jvms);
DEFINE_CLEANUP(struct unwind_jvms *, unwind_jvms_free);

/* What is published with this serial, borrowed until the next call of another function; or NULL. */
const struct wire_jvm *unwind_jvms_find(const struct unwind_jvms *jvms, uint32_t serial);

/*
 * Read the layout of the JVM in process PID now, and publish it. -EAGAIN: it is still starting, or
 * was asked only just now.
 */
int unwind_jvms_learn(struct unwind_jvms *jvms, uint32_t pid, const struct mapping *libjvm,
		      uint64_t now_ns, const struct wire_jvm **ret_wire);

/* That would be -EAGAIN without a look: the JVM of process PID was asked only just now, in vain. */
bool unwind_jvms_pauses(const struct unwind_jvms *jvms, uint32_t pid, uint64_t now_ns);

/* Look at once whether it has changed; NULL: it has not. */
const struct wire_jvm *unwind_jvms_refresh(struct unwind_jvms *jvms, uint32_t serial,
					   uint64_t now_ns);

/* The same of a JVM that may be gone; it is not published. -ENODATA. */
int unwind_jvms_read(struct unwind_jvms *jvms, uint32_t pid, const struct mapping *libjvm,
		     struct wire_jvm *ret_wire);

/* A blob that a walk found only after many hops. */
void unwind_jvms_note_far(struct unwind_jvms *jvms, const struct wire_jvm *wire, uint64_t pc,
			  uint64_t blob);

/* The process has ended, or runs another program. */
void unwind_jvms_forget(struct unwind_jvms *jvms, uint32_t pid);

/* Publish what has changed. */
void unwind_jvms_turn(struct unwind_jvms *jvms, uint64_t now_ns);

struct unwind_jvms_stats {
	uint64_t known; /* now */
	uint64_t reads, read_ns, waits;
	uint64_t changes;
	uint64_t far_blobs;
};

void unwind_jvms_get_stats(const struct unwind_jvms *jvms, struct unwind_jvms_stats *ret_stats);

#endif
