/* SPDX-License-Identifier: Apache-2.0 */
/* The command of `record -- CMD`: forked at once, so that its pid is a target before it runs. */
#ifndef HOSTPROF_CMD_DRIVE_COMMAND_H
#define HOSTPROF_CMD_DRIVE_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct command {
	pid_t pid;     /* 0: none */
	int go_fd;     /* closing it lets the child exec; -1 when released */
	int status_fd; /* errno of a failed exec comes here; end of file when it worked */
	bool exited;
	int exit_status; /* as waitpid() gives it */
};

#define COMMAND_INIT                         \
	{                                    \
		.go_fd = -1, .status_fd = -1 \
	}

/* Fork a child that waits; its signal mask is the one hostprof was started with. */
int command_prepare(struct command *command, char *const *argv, struct err *err);

/* Let it exec; an error when it could not. */
int command_go(struct command *command, const char *name, struct err *err);

/* Reap it when it has ended; true once it has. */
bool command_reap(struct command *command);

/* Ends a child that still waits or runs: SIGTERM, two seconds, then it is left alone. */
void command_release(struct command *command);

#endif
