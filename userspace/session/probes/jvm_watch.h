/* SPDX-License-Identifier: Apache-2.0 */
/* JVMs of which BPF is to know something that they do not know themselves when they start: they are asked until they do. */
#ifndef HOSTPROF_SESSION_PROBES_JVM_WATCH_H
#define HOSTPROF_SESSION_PROBES_JVM_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/vec.h"
#include "jvm/jvm.h"
#include "process/process.h"

/* For what a JVM knows soon after its start, or never. */
#define JVM_WATCH_WAIT_NS (10 * NSEC_PER_SEC)

struct jvm_watch_ops {
	/* Tell BPF of JVM, which PROCESS is. -EOPNOTSUPP: it has no such thing; other errors: ask again. */
	int (*publish)(struct jvm *jvm, const struct process *process, void *data);
	/* No process of that PID is watched any more; NULL: that changes nothing. */
	void (*drop)(uint32_t pid, void *data);
	void *data;
	uint64_t most_wait_ns; /* between two questions to one that does not know yet */
};

struct jvm_watched {
	struct process *process; /* borrowed until it is forgotten */
	bool is_known;		 /* or cannot be */
	uint64_t retry_ns, wait_ns;
};

struct jvm_watch {
	struct jvm_watch_ops ops;
	struct jvm_table *jvms; /* borrowed */
	VEC(struct jvm_watched) items;
};

void jvm_watch_init(struct jvm_watch *watch, const struct jvm_watch_ops *ops,
		    struct jvm_table *jvms);
void jvm_watch_release(struct jvm_watch *watch);

bool jvm_watch_has(const struct jvm_watch *watch, const struct process *process);
/* Ask it at once, and as often as need be; it is not watched yet. */
void jvm_watch_add(struct jvm_watch *watch, struct process *process);
void jvm_watch_poll(struct jvm_watch *watch, uint64_t now_ns);
/* It has ended, or runs another program. */
void jvm_watch_forget(struct jvm_watch *watch, const struct process *process);

#endif
