/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a JVM can pay for its agent's memory: in a cgroup that is full the kernel would kill it. */
#ifndef HOSTPROF_JVM_CODEMAP_CODEMAP_ROOM_H
#define HOSTPROF_JVM_CODEMAP_CODEMAP_ROOM_H

#include <stdint.h>

#include "base/err.h"

/* A JVM without an agent, or with the agent whose memory FD is. 0, or -EAGAIN with the sentence. */
int codemap_check_room(uint32_t pid, struct err *err);
int codemap_check_room_fd(uint32_t pid, int fd, struct err *err);

#endif
