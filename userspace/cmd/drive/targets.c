/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/drive/targets.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/macros.h"

#define AT_ONCE 16

/* A pid that nobody has is one whose process has ended. */
static void watch(struct targets *targets, uint32_t pid, size_t at)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = at };
	int fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);

	targets->fds[at] = fd;
	if (fd < 0)
		targets->left -= errno == ESRCH;
	else if (epoll_ctl(targets->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		close(TAKE_FD(targets->fds[at]));
}

int targets_watch(struct targets *targets, const uint32_t *pids, size_t count, struct err *err)
{
	targets->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (targets->epoll_fd < 0)
		return err_sys(err, -errno, "cannot watch the processes");
	targets->fds = xmalloc(count * sizeof(*targets->fds));
	targets->count = targets->left = count;
	for (size_t i = 0; i < count; i++)
		watch(targets, pids[i], i);
	return 0;
}

size_t targets_look(struct targets *targets)
{
	struct epoll_event events[AT_ONCE];
	int n = epoll_wait(targets->epoll_fd, events, AT_ONCE, 0);

	for (int i = 0; i < n; i++) {
		close(TAKE_FD(targets->fds[events[i].data.u64]));
		targets->left--;
	}
	return targets->left;
}

void targets_release(struct targets *targets)
{
	for (size_t i = 0; i < targets->count; i++)
		closep(&targets->fds[i]);
	free(targets->fds);
	closep(&targets->epoll_fd);
}
