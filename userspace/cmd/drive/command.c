/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/drive/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

/* What a command gets to end in after SIGTERM; then it is left alone. */
#define RELEASE_WAIT_STEPS 200
#define RELEASE_WAIT_USEC  10000

/* Never returns: waits for the parent's word, then becomes the command. */
static void run_child(int go_fd, int status_fd, char *const *argv)
{
	sigset_t none;
	char byte;
	int error;
	ssize_t n;

	/* One byte means go; the end of the pipe means that hostprof died or gave up. */
	do {
		n = read(go_fd, &byte, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], argv);
	error = errno;
	if (write(status_fd, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

int command_prepare(struct command *command, char *const *argv, struct err *err)
{
	int go[2], status[2], fork_error;

	if (pipe2(go, O_CLOEXEC) < 0)
		return err_sys(err, -errno, "cannot make a pipe");
	if (pipe2(status, O_CLOEXEC) < 0) {
		int code = -errno;

		close(go[0]);
		close(go[1]);
		return err_sys(err, code, "cannot make a pipe");
	}
	command->pid = fork();
	if (command->pid == 0) {
		close(go[1]);
		close(status[0]);
		run_child(go[0], status[1], argv);
	}
	fork_error = -errno;
	close(go[0]);
	close(status[1]);
	command->go_fd = go[1];
	command->status_fd = status[0];
	if (command->pid < 0) {
		command->pid = 0;
		return err_sys(err, fork_error, "cannot start '%s'", argv[0]);
	}
	return 0;
}

int command_go(struct command *command, const char *name, struct err *err)
{
	int error;
	ssize_t n;

	if (write(command->go_fd, "g", 1) != 1)
		return err_sys(err, -errno, "cannot start '%s'", name);
	close(command->go_fd);
	command->go_fd = -1;
	do {
		n = read(command->status_fd, &error, sizeof(error));
	} while (n < 0 && errno == EINTR);
	close(command->status_fd);
	command->status_fd = -1;
	if (n == (ssize_t)sizeof(error))
		return err_sys(err, -error, "cannot run '%s'", name);
	return 0;
}

bool command_reap(struct command *command)
{
	if (!command->pid || command->exited)
		return command->exited;
	if (waitpid(command->pid, &command->exit_status, WNOHANG) == command->pid)
		command->exited = true;
	return command->exited;
}

void command_release(struct command *command)
{
	if (command->pid && !command_reap(command)) {
		kill(command->pid, SIGTERM);
		for (int i = 0; i < RELEASE_WAIT_STEPS && !command_reap(command); i++)
			usleep(RELEASE_WAIT_USEC);
	}
	closep(&command->go_fd);
	closep(&command->status_fd);
	*command = (struct command)COMMAND_INIT;
}
