/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/attach/attach_exchange.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "wall/wall.h"

/* share/services/attachListener.hpp: AttachOperation::name_length_max, arg_length_max. */
#define MAX_COMMAND  16
#define MAX_ARGUMENT 1024

/* To `load`: a status, and the messages of a library that could not be loaded. Four are read at a time. */
#define MAX_REPLY_BYTES (64U << 10)

/* How soon it is seen that there is less time than there was. */
#define SLICE_MS 50ULL

int attach_build_request(const char *command, const char *const args[ATTACH_MAX_ARGUMENTS],
			 struct strbuf *out, struct err *err)
{
	if (strlen(command) > MAX_COMMAND)
		return err_set(err, -E2BIG, "the attach command %s is too long", command);
	strbuf_add(out, "1", 2);
	strbuf_add(out, command, strlen(command) + 1);
	for (unsigned int i = 0; i < ATTACH_MAX_ARGUMENTS; i++) {
		const char *arg = args && args[i] ? args[i] : "";

		if (strlen(arg) > MAX_ARGUMENT)
			return err_set(
				err, -E2BIG,
				"an argument of %zu bytes is too long for a JVM (at most %d)",
				strlen(arg), MAX_ARGUMENT);
		strbuf_add(out, arg, strlen(arg) + 1);
	}
	return 0;
}

static int wait_for(int fd, short events, uint64_t deadline_ns)
{
	struct pollfd poll_fd = { .fd = fd, .events = events };

	for (;;) {
		uint64_t now = clock_now_ns(), until_ns = wall_until(deadline_ns);
		int n;

		if (now >= until_ns)
			return -ETIMEDOUT;
		n = poll(&poll_fd, 1, (int)MIN((until_ns - now) / NSEC_PER_MSEC + 1, SLICE_MS));
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
}

static int send_all(int fd, const struct strbuf *request, uint64_t deadline_ns)
{
	size_t at = 0;

	while (at < request->len) {
		ssize_t n = send(fd, request->buf + at, request->len - at, MSG_NOSIGNAL);
		int r;

		if (n >= 0) {
			at += (size_t)n;
			continue;
		}
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		r = wait_for(fd, POLLOUT, deadline_ns);
		if (r < 0)
			return r;
	}
	return 0;
}

static int receive_all(int fd, uint64_t deadline_ns, struct strbuf *reply)
{
	char chunk[4096];

	for (;;) {
		int r = wait_for(fd, POLLIN, deadline_ns);
		ssize_t n;

		if (r < 0)
			return r;
		n = recv(fd, chunk, sizeof(chunk), 0);
		if (n == 0)
			return 0;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (n > 0 && reply->len + (size_t)n > MAX_REPLY_BYTES)
			return -E2BIG;
		if (n > 0)
			strbuf_add(reply, chunk, (size_t)n);
	}
}

int attach_exchange(int fd, const struct strbuf *request, uint64_t deadline_ns,
		    struct strbuf *reply)
{
	int r = send_all(fd, request, deadline_ns);

	return r < 0 ? r : receive_all(fd, deadline_ns, reply);
}
