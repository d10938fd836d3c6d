/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JVMs of a run: their agents attached when asked for, their code maps opened when there is one.
 * A JVM that is still starting is tried again.
 */
#ifndef HOSTPROF_JVM_ATTACH_AGENTS_H
#define HOSTPROF_JVM_ATTACH_AGENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "jvm/jvm.h"
#include "process/process.h"

struct agents;

/* Who wants to hear of what happens to them; each may be NULL. */
struct agents_hooks {
	/* The agent has just been loaded into this JVM, by us. */
	void (*attached)(uint32_t pid, void *data);
	/* Its code map is read from now on. An error is the reason why its agent is of no use. */
	int (*opened)(struct process *process, struct jvm *jvm, void *data, struct err *err);
	void *data;
};

/* JVMS is borrowed and outlives it. ATTACH: load the agent into every JVM that allows it. */
int agents_new(struct jvm_table *jvms, bool attach, struct agents **ret_agents, struct err *err);
void agents_set_hooks(struct agents *agents, const struct agents_hooks *hooks);
void agents_free(struct agents *agents);
DEFINE_CLEANUP(struct agents *, agents_free);

/*
 * PROCESS maps a libjvm.so: take care of it from now on. Its agent is used (attached, its lease
 * taken) only when it is WANTED, as a target of this run; once wanted it stays so. Cheap when it is known already.
 */
void agents_add(struct agents *agents, struct process *process, bool wanted);

/* A sample of this JVM is at hand: it is a target. */
void agents_note_sample(struct agents *agents, struct process *process);

/* Try those that were not ready yet; call every 50-100 ms. */
void agents_poll(struct agents *agents);

/* PROCESS has gone or execed. Its figures and (of the first hundred) its failure stay. */
void agents_forget(struct agents *agents, struct process *process);

/* The run ends: what is under way has a second yet. */
void agents_hurry(void);

/*
 * The agents that were loaded for this run end, after its leases were given back: the JVMs are as they were
 * found. Waits for them, a few seconds at most.
 */
void agents_detach(struct agents *agents);

/*
 * The agent of PROCESS is of no use for good: it could not be loaded, or it cannot do what is asked of it. Also of a
 * JVM that has not been ready for it again and again, though that is tried on.
 */
bool agents_has_failed(const struct agents *agents, const struct process *process);

/* True while an attach or a first replay is under way, at most for a few seconds. */
bool agents_busy(const struct agents *agents);

/* JVMs that were sampled, and those of them whose code map was read. */
void agents_count(const struct agents *agents, uint32_t *ret_jvms, uint32_t *ret_with_agent);

/* Why a JVM's agent could not be used, one line each; FN's text lives during the call. */
void agents_for_each_failure(const struct agents *agents,
			     void (*fn)(uint32_t pid, const char *why, void *data), void *data);

#endif
