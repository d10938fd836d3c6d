/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The child that acts with a target's ids. Ids are taken by system calls of its own: the library's
 * functions would change all threads of a process, and hostprof itself must stay what it is.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/file.h"
#include "jvm/attach/attach_target.h"
#include "wall/pass_fd.h"

/* The child ends by itself at the deadline; this much later it is ended. */
#define GRACE_NS (500 * NSEC_PER_MSEC)

static int take_ids(const struct attach_target *target)
{
	uid_t uid = target->uid;
	gid_t gid = target->gid;

	if (geteuid() == uid && getegid() == gid)
		return 0;
	/* Without the privilege our groups stay, and the target's user is ours anyway. */
	if (geteuid() == 0 && syscall(SYS_setgroups, 1, &gid) < 0)
		return -EPERM;
	if (syscall(SYS_setresgid, gid, gid, gid) < 0 || syscall(SYS_setresuid, uid, uid, uid) < 0)
		return -EPERM;
	return 0;
}

/* Ctrl-C reaches us too; what we made in the target's directories must go before we do. */
static void block_signals(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
}

static int receive_result(int socket, int *ret_fd)
{
	int code;
	ssize_t n = pass_message_receive(socket, &code, sizeof(code), ret_fd);

	if (n != (ssize_t)sizeof(code))
		return n < 0 ? (int)n : -EIO;
	return code;
}

int attach_target_run(const struct attach_target *target,
		      int (*fn)(const struct attach_target *target, void *data, int *ret_fd),
		      void *data, uint64_t deadline_ns, int *ret_fd)
{
	_cleanup_close_ int ours = -1;
	int pair[2], fd = -1, r;
	pid_t child;

	*ret_fd = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	ours = pair[0];
	child = fork();
	if (child == 0) {
		block_signals();
		r = take_ids(target);
		if (!r)
			r = fn(target, data, &fd);
		pass_message_send(pair[1], &r, sizeof(r), fd);
		_exit(0);
	}
	r = child < 0 ? -errno : 0;
	close(pair[1]);
	if (r < 0)
		return r;
	r = file_wait_readable(ours, deadline_ns + GRACE_NS);
	if (!r)
		r = receive_result(ours, ret_fd);
	else
		kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return r;
}
