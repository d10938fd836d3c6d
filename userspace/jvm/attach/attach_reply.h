/* SPDX-License-Identifier: Apache-2.0 */
/* What a JVM answers to attach commands; hostile bytes. */
#ifndef HOSTPROF_JVM_ATTACH_ATTACH_REPLY_H
#define HOSTPROF_JVM_ATTACH_ATTACH_REPLY_H

#include <stddef.h>

#include "base/err.h"

/*
 * The status line: 0 when it is "0", -EBADMSG when there is none, else -EIO. *RET_BODY is the
 * offset of what follows it.
 */
int attach_reply_status(const char *reply, size_t len, size_t *ret_body);

/*
 * Did `load` load the library, and did its Agent_OnAttach return 0? The status alone does not say:
 * since JDK 21 it is 0 even when the library was refused. Source: share/services/attachListener.cpp
 * load_agent(), share/prims/jvmtiAgent.cpp (21+), jvmtiExport.cpp load_agent_library() (before).
 */
int attach_reply_check_load(const char *reply, size_t len, struct err *err);

#endif
