// SPDX-License-Identifier: Apache-2.0
/* After the fork only system calls: the process may have had threads whose locks nobody gives back. */
#include "wall/nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "wall/pass_fd.h"

/* Descriptors of a nursery and of those that it makes: what they inherit is put there, all others are closed. */
enum { SOCKET_FD = 3, CALL_FD = 4, FIRST_OTHER_FD = 5 };

/* The byte of a request: the number of its trade, and this. */
#define URGENT 0x80

struct nursery {
	pthread_mutex_t lock;
	const struct trade *const *trades; /* borrowed; the last one is NULL */
	pid_t pid;
	int socket; /* owned; SOCK_SEQPACKET: a message for each that is to be made */
};

/* --- in the nursery --------------------------------------------------------------------------- */

/* It ends when its parent does; what it inherited of the nursery goes. */
static void become(const struct trade *trade, bool urgent, const int fds[2], pid_t parent)
{
	const struct sched_param param = { .sched_priority = sched_get_priority_min(SCHED_RR) };

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	prctl(PR_SET_NAME, trade->name, 0, 0, 0);
	if (getppid() != parent)
		_exit(0);
	if (urgent)
		(void)sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &param);
	dup2(fds[1], SOCKET_FD);
	dup2(fds[0], CALL_FD);
	close_range(FIRST_OTHER_FD, ~0U, 0);
	trade_serve(trade, CALL_FD, SOCKET_FD);
	_exit(0);
}

static void nursery_main(const struct trade *const *trades, int socket)
{
	uint8_t what;
	pid_t self = getpid();
	int fds[2], r, null;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	prctl(PR_SET_NAME, "hostprof-nurse", 0, 0, 0);
	/* A session of its own: Ctrl-C is for those who end a recording in order. */
	setsid();
	signal(SIGCHLD, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	dup2(socket, SOCKET_FD);
	close_range(SOCKET_FD + 1, ~0U, 0);
	null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < SOCKET_FD; fd++)
		dup2(null, fd);
	while ((r = pass_fds_receive(SOCKET_FD, 0, &what, fds, 2)) != -ENODATA) {
		if (r < 0)
			continue;
		if (fork() == 0)
			become(trades[what & ~URGENT], what & URGENT, fds, self);
		close(fds[0]);
		close(fds[1]);
	}
	_exit(0);
}

/* --- ours ------------------------------------------------------------------------------------- */

static int start(struct nursery *nursery, struct err *err)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, -errno, "cannot make a socket pair");
	pid = fork();
	if (pid == 0)
		nursery_main(nursery->trades, pair[1]);
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return err_sys(err, -errno, "cannot fork");
	}
	nursery->pid = pid;
	nursery->socket = pair[0];
	return 0;
}

static void stop(struct nursery *nursery)
{
	close(nursery->socket);
	kill(nursery->pid, SIGKILL);
	waitpid(nursery->pid, NULL, 0);
}

int nursery_new(const struct trade *const *trades, struct nursery **ret_nursery, struct err *err)
{
	_cleanup_free_ struct nursery *nursery = xcalloc(1, sizeof(*nursery));
	int r;

	nursery->trades = trades;
	r = start(nursery, err);
	pthread_mutex_init(&nursery->lock, NULL);
	if (r == 0)
		*ret_nursery = TAKE_PTR(nursery);
	return r;
}

void nursery_free(struct nursery *nursery)
{
	if (!nursery)
		return;
	stop(nursery);
	free(nursery);
}

/* Its socket is closed: it has ended, or is about to. */
static int revive(struct nursery *nursery)
{
	struct err ignored;

	waitpid(nursery->pid, NULL, 0);
	close(nursery->socket);
	return start(nursery, &ignored);
}

static uint8_t number_of(const struct nursery *nursery, const struct trade *trade)
{
	uint8_t number = 0;

	while (nursery->trades[number] != trade)
		number++;
	return number;
}

int nursery_ask(struct nursery *nursery, const struct trade *trade, int call_fd, int socket,
		bool urgent)
{
	const int fds[] = { call_fd, socket };
	uint8_t what = number_of(nursery, trade) | (urgent ? URGENT : 0);
	int r;

	pthread_mutex_lock(&nursery->lock);
	r = pass_fds_send(nursery->socket, what, fds, 2);
	if ((r == -EPIPE || r == -ECONNRESET) && revive(nursery) == 0)
		r = pass_fds_send(nursery->socket, what, fds, 2);
	pthread_mutex_unlock(&nursery->lock);
	return r < 0 ? -ECHILD : 0;
}
