/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The listener starts when a JVM gets SIGQUIT and finds a file .attach_pidN of its own user in its
 * working directory or in /tmp; without one SIGQUIT prints a thread dump. Source:
 * src/hotspot/os/posix/attachListener_posix.cpp (os/linux/attachListener_linux.cpp before JDK 20),
 * AttachListener::is_init_trigger().
 */
#include "jvm/attach/attach_connect.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "base/clock.h"

/* A listener was there after 10 ms on every JDK. */
#define POLL_NS (5 * NSEC_PER_MSEC)

/* What the child says beside an errno, so that the sentence can name the step that failed. */
enum connect_failure {
	FAIL_FOREIGN_SOCKET = -10000, /* the socket's name is taken by somebody else */
	FAIL_FOREIGN_PEER,	      /* another process answers there */
	FAIL_TRIGGER,		      /* no .attach_pid file could be made */
	FAIL_SIGNAL,
	FAIL_NO_HANDLER, /* SIGQUIT would kill it */
};

struct connect_request {
	uint64_t deadline_ns;
};

/* A file that asks the listener to start; removed again in every case. */
struct trigger {
	int dir_fd; /* borrowed; -1: none was made */
	char name[ATTACH_NAME_BYTES];
};

static bool trigger_create_in(struct trigger *trigger, int dir_fd)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (dir_fd < 0)
		return false;
	fd = openat(dir_fd, trigger->name, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC,
		    0600);
	/* Left behind by another client: as good as ours when the JVM will take it. */
	if (fd < 0 &&
	    (errno != EEXIST || fstatat(dir_fd, trigger->name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	     !S_ISREG(st.st_mode) || st.st_uid != geteuid()))
		return false;
	trigger->dir_fd = dir_fd;
	return true;
}

static bool trigger_create(struct trigger *trigger, const struct attach_target *target)
{
	trigger->dir_fd = -1;
	attach_trigger_name(target, trigger->name);
	return trigger_create_in(trigger, target->tmp_fd) ||
	       trigger_create_in(trigger, target->cwd_fd);
}

static void trigger_remove(struct trigger *trigger)
{
	if (trigger->dir_fd >= 0)
		unlinkat(trigger->dir_fd, trigger->name, 0);
	trigger->dir_fd = -1;
}

/* The kernel tells who called listen(): a left-over name must not lead us to somebody else. */
static bool peer_is_target(int fd, const struct attach_target *target)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
	       (uint32_t)peer.pid == target->pid;
}

/* Our working directory is the target's /tmp. -ENOENT and -ECONNREFUSED: nobody listens yet. */
static int connect_once(const struct attach_target *target, int *ret_fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = -1;
	int r = attach_target_find_socket(target);

	if (r < 0)
		return r == -EPERM ? FAIL_FOREIGN_SOCKET : r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	attach_socket_name(target, address.sun_path);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	if (!peer_is_target(fd, target))
		return FAIL_FOREIGN_PEER;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* Is it worth waiting? EAGAIN: the listener is busy and its queue is full. */
static bool is_not_yet(int r)
{
	return r == -ENOENT || r == -ECONNREFUSED || r == -EAGAIN;
}

static int connect_until(const struct attach_target *target, uint64_t deadline_ns, int *ret_fd)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };
	int r;

	while (is_not_yet(r = connect_once(target, ret_fd))) {
		if (clock_now_ns() >= deadline_ns)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
	return r;
}

/* In the child, with the target's ids. */
static int connect_as_target(const struct attach_target *target, void *data, int *ret_fd)
{
	const struct connect_request *request = data;
	_cleanup_(trigger_remove) struct trigger trigger = { .dir_fd = -1 };
	int r;

	if (fchdir(target->tmp_fd) < 0)
		return -errno;
	r = connect_once(target, ret_fd);
	if (r == -EAGAIN)
		return connect_until(target, request->deadline_ns, ret_fd);
	if (!is_not_yet(r))
		return r;
	if (!target->catches_quit)
		return FAIL_NO_HANDLER;
	if (!trigger_create(&trigger, target))
		return FAIL_TRIGGER;
	if (!attach_target_catches_quit(target))
		return FAIL_NO_HANDLER;
	if (syscall(SYS_pidfd_send_signal, target->pidfd, SIGQUIT, NULL, 0) < 0)
		return FAIL_SIGNAL;
	return connect_until(target, request->deadline_ns, ret_fd);
}

static int report_failure(const struct attach_target *target, int r, struct err *err)
{
	char name[ATTACH_NAME_BYTES];

	attach_socket_name(target, name);
	switch (r) {
	case FAIL_FOREIGN_SOCKET:
		return err_set(err, -EPERM, "/tmp/%s of process %u is not a socket of its user %u",
			       name, target->pid, target->uid);
	case FAIL_FOREIGN_PEER:
		return err_set(err, -EPERM, "/tmp/%s of process %u is another process's socket",
			       name, target->pid);
	case FAIL_TRIGGER:
		return err_set(err, -EACCES,
			       "cannot create .attach_pid%u in /tmp or in the working directory of "
			       "process %u",
			       target->ns_pid, target->pid);
	case FAIL_SIGNAL:
		return err_set(err, -EPERM, "cannot send SIGQUIT to process %u", target->pid);
	case FAIL_NO_HANDLER:
		return err_set(err, -EOPNOTSUPP,
			       "the JVM %u does not handle SIGQUIT, which would kill it",
			       target->pid);
	case -ETIMEDOUT:
		err_set(err, r, "the JVM %u did not open its attach socket in time", target->pid);
		return err_hint(err, "it may be stopped, frozen or short of CPU; try again");
	default: return err_sys(err, r, "cannot connect to the JVM %u", target->pid);
	}
}

/* A child that had to be killed did not remove its file. */
static void trigger_sweep(const struct attach_target *target)
{
	const int dirs[] = { target->tmp_fd, target->cwd_fd };
	char name[ATTACH_NAME_BYTES];
	struct stat st;

	attach_trigger_name(target, name);
	for (unsigned int i = 0; i < ARRAY_SIZE(dirs); i++)
		if (dirs[i] >= 0 && fstatat(dirs[i], name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) && st.st_uid == target->uid)
			unlinkat(dirs[i], name, 0);
}

int attach_connect(const struct attach_target *target, uint64_t deadline_ns, int *ret_fd,
		   struct err *err)
{
	struct connect_request request = { deadline_ns };
	int fd = -1;
	int r = attach_target_run(target, connect_as_target, &request, deadline_ns, &fd);

	if (!r && fd < 0)
		r = -EIO;
	if (r < 0) {
		trigger_sweep(target);
		return report_failure(target, r, err);
	}
	*ret_fd = fd;
	return 0;
}

static bool may_create_in(int dir_fd)
{
	return dir_fd >= 0 && faccessat(dir_fd, ".", W_OK | X_OK, 0) == 0;
}

/* In the child, with the target's ids. */
static int look_as_target(const struct attach_target *target, void *data, int *ret_fd)
{
	int r = attach_target_find_socket(target);

	(void)data;
	(void)ret_fd;
	if (r == -EPERM)
		return FAIL_FOREIGN_SOCKET;
	if (!r || may_create_in(target->tmp_fd) || may_create_in(target->cwd_fd))
		return 0;
	return FAIL_TRIGGER;
}

int attach_connect_check(const struct attach_target *target, uint64_t deadline_ns, struct err *err)
{
	int fd, r = attach_target_run(target, look_as_target, NULL, deadline_ns, &fd);

	return r < 0 ? report_failure(target, r, err) : 0;
}
