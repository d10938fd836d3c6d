/* SPDX-License-Identifier: Apache-2.0 */
/* One run from the command line: how long it goes on, its signals, its command, its progress. */
#ifndef HOSTPROF_CMD_DRIVE_DRIVE_H
#define HOSTPROF_CMD_DRIVE_DRIVE_H

#include "session/recorder.h"

struct drive_progress {
	uint64_t elapsed_ns, duration_ns; /* 0: no end is set */
	struct recorder_figures figures;
};

struct drive_options {
	struct recorder_options recorder;
	uint64_t
		duration_ns; /* 0: until a signal, or until the command or the processes of -p end */
	char *const *command; /* NULL-terminated argv to start and profile; NULL: none */
	bool whole_host;      /* with a command: profile all processes until it ends */
	/* Called about twice a second; may be NULL. */
	void (*progress)(const struct drive_progress *progress);
};

/*
 * Before anything is checked or opened: on a busy host what comes before drive_run() may wait for a cpu longer than all the rest
 * takes. Not with a COMMAND (NULL: none), which is forked first.
 */
void drive_hurry(char *const *command);

/*
 * Sample until the time is over, the command or each process of -p has ended, a sink fails, or SIGINT, SIGTERM or SIGHUP
 * comes, which is no error. SIGPIPE is ignored meanwhile, but not by the command.
 */
int drive_run(const struct drive_options *options, struct recorder_result *ret_result,
	      struct err *err);

#endif
