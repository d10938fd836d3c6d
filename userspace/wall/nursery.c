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
#include "wall/pass_fd.h"

/* Descriptors of a nursery and of its children: what they inherit is put there, all others are closed. */
enum { SOCKET_FD = 3, GIVEN_FD = 4, FIRST_OTHER_FD = 5 };

/* The byte of a request: the number of its trade, with URGENT or not; or HELPER. */
enum { HELPER = 0x7f, URGENT = 0x80 };

struct nursery {
	struct nursery_plan plan;
	pid_t pid;  /* of its keeper */
	int socket; /* owned; SOCK_SEQPACKET: a message for each child */
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

static bool is_urgent(void)
{
	return (sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_RR;
}

/* INHERITED: also whom it forks, from its first moment on. */
static void be_urgent(bool inherited)
{
	const struct sched_param param = { .sched_priority = sched_get_priority_min(SCHED_RR) };

	(void)sched_setscheduler(0, SCHED_RR | (inherited ? 0 : SCHED_RESET_ON_FORK), &param);
}

static void be_usual(void)
{
	const struct sched_param param = { .sched_priority = 0 };

	(void)sched_setscheduler(0, SCHED_OTHER, &param);
}

static void be_child(const struct nursery_plan *plan, uint8_t what, const int fds[2], pid_t parent)
{
	const struct trade *trade = what == HELPER ? NULL : plan->trades[what & ~URGENT];

	if (what != HELPER && (what & URGENT))
		be_urgent(false);
	else if (is_urgent())
		be_usual();
	leave_home(trade ? trade->name : "hostprof-attach", fds, parent);
	if (trade)
		trade_serve(trade, GIVEN_FD, SOCKET_FD);
	else if (plan->help)
		plan->help(SOCKET_FD, GIVEN_FD);
	_exit(0);
}

/* Until the other end of the socket is closed. */
static void make_children(const struct nursery_plan *plan)
{
	pid_t self = getpid();
	int fds[2], r;
	uint8_t what;

	while ((r = pass_fds_receive(SOCKET_FD, 0, &what, fds, 2)) != -ENODATA) {
		if (r < 0)
			continue;
		if (fork() == 0)
			be_child(plan, what, fds, self);
		close(fds[0]);
		close(fds[1]);
	}
	_exit(0);
}

/* What was asked of one that was killed is still in the socket, or was never taken out. */
static void keep_one(const struct nursery_plan *plan)
{
	int status;
	pid_t pid;

	do {
		pid = fork();
		if (pid == 0) {
			prctl(PR_SET_NAME, "hostprof-nurse", 0, 0, 0);
			signal(SIGCHLD, SIG_IGN);
			make_children(plan);
		}
		while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	} while (pid > 0 && WIFSIGNALED(status));
	_exit(0);
}

/*
 * Ctrl-C is for those who end a recording in order. A session of its own is a group of its own to the scheduler as well (autogroup in
 * sched(7)): on a host with more to do than it can such a group got nothing for seconds at times, whatever its due was, so that nobody's memory
 * was read in time. Who waits for it URGENTly has it weigh as he does; else it stays in the group, and is as nice, as its parent.
 */
static void leave_terminal(bool urgent)
{
	static const char nice[] = "-10"; /* RAISED_NICE of cmd/drive/priority.c */
	_cleanup_(closep) int fd = -1;

	if (!urgent) {
		setpgid(0, 0);
		return;
	}
	setsid();
	fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
	/* Without autogroups there is none. */
	if (fd >= 0 && write(fd, nice, sizeof(nice) - 1) < 0)
		return;
}

/*
 * With the rights of all that it makes. Somebody URGENT waits for each process that it makes for him: on a host that has more to do than it
 * can, that took tens of milliseconds.
 */
static void nursery_main(const struct nursery_plan *plan, int socket, bool urgent)
{
	int null;

	if (urgent)
		be_urgent(true);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	prctl(PR_SET_NAME, "hostprof-keeper", 0, 0, 0);
	leave_terminal(urgent);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	rights_keep(RIGHTS_OF_NURSERY | (plan->help ? RIGHTS_TO_ATTACH : 0));
	dup2(socket, SOCKET_FD);
	close_range(SOCKET_FD + 1, ~0U, 0);
	null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < SOCKET_FD; fd++)
		dup2(null, fd);
	keep_one(plan);
}

/* --- ours ------------------------------------------------------------------------------------- */

static int start(struct nursery *nursery, struct err *err)
{
	bool urgent = is_urgent();
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, -errno, "cannot make a socket pair");
	nursery->pid = fork();
	if (nursery->pid == 0)
		nursery_main(&nursery->plan, pair[1], urgent);
	close(pair[1]);
	if (nursery->pid < 0) {
		close(pair[0]);
		return err_sys(err, -errno, "cannot fork");
	}
	nursery->socket = pair[0];
	return 0;
}

int nursery_new(const struct nursery_plan *plan, struct nursery **ret_nursery, struct err *err)
{
	_cleanup_free_ struct nursery *nursery = xcalloc(1, sizeof(*nursery));
	int r;

	nursery->plan = *plan;
	r = start(nursery, err);
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
	return nursery->plan.help != NULL;
}

/* A message is sent whole, whoever else sends. */
static int ask(struct nursery *nursery, uint8_t what, int fd, int socket)
{
	const int fds[] = { fd, socket };

	return pass_fds_send(nursery->socket, what, fds, 2) < 0 ? -ECHILD : 0;
}

int nursery_ask(struct nursery *nursery, const struct trade *trade, int call_fd, int socket,
		bool urgent)
{
	uint8_t number = 0;

	while (nursery->plan.trades[number] != trade)
		number++;
	return ask(nursery, number | (urgent ? URGENT : 0), call_fd, socket);
}

int nursery_ask_helper(struct nursery *nursery, int fd, int socket)
{
	return ask(nursery, HELPER, fd, socket);
}
