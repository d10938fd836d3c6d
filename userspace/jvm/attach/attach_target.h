/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that is about to be attached to, held by descriptors so that a pid that is used again
 * or a hostile container's links cannot lead elsewhere.
 */
#ifndef HOSTPROF_JVM_ATTACH_ATTACH_TARGET_H
#define HOSTPROF_JVM_ATTACH_ATTACH_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct attach_target {
	uint32_t pid;
	uint32_t ns_pid;   /* its pid in its own namespace; what its files are called by */
	uint32_t uid, gid; /* effective, as we see them */
	bool catches_quit; /* SIGQUIT has a handler */
	bool is_copy;	   /* one thread, as a child has that a JVM forked and that will exec */
	int pidfd;	   /* owned; so are the others, -1 when there is none */
	int root_fd;
	int tmp_fd; /* its /tmp: HotSpot ignores java.io.tmpdir here */
	int cwd_fd;
};

#define ATTACH_TARGET_INIT                                             \
	{                                                              \
		.pidfd = -1, .root_fd = -1, .tmp_fd = -1, .cwd_fd = -1 \
	}

/* Does SIGQUIT still have a handler? An exec takes it away, and then the signal would kill. */
bool attach_target_catches_quit(const struct attach_target *target);

/* Nothing of its files. -ESRCH: no such process (or a zombie); -EAGAIN: it is stopped; -EPERM: it is not ours. */
int attach_target_open(uint32_t pid, struct attach_target *ret_target, struct err *err);
void attach_target_close(struct attach_target *target);

/* Its directories; who serves them may never answer (attach_reach.h). */
int attach_target_enter(struct attach_target *target, struct err *err);

/* Open PATH of the process's own file system; links stay inside of its root. -errno. */
int attach_target_open_path(const struct attach_target *target, const char *path, int flags);

/*
 * HotSpot's socket in the target's /tmp: 0 when it is there, -ENOENT, or -EPERM when something
 * else, or somebody else's, has the name. It may be a dead JVM's.
 */
int attach_target_find_socket(const struct attach_target *target);

/* ".java_pid7", ".attach_pid7" */
#define ATTACH_NAME_BYTES 32
void attach_socket_name(const struct attach_target *target, char ret_name[ATTACH_NAME_BYTES]);
void attach_trigger_name(const struct attach_target *target, char ret_name[ATTACH_NAME_BYTES]);

/*
 * Run FN in a child process that has the target's ids (JDK 8 answers nobody else, and what is
 * made in the target's directories must belong to it). The child may return a descriptor. FN
 * returns a code and must not rely on memory being shared. *RET_FD is -1 when none was sent.
 * Returns FN's code, or -EPERM when the ids could not be taken, -ETIMEDOUT past DEADLINE_NS.
 */
int attach_target_run(const struct attach_target *target,
		      int (*fn)(const struct attach_target *target, void *data, int *ret_fd),
		      void *data, uint64_t deadline_ns, int *ret_fd);

#endif
