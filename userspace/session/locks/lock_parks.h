/* SPDX-License-Identifier: Apache-2.0 */
/* The JVMs whose threads are seen to park: probed from their first instruction on; what leads to the objects that they park for is read as soon as it is there. */
#ifndef HOSTPROF_SESSION_LOCK_PARKS_H
#define HOSTPROF_SESSION_LOCK_PARKS_H

#include "capture/capture.h"
#include "session/locks/lock_yields.h"

struct lock_parks {
	struct capture *capture; /* borrowed */
	struct jvm_watch watch;
	struct lock_yields yields;
};

/* PARKS stays where it is. UNSEEN: of virtual threads. */
void lock_parks_init(struct lock_parks *parks, struct capture *capture, struct jvm_table *jvms,
		     const struct lock_yields_unseen *unseen);
void lock_parks_release(struct lock_parks *parks);

/* Probe the JVM PROCESS, once; 1: it was added before, whatever came of it. -ENODATA: it has no such probes, and other errors of jvm_probes_open(). */
int lock_parks_add(struct lock_parks *parks, struct process *process, struct err *err);
/* Ask those that were not ready yet. */
void lock_parks_poll(struct lock_parks *parks, uint64_t now_ns);
/* It has ended, or runs another program. */
void lock_parks_forget(struct lock_parks *parks, const struct process *process);

#endif
