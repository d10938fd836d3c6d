/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What attaching does in the directories of its target. While the wall stands, a helper does it, a process with the rights for
 * it, which is left alone with a target that does not let it come back; else it is done in place.
 */
#ifndef HOSTPROF_JVM_ATTACH_ATTACH_REACH_H
#define HOSTPROF_JVM_ATTACH_ATTACH_REACH_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "jvm/attach/attach_target.h"

/* As attach_target_find_socket(), attach_stage_agent() and attach_connect(). -ETIMEDOUT: the target's files do not answer. */
int attach_reach_socket(struct attach_target *target, uint64_t deadline_ns, struct err *err);
int attach_reach_stage(struct attach_target *target, const char *agent_path, uint64_t deadline_ns,
		       char *ret_path, size_t size, struct err *err);
int attach_reach_connect(struct attach_target *target, uint64_t deadline_ns, int *ret_fd,
			 struct err *err);
/* Would the last two find room in the target's directories? Nothing is made there. AGENT_PATH "": for any agent. */
int attach_reach_check(struct attach_target *target, const char *agent_path, uint64_t deadline_ns,
		       struct err *err);

/* The helper, a nursery_help_fn. */
void attach_reach_help(int socket, int fd);

#endif
