// SPDX-License-Identifier: Apache-2.0
#include "session/locks/lock_probes.h"

#include "session/alloc/alloc_probes.h"
#include "session/probes/jvm_probes.h"

/* jvmagent/locks.h */
#define LOCK_FUNCTION	    "hostprof_lock"
#define LOCK_BEGIN_FUNCTION "hostprof_lock_begin"

int lock_probes_open(struct capture *capture, const struct process *process, struct err *err)
{
	return agent_probes_open(capture, process, WIRE_TRIGGER_LOCK_AGENT, LOCK_FUNCTION, err);
}

int lock_probes_open_begin(struct capture *capture, const struct process *process, struct err *err)
{
	return agent_probes_open(capture, process, WIRE_TRIGGER_LOCK_BEGIN, LOCK_BEGIN_FUNCTION,
				 err);
}

int lock_probes_open_parks(struct capture *capture, const struct process *process, struct err *err)
{
	/* By hotspot.d of src/hotspot/os/posix/dtrace. */
	static const struct jvm_probe probes[WIRE_PARK_STEPS] = {
		[WIRE_PARK_BEGIN] = { .provider = "hotspot", .name = "thread__park__begin" },
		[WIRE_PARK_END] = { .provider = "hotspot", .name = "thread__park__end" },
	};

	return jvm_probes_open(capture, process, WIRE_TRIGGER_LOCK_PARK, probes, WIRE_PARK_STEPS,
			       err);
}

bool lock_probes_wanted(const struct capture_options *options, uint64_t *ret_least_ns)
{
	const struct capture_event *event =
		capture_event_find(options->events, options->event_count, capture_event_is_lock);

	if (event)
		*ret_least_ns = event->least_ns;
	return event;
}
