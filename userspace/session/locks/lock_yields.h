/* SPDX-License-Identifier: Apache-2.0 */
/* The JVMs whose virtual threads are seen to leave their carriers and to come back: as soon as there is code that does it, which the first such thread makes. */
#ifndef HOSTPROF_SESSION_LOCK_YIELDS_H
#define HOSTPROF_SESSION_LOCK_YIELDS_H

#include "capture/capture.h"
#include "session/probes/jvm_watch.h"

/* A JVM has virtual threads whose parks cannot be told; ERR says why. */
struct lock_yields_unseen {
	void (*fn)(const struct err *err, void *data);
	void *data;
};

struct lock_yields {
	struct capture *capture; /* borrowed */
	struct jvm_watch watch;	 /* its owner adds to it, polls, forgets and releases it */
	struct lock_yields_unseen unseen;
};

/* YIELDS stays where it is. */
void lock_yields_init(struct lock_yields *yields, struct capture *capture, struct jvm_table *jvms,
		      const struct lock_yields_unseen *unseen);

#endif
