/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JVMs whose threads are seen to park (-e lock), probed from their first instruction on, and those whose virtual threads are seen to wait (-e offcpu,
 * wall). What leads to the objects that they park for, and to virtual threads, is read as soon as it is there.
 */
#ifndef HOSTPROF_SESSION_LOCK_PARKS_H
#define HOSTPROF_SESSION_LOCK_PARKS_H

#include "capture/capture.h"
#include "session/probes/virtual_yields.h"

struct lock_parks {
	struct capture *capture; /* borrowed */
	struct jvm_watch watch;
	struct virtual_yields yields;
};

/* PARKS stays where it is. UNSEEN: of virtual threads. */
void lock_parks_init(struct lock_parks *parks, struct capture *capture, struct jvm_table *jvms,
		     struct virtual_yields_wanted wanted,
		     const struct virtual_yields_unseen *unseen);
void lock_parks_release(struct lock_parks *parks);

/* Probe the JVM PROCESS, once; 1: it was added before, whatever came of it. -ENODATA: it has no probes of parks, and they are wanted, and other errors of jvm_probes_open(). */
int lock_parks_add(struct lock_parks *parks, struct process *process, struct err *err);
/* Ask those that were not ready yet. */
void lock_parks_poll(struct lock_parks *parks, uint64_t now_ns);
/* It has ended, or runs another program. */
void lock_parks_forget(struct lock_parks *parks, const struct process *process);

#endif
