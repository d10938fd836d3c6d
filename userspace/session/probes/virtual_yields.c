// SPDX-License-Identifier: Apache-2.0
#include "session/probes/virtual_yields.h"

#include <errno.h>

#include "jvm/continuation/jvm_yielding.h"
#include "jvm/layout/libjvm.h"
#include "session/probes/jvm_probes.h"

/* The first virtual thread may come at any time: until it is seen what it waits for is not told. A look is one word of the JVM's. */
#define MOST_WAIT_NS NSEC_PER_SEC

/* Is it known which virtual thread it is? Its heap is not read where the collector moves objects beside Java. */
static int check_heap(const struct virtual_yields *yields, struct jvm *jvm, uint32_t pid)
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

/* One that has gone waits no more; what else is wrong stays so. */
static int open_probes(const struct virtual_yields *yields, const struct process *process,
		       enum wire_trigger trigger, const uint64_t *addresses, uint32_t count)
{
	struct err err = { 0 };
	int r = jvm_probes_open_code(yields->capture, process, trigger, addresses, count, &err);

	if (r >= 0 || r == -ESRCH || r == -ENOENT)
		return r;
	yields->unseen.fn(&err, yields->unseen.data);
	return -EOPNOTSUPP;
}

static int open_waits(const struct virtual_yields *yields, const struct process *process,
		      const uint64_t *addresses, uint32_t count)
{
	int r = open_probes(yields, process, WIRE_TRIGGER_OFFCPU_YIELD, addresses, count);

	/* If that fails waits that had begun before are not told. */
	if (r >= 0)
		(void)capture_set_yields_since(yields->capture, process->pid, clock_now_ns());
	return r;
}

/* Agents tell of monitors, so that -e lock asks for no more than the first two steps. */
static int open_wanted(const struct virtual_yields *yields, const struct process *process,
		       const struct jvm_yield_code *code)
{
	const uint64_t addresses[] = {
		[WIRE_YIELD_FREEZE] = code->freeze,
		[WIRE_YIELD_THAW] = code->thaw,
		[WIRE_YIELD_PREEMPT] = code->preempt,
	};
	uint32_t of_waits = code->preempt ? WIRE_YIELD_PREEMPT + 1 : WIRE_YIELD_PREEMPT;
	int r = 0;

	if (yields->wanted.locks)
		r = open_probes(yields, process, WIRE_TRIGGER_LOCK_YIELD, addresses,
				WIRE_YIELD_PREEMPT);
	if (r >= 0 && yields->wanted.waits)
		r = open_waits(yields, process, addresses, of_waits);
	return r;
}

static int publish(struct jvm *jvm, const struct process *process, void *data)
{
	const struct virtual_yields *yields = data;
	const struct mapping *library = libjvm_find_mapping(process);
	struct jvm_yield_code code;
	int r = library ? jvm_get_yield_code(jvm, library->start, library->end, &code) : -EAGAIN;

	if (!r)
		r = check_heap(yields, jvm, process->pid);
	return r < 0 ? r : open_wanted(yields, process, &code);
}

/* Its places go with the process. */
static void drop(uint32_t pid, void *data)
{
	const struct virtual_yields *yields = data;

	(void)capture_set_yields_since(yields->capture, pid, 0);
}

void virtual_yields_init(struct virtual_yields *yields, struct capture *capture,
			 struct jvm_table *jvms, struct virtual_yields_wanted wanted,
			 const struct virtual_yields_unseen *unseen)
{
	const struct jvm_watch_ops ops = { publish, drop, yields, MOST_WAIT_NS };

	yields->capture = capture;
	yields->wanted = wanted;
	yields->unseen = *unseen;
	jvm_watch_init(&yields->watch, &ops, jvms);
}

void virtual_yields_for_each(const struct virtual_yields *yields,
			     void (*fn)(struct jvm *jvm, const struct process *process, void *data),
			     void *data)
{
	const struct jvm_watched *at;

	vec_for_each (at, &yields->watch.items) {
		struct jvm *jvm = at->is_known && !at->process->exited
					  ? jvm_table_get(yields->watch.jvms, at->process)
					  : NULL;

		if (jvm)
			fn(jvm, at->process, data);
	}
}
