// SPDX-License-Identifier: Apache-2.0
#include "wall/nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "base/rights.h"
#include "wall/broker.h"
#include "wall/broker_calls.h"
#include "wall/pass_fd.h"

/* Descriptors of a nursery and of its children: what they inherit is put there, all others are closed. */
enum { SOCKET_FD = 3, GIVEN_FD = 4, FIRST_OTHER_FD = 5 };

struct nursery {
	pid_t pid;  /* of its keeper */
	int socket; /* owned; SOCK_SEQPACKET: a message for each child */
	bool has_helpers;
};

/* --- in the nursery --------------------------------------------------------------------------- */

/* It ends when its parent does; what it inherited of the nursery goes. */
static void leave_home(const char *name, const int fds[2], pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	prctl(PR_SET_NAME, name, 0, 0, 0);
	if (getppid() != parent)
		_exit(0);
	dup2(fds[1], SOCKET_FD);
	dup2(fds[0], GIVEN_FD);
	close_range(FIRST_OTHER_FD, ~0U, 0);
}

static void become_broker(bool urgent)
{
	const struct sched_param param = { .sched_priority = sched_get_priority_min(SCHED_RR) };

	if (urgent)
		(void)sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &param);
	rights_keep(RIGHTS_TO_LOOK);
	broker_calls_limit();
	broker_serve(GIVEN_FD, SOCKET_FD);
}

static void be_child(enum nursery_child child, const int fds[2], pid_t parent, nursery_help_fn help)
{
	leave_home(child == NURSERY_HELPER ? "hostprof-attach" : "hostprof-broker", fds, parent);
	if (child != NURSERY_HELPER)
		become_broker(child == NURSERY_URGENT);
	else if (help)
		help(SOCKET_FD, GIVEN_FD);
	_exit(0);
}

/* Until the other end of the socket is closed. */
static void make_children(nursery_help_fn help)
{
	pid_t self = getpid();
	int fds[2], r;
	uint8_t child;

	while ((r = pass_fds_receive(SOCKET_FD, 0, &child, fds, 2)) != -ENODATA) {
		if (r < 0)
			continue;
		if (fork() == 0)
			be_child((enum nursery_child)child, fds, self, help);
		close(fds[0]);
		close(fds[1]);
	}
	_exit(0);
}

/* What was asked of one that was killed is still in the socket, or was never taken out. */
static void keep_one(nursery_help_fn help)
{
	int status;
	pid_t pid;

	do {
		pid = fork();
		if (pid == 0) {
			prctl(PR_SET_NAME, "hostprof-nurse", 0, 0, 0);
			signal(SIGCHLD, SIG_IGN);
			make_children(help);
		}
		while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	} while (pid > 0 && WIFSIGNALED(status));
	_exit(0);
}

static void nursery_main(int socket, nursery_help_fn help)
{
	int null;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	prctl(PR_SET_NAME, "hostprof-keeper", 0, 0, 0);
	/* A session of its own: Ctrl-C is for those who end a recording in order. */
	setsid();
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	rights_keep(RIGHTS_TO_LOOK | RIGHT(CAP_SYS_NICE) | (help ? RIGHTS_TO_ATTACH : 0));
	dup2(socket, SOCKET_FD);
	close_range(SOCKET_FD + 1, ~0U, 0);
	null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < SOCKET_FD; fd++)
		dup2(null, fd);
	keep_one(help);
}

/* --- ours ------------------------------------------------------------------------------------- */

static int start(struct nursery *nursery, nursery_help_fn help, struct err *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, -errno, "cannot make a socket pair");
	nursery->pid = fork();
	if (nursery->pid == 0)
		nursery_main(pair[1], help);
	close(pair[1]);
	if (nursery->pid < 0) {
		close(pair[0]);
		return err_sys(err, -errno, "cannot fork");
	}
	nursery->socket = pair[0];
	nursery->has_helpers = help != NULL;
	return 0;
}

int nursery_new(nursery_help_fn help, struct nursery **ret_nursery, struct err *err)
{
	_cleanup_free_ struct nursery *nursery = xcalloc(1, sizeof(*nursery));
	int r = start(nursery, help, err);

	if (r == 0)
		*ret_nursery = TAKE_PTR(nursery);
	return r;
}

/* The nursery finds the end of the socket, and its children the end of the nursery. */
void nursery_free(struct nursery *nursery)
{
	if (!nursery)
		return;
	close(nursery->socket);
	kill(nursery->pid, SIGKILL);
	waitpid(nursery->pid, NULL, 0);
	free(nursery);
}

bool nursery_has_helpers(const struct nursery *nursery)
{
	return nursery->has_helpers;
}

/* A message is sent whole, whoever else sends. */
int nursery_ask(struct nursery *nursery, int fd, int socket, enum nursery_child child)
{
	const int fds[] = { fd, socket };

	return pass_fds_send(nursery->socket, (uint8_t)child, fds, 2) < 0 ? -ECHILD : 0;
}
