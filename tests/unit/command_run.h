/* SPDX-License-Identifier: Apache-2.0 */
/* A command as in life: in a process of its own; what it says, and its exit code. Included once per test. */
#ifndef HOSTPROF_TESTS_COMMAND_RUN_H
#define HOSTPROF_TESTS_COMMAND_RUN_H

#include "test.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMMAND_MAX_ARGS 16

typedef int (*command_fn)(int argc, char **argv);

static inline void command_child(command_fn fn, char *line, int fd)
{
	char *argv[COMMAND_MAX_ARGS + 1] = { NULL }, *save;
	int argc = 0, rc;

	for (char *word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	setvbuf(stdout, NULL, _IONBF, 0);
	rc = fn(argc, argv);
	fflush(stdout);
	_exit(rc);
}

/* What FN says on both outputs when it gets the words of TEXT, then "exit N" or "signal N". */
static inline const char *command_run(command_fn fn, const char *text)
{
	static char out[32768];
	char line[512];
	size_t len = 0;
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	snprintf(line, sizeof(line), "%s", text);
	assert_int_equal(pipe(fds), 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		command_child(fn, line, fds[1]);
	close(fds[1]);
	while (len < sizeof(out) - 64 && (n = read(fds[0], out + len, sizeof(out) - 64 - len)) > 0)
		len += (size_t)n;
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status))
		snprintf(out + len, 64, "exit %d\n", WEXITSTATUS(status));
	else
		snprintf(out + len, 64, "signal %d\n", WTERMSIG(status));
	return out;
}

#endif
