/* SPDX-License-Identifier: Apache-2.0 */
/* How list, status and attach show a JVM. */
#ifndef HOSTPROF_CMD_JVM_SHOW_H
#define HOSTPROF_CMD_JVM_SHOW_H

#include "base/json.h"
#include "jvm/jvm_info.h"

/* "none", "idle", "active" */
const char *jvm_show_agent(enum jvm_agent_state state);

/* One object with everything. */
void jvm_show_json(struct json *j, const struct jvm_info *info);

/* "java 17.0.15 Main (pid 4242)" */
void jvm_show_name(struct strbuf *out, const struct jvm_info *info);

/* One field per line. */
void jvm_show_lines(struct strbuf *out, const struct jvm_info *info);

#endif
