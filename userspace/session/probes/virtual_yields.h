/* SPDX-License-Identifier: Apache-2.0 */
/* The JVMs whose virtual threads are seen to leave their carriers and to come back: as soon as there is code that does it, which the first such thread makes. */
#ifndef HOSTPROF_SESSION_PROBES_VIRTUAL_YIELDS_H
#define HOSTPROF_SESSION_PROBES_VIRTUAL_YIELDS_H

#include "capture/capture.h"
#include "session/probes/jvm_watch.h"

/* What they are seen for. */
struct virtual_yields_wanted {
	bool locks; /* -e lock: parks for an object */
	bool waits; /* -e offcpu, wall: all of them */
};

/* A JVM has virtual threads that cannot be seen; ERR says why. */
struct virtual_yields_unseen {
	void (*fn)(const struct err *err, void *data);
	void *data;
};

struct virtual_yields {
	struct capture *capture; /* borrowed */
	struct jvm_watch watch;	 /* its owner adds to it, polls, forgets and releases it */
	struct virtual_yields_wanted wanted;
	struct virtual_yields_unseen unseen;
};

/* YIELDS stays where it is. */
void virtual_yields_init(struct virtual_yields *yields, struct capture *capture,
			 struct jvm_table *jvms, struct virtual_yields_wanted wanted,
			 const struct virtual_yields_unseen *unseen);

/* FN is told of each JVM whose virtual threads are seen, or would be if it had any that can be. */
void virtual_yields_for_each(const struct virtual_yields *yields,
			     void (*fn)(struct jvm *jvm, const struct process *process, void *data),
			     void *data);

#endif
