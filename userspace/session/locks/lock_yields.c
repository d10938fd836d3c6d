// SPDX-License-Identifier: Apache-2.0
#include "session/locks/lock_yields.h"

#include <errno.h>

#include "jvm/continuation/jvm_yielding.h"
#include "jvm/layout/libjvm.h"
#include "session/locks/lock_probes.h"

/* The first virtual thread may come at any time: until it is seen what it parks for is not told. A look is one word of the JVM's. */
#define MOST_WAIT_NS NSEC_PER_SEC

/* Is it known which virtual thread it is? Its heap is not read where the collector moves objects beside Java. */
static int check_heap(const struct lock_yields *yields, struct jvm *jvm, uint32_t pid)
{
	struct wire_parking parking;
	struct err err = { 0 };
	int r = jvm_get_parking(jvm, &parking);

	if (!r && !parking.yielding.klass)
		r = -EOPNOTSUPP;
	if (r != -EOPNOTSUPP)
		return r;
	err_set(&err, r,
		"the heap of process %u is not read: its collector moves objects while threads run",
		pid);
	yields->unseen.fn(&err, yields->unseen.data);
	return r;
}

/* One that has gone parks no more; what else is wrong stays so. */
static int open_probes(const struct lock_yields *yields, const struct process *process,
		       const struct jvm_yield_code *code)
{
	struct err err = { 0 };
	int r = lock_probes_open_yields(yields->capture, process, code, &err);

	if (r >= 0 || r == -ESRCH || r == -ENOENT)
		return r;
	yields->unseen.fn(&err, yields->unseen.data);
	return -EOPNOTSUPP;
}

static int publish(struct jvm *jvm, const struct process *process, void *data)
{
	const struct lock_yields *yields = data;
	const struct mapping *library = libjvm_find_mapping(process);
	struct jvm_yield_code code;
	int r = library ? jvm_get_yield_code(jvm, library->start, library->end, &code) : -EAGAIN;

	if (!r)
		r = check_heap(yields, jvm, process->pid);
	return r < 0 ? r : open_probes(yields, process, &code);
}

void lock_yields_init(struct lock_yields *yields, struct capture *capture, struct jvm_table *jvms,
		      const struct lock_yields_unseen *unseen)
{
	/* Its places go with the process. */
	const struct jvm_watch_ops ops = { publish, NULL, yields, MOST_WAIT_NS };

	yields->capture = capture;
	yields->unseen = *unseen;
	jvm_watch_init(&yields->watch, &ops, jvms);
}
