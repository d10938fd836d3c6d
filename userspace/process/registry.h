/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of the host and their generations. Events are applied in time order (the caller
 * merges), so that the state is that of the moment of the event being handled: a look-up while a
 * sample of time T is at hand sees the mappings of T.
 *
 * A process is (pid, start time, exec count): an exec makes a new generation of the same pid, a
 * fork a new pid with a copy of the mappings. The registry owns all; others hold a `struct
 * process *` only between two calls, or (pid, serial) and look up again.
 */
#ifndef HOSTPROF_PROCESS_REGISTRY_H
#define HOSTPROF_PROCESS_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "process/mappings.h"
#include "process/process.h"

struct registry;

struct registry *registry_new(void);
void registry_free(struct registry *registry);
DEFINE_CLEANUP(struct registry *, registry_free);

/*
 * Read all of /proc. What is learnt has the time of the call; later events override it. Samples
 * cannot be taken before, so that executables and cgroups are left for later: for who asks by
 * registry_get() or registry_find_complete(), and for calls of registry_complete(), which reads
 * those of up to COUNT more processes.
 */
int registry_snapshot(struct registry *registry, struct err *err);
void registry_complete(struct registry *registry, size_t count);

/* Side-band, in time order. */
void registry_fork(struct registry *registry, uint64_t time_ns, uint32_t pid, uint32_t ppid);
/* What was attached to the generation that ends must be detached before. */
void registry_exec(struct registry *registry, uint64_t time_ns, uint32_t pid, const char *comm);
void registry_comm(struct registry *registry, uint32_t pid, uint32_t tid, const char *comm);
/* mapping->path is copied; overlapped parts of older mappings go. */
void registry_mmap(struct registry *registry, uint64_t time_ns, uint32_t pid,
		   const struct mapping *mapping);
void registry_exit(struct registry *registry, uint64_t time_ns, uint32_t pid);

/* Side-band records were lost: forks, exits, mappings perhaps. */
void registry_note_loss(struct registry *registry);

/*
 * Make good what was lost: every process that is not there any more has exited now, and what the
 * others map is read from /proc again when registry_get() next asks for them. Call every few
 * seconds. Once a minute exits are looked for in any case: one whose first thread ended before the
 * others is told by nobody.
 */
void registry_check(struct registry *registry, uint64_t time_ns);

/*
 * The newest generation of a pid (`exited` until it expires), or NULL; its exe and cgroup are known
 * for sure only after registry_find_complete() or registry_get(). registry_get() reads /proc
 * when the pid is not known (a lost side-band record) and always returns a process, empty when it
 * is gone.
 */
struct process *registry_find(struct registry *registry, uint32_t pid);
struct process *registry_find_complete(struct registry *registry, uint32_t pid);
struct process *registry_get(struct registry *registry, uint32_t pid, uint64_t time_ns);

/* Forget exited processes whose exit lies before TIME_NS. `gone` (may be NULL) is called first. */
void registry_expire(struct registry *registry, uint64_t time_ns,
		     void (*gone)(struct process *process, void *data), void *data);

void registry_for_each(struct registry *registry, void (*fn)(struct process *p, void *data),
		       void *data);

#endif
