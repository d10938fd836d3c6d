/* SPDX-License-Identifier: Apache-2.0 */
/* Why a thread waits: what the kernel knows of it, and beside that the names of its frames (bpf/wire_waits.def). */
#ifndef HOSTPROF_SYMBOLIZE_WAITS_WAIT_H
#define HOSTPROF_SYMBOLIZE_WAITS_WAIT_H

#include "profile/profile.h"
#include "wire.h"

/* CAUSE by the frames of STACK where these know better. */
enum wire_cause wait_cause(const struct profile *profile, uint32_t stack, enum wire_cause cause);

/*
 * The same where a virtual thread waited without its carrier (wire_sample.unmounted): of whatever it waits for, it parks. CAUSE is
 * WIRE_CAUSE_PARK, WIRE_CAUSE_MONITOR_ENTER, or WIRE_CAUSE_NONE: how it left is for the frames to tell, too.
 */
enum wire_cause wait_unmounted_cause(const struct profile *profile, uint32_t stack,
				     enum wire_cause cause);

/* Its name in views, recordings and lines: "socket read". */
const char *wait_reason(enum wire_cause cause);

/* How profiles call an enum wire_state; IN_USER tells the two that run. */
enum thread_state wait_state(unsigned int wire_state, bool in_user);

#endif
