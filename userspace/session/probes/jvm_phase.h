/* SPDX-License-Identifier: Apache-2.0 */
/* What JVMs do for themselves and tell by their own probes: an event each. */
#ifndef HOSTPROF_SESSION_PROBES_JVM_PHASE_H
#define HOSTPROF_SESSION_PROBES_JVM_PHASE_H

#include <stdint.h>

#include "capture/capture.h"

enum jvm_phase {
	JVM_PHASE_SAFEPOINT, /* -e safepoint */
	JVM_PHASE_JIT,	     /* -e jit */
	JVM_PHASE_CLASSLOAD, /* -e classload */
	JVM_PHASE_GC,	     /* -e gc */
	JVM_PHASE_COUNT
};

/* The one that EVENT is of; JVM_PHASE_COUNT: none. */
enum jvm_phase jvm_phase_of(const struct capture_event *event);

/* Those among the events of OPTIONS, a bit each: 1 << JVM_PHASE_…. */
uint32_t jvm_phases_wanted(const struct capture_options *options);

enum wire_trigger jvm_phase_trigger(enum jvm_phase phase);
/* "safepoint.not-seen", the counter of JVMs without such probes; and "safepoints". */
const char *jvm_phase_counter(enum jvm_phase phase);
const char *jvm_phase_title(enum jvm_phase phase);

#endif
