/* SPDX-License-Identifier: Apache-2.0 */
/* The JVMs that are probed for what they do for themselves, and what BPF is to know of them. */
#ifndef HOSTPROF_SESSION_PROBES_JVM_PHASES_H
#define HOSTPROF_SESSION_PROBES_JVM_PHASES_H

#include "base/err.h"
#include "session/probes/jvm_phase.h"
#include "session/probes/jvm_watch.h"

struct jvm_phases {
	struct capture *capture; /* borrowed */
	uint32_t wanted;	 /* jvm_phases_wanted() */
	uint32_t seen;		 /* of these the ones whose probes a JVM has */
	struct jvm_watch watch;
};

/* PHASES stays where it is. */
void jvm_phases_init(struct jvm_phases *phases, struct capture *capture, struct jvm_table *jvms,
		     uint32_t wanted);
void jvm_phases_release(struct jvm_phases *phases);

/* Probe the JVM PROCESS for all that is wanted; UNSEEN is told of each that it has no probes of. */
void jvm_phases_add(struct jvm_phases *phases, struct process *process,
		    void (*unseen)(enum jvm_phase phase, const struct err *err, void *data),
		    void *data);
/* Ask those that were not ready yet. */
void jvm_phases_poll(struct jvm_phases *phases, uint64_t now_ns);
/* It has ended, or runs another program. */
void jvm_phases_forget(struct jvm_phases *phases, const struct process *process);

#endif
