// SPDX-License-Identifier: Apache-2.0
#include "session/safepoints/safepoint_probes.h"

#include "session/probes/jvm_probes.h"

bool safepoint_probes_wanted(const struct capture_options *options)
{
	for (unsigned int i = 0; i < options->event_count; i++)
		if (capture_event_is_safepoint(&options->events[i]))
			return true;
	return false;
}

int safepoint_probes_open(struct capture *capture, const struct process *process, struct err *err)
{
	/* By hotspot.d and hs_private.d of src/hotspot/os/posix/dtrace. */
	static const struct jvm_probe probes[WIRE_SAFEPOINT_STEPS] = {
		[WIRE_SAFEPOINT_BEGIN] = { "hs_private", "safepoint__begin" },
		[WIRE_SAFEPOINT_OPERATION] = { "hotspot", "vmops__begin" },
		[WIRE_SAFEPOINT_OPERATION_END] = { "hotspot", "vmops__end" },
		[WIRE_SAFEPOINT_END] = { "hs_private", "safepoint__end" },
	};

	return jvm_probes_open(capture, process, WIRE_TRIGGER_SAFEPOINT, probes,
			       WIRE_SAFEPOINT_STEPS, err);
}
