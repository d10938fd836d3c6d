// SPDX-License-Identifier: Apache-2.0
#include "elf/debuginfod/debuginfod.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/macros.h"
#include "elf/debuginfod/debuginfod_serve.h"
#include "elf/reader/reader.h"
#include "wall/foreign_file.h"
#include "wall/pass_fd.h"

/* Loading a library. */
#define BEGIN_NS (10 * NSEC_PER_SEC)
/* It ends by itself when nobody asks any more; who is in the middle of a file is not waited for. */
#define END_NS (200 * NSEC_PER_MSEC)

/* Its next answer, and the descriptor that came with it, or -1. */
static int receive(const struct debuginfod *it, uint64_t until_ns, int *ret_fd)
{
	struct debuginfod_said said;
	int r = file_wait_readable(it->socket, until_ns);
	ssize_t n;

	*ret_fd = -1;
	if (r < 0)
		return r;
	n = pass_message_receive(it->socket, &said, sizeof(said), ret_fd);
	if (n != (ssize_t)sizeof(said)) {
		closep(ret_fd);
		*ret_fd = -1;
		return -ECHILD;
	}
	return said.result > 0 ? -EBADMSG : said.result;
}

static int tell_beginning(int r, struct err *err)
{
	if (r == -EOPNOTSUPP) {
		err_set(err, r, "there is no libdebuginfod.so.1 here");
		return err_hint(err, "install Debian's package libdebuginfod1");
	}
	return err_sys(err, r, "cannot begin to ask debuginfod");
}

int debuginfod_begin(struct debuginfod *ret_it, struct err *err)
{
	struct debuginfod it = { .until_ns = 0 };
	const char *urls = getenv("DEBUGINFOD_URLS");
	int pair[2], r, fd;

	if (!urls || !urls[strspn(urls, " ")]) {
		err_set(err, -EINVAL, "nobody says which debuginfod to ask");
		return err_hint(err, "set DEBUGINFOD_URLS, as https://debuginfod.debian.net");
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, -errno, "cannot make a socket");
	it.socket = pair[0];
	it.pid = fork();
	if (it.pid == 0) {
		close(pair[0]);
		debuginfod_serve(pair[1]);
		_exit(0);
	}
	r = it.pid < 0 ? -errno : 0;
	close(pair[1]);
	if (r == 0)
		r = receive(&it, clock_now_ns() + BEGIN_NS, &fd);
	if (r < 0) {
		debuginfod_end(&it);
		return tell_beginning(r, err);
	}
	*ret_it = it;
	return 0;
}

/* Is it what was asked for? Who brings it talks to servers, and may have been taken over by one. */
static int check(int fd, const char *build_id)
{
	char its_id[BUILD_ID_BYTES];
	struct file_id id;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || file_id_is_served(fd) ||
	    file_id_read(fd, &id) < 0)
		return -EBADMSG;
	if (reader_build_id(fd, reader_owner(&id), its_id) < 0 || strcmp(its_id, build_id) != 0)
		return -EBADMSG;
	return 0;
}

int debuginfod_fetch(struct debuginfod *it, const char *build_id)
{
	struct debuginfod_ask ask = { "" };
	_cleanup_close_ int fd = -1;
	int r;

	if (it->socket < 0)
		return -ETIMEDOUT;
	if (!build_id[0] || strlen(build_id) >= sizeof(ask.build_id) || strlen(build_id) % 2 ||
	    build_id[strspn(build_id, "0123456789abcdef")])
		return -ENODATA;
	if (!it->until_ns)
		it->until_ns = clock_now_ns() + DEBUGINFOD_ALL_SECONDS * NSEC_PER_SEC;
	memcpy(ask.build_id, build_id, strlen(build_id));
	r = pass_message_send(it->socket, &ask, sizeof(ask), -1);
	if (r >= 0)
		r = receive(
			it,
			MIN(it->until_ns, clock_now_ns() + DEBUGINFOD_FILE_SECONDS * NSEC_PER_SEC),
			&fd);
	if (r == -ETIMEDOUT || r == -ECHILD || r == -EPIPE)
		debuginfod_end(it);
	if (r < 0)
		return r == -ETIMEDOUT || r == -ECHILD || r == -EPIPE ? -ETIMEDOUT : -ENODATA;
	r = check(fd, build_id);
	return r < 0 ? r : TAKE_FD(fd);
}

void debuginfod_end(struct debuginfod *it)
{
	char end;

	if (it->socket < 0)
		return;
	/* It hangs up when it has taken its directory away. */
	shutdown(it->socket, SHUT_WR);
	while (file_wait_readable(it->socket, clock_now_ns() + END_NS) == 0 &&
	       recv(it->socket, &end, 1, MSG_DONTWAIT) > 0)
		;
	close(it->socket);
	it->socket = -1;
	if (it->pid <= 0)
		return;
	kill(it->pid, SIGKILL);
	while (waitpid(it->pid, NULL, 0) < 0 && errno == EINTR)
		;
}
