// SPDX-License-Identifier: Apache-2.0
#include "session/probes/jvm_phase.h"

static const struct {
	enum wire_trigger trigger;
	const char *counter, *title;
} rows[JVM_PHASE_COUNT] = {
	[JVM_PHASE_SAFEPOINT] = { WIRE_TRIGGER_SAFEPOINT, "safepoint.not-seen", "safepoints" },
	[JVM_PHASE_JIT] = { WIRE_TRIGGER_JIT, "jit.not-seen", "compilations" },
	[JVM_PHASE_CLASSLOAD] = { WIRE_TRIGGER_CLASS_LOAD, "classload.not-seen", "loaded classes" },
	[JVM_PHASE_GC] = { WIRE_TRIGGER_GC, "gc.not-seen", "collections" },
};

enum jvm_phase jvm_phase_of(const struct capture_event *event)
{
	enum jvm_phase phase = 0;

	while (phase < JVM_PHASE_COUNT && rows[phase].trigger != event->trigger)
		phase++;
	return phase;
}

uint32_t jvm_phases_wanted(const struct capture_options *options)
{
	uint32_t wanted = 0;

	for (unsigned int i = 0; i < options->event_count; i++)
		wanted |= 1U << jvm_phase_of(&options->events[i]);
	return wanted & ~(1U << JVM_PHASE_COUNT);
}

enum wire_trigger jvm_phase_trigger(enum jvm_phase phase)
{
	return rows[phase].trigger;
}

const char *jvm_phase_counter(enum jvm_phase phase)
{
	return rows[phase].counter;
}

const char *jvm_phase_title(enum jvm_phase phase)
{
	return rows[phase].title;
}
