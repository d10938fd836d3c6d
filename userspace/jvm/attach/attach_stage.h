/* SPDX-License-Identifier: Apache-2.0 */
/* Making the agent library visible to a JVM that may live in a container. */
#ifndef HOSTPROF_JVM_ATTACH_ATTACH_STAGE_H
#define HOSTPROF_JVM_ATTACH_ATTACH_STAGE_H

#include <stddef.h>

#include "base/err.h"
#include "jvm/attach/attach_target.h"

/*
 * The path by which the target can load the host's file AGENT_PATH: the same one when the target
 * sees and may read that file, else that of a copy in its own /tmp (or another directory that
 * allows execution), named by its content so that a new build has a new path.
 */
int attach_stage_agent(const struct attach_target *target, const char *agent_path,
		       uint64_t deadline_ns, char *ret_path, size_t size, struct err *err);

/* Would that succeed? It is looked at; nothing is copied. */
int attach_stage_check(const struct attach_target *target, const char *agent_path,
		       uint64_t deadline_ns, struct err *err);

#endif
