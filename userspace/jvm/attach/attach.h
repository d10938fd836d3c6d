/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HotSpot's dynamic attach protocol (JDK 8 to current), spoken by us: preflight against its traps
 * first, then socket, command, reply. Source: src/hotspot/os/posix/attachListener_posix.cpp and
 * attachListener.cpp of JDK 8u..25.
 */
#ifndef HOSTPROF_JVM_ATTACH_ATTACH_H
#define HOSTPROF_JVM_ATTACH_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * Whether PID can be attached to without harm: it is a HotSpot JVM, catches SIGQUIT (not -Xrs),
 * has not DisableAttachMechanism, allows dynamic agents, and is ours or we may act as its user.
 * 0, or -EOPNOTSUPP/-EPERM/-ESRCH with the sentence. Nothing is sent to the process.
 */
int attach_check(uint32_t pid, struct err *err);

/*
 * Load the agent library AGENT_PATH (host path; made visible to the target's mount namespace)
 * with OPTIONS. Loading it again passes new options to the running one.
 */
int attach_load_agent(uint32_t pid, const char *agent_path, const char *options,
		      uint64_t timeout_ns, struct err *err);

/* Where libhostprof-agent.so is: beside the executable (build tree) or in LIBDIR/hostprof. */
int attach_find_agent(char *ret_path, unsigned long size, struct err *err);

#endif
