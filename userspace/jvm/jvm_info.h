/* SPDX-License-Identifier: Apache-2.0 */
/* What `list` and `status` show of one JVM; read from outside, nothing is sent to it. */
#ifndef HOSTPROF_JVM_JVM_INFO_H
#define HOSTPROF_JVM_JVM_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "jvm/jvm_lacks.h"
#include "process/container_names.h"

enum jvm_agent_state {
	JVM_AGENT_NONE,	  /* not loaded */
	JVM_AGENT_IDLE,	  /* loaded, events off */
	JVM_AGENT_ACTIVE, /* a consumer holds the lease */
};

struct jvm_info {
	uint32_t pid;
	uint32_t ns_pid; /* in its own pid namespace */
	uint32_t uid;
	char user[33];
	char version[64]; /* "17.0.15+6-Debian-1deb12u1" */
	char main_class[256];
	char container_id[65];
	struct container_about container; /* as its runtime has it */
	enum jvm_agent_state agent;
	uint32_t agent_lease_pid;
	uint64_t agent_bytes; /* memory the agent uses */
	uint64_t agent_dropped;
	bool can_attach;
	char why_not[256]; /* when it cannot */
	struct jvm_lacks lacks;
};

/* -ENODATA when PID is no HotSpot JVM, -ESRCH when there is no such process. */
int jvm_info_read(uint32_t pid, struct jvm_info *ret_info, struct err *err);

/* All JVMs of the host, in pid order. Caller frees *ret_infos. */
int jvm_info_list(struct jvm_info **ret_infos, unsigned int *ret_count, struct err *err);

#endif
