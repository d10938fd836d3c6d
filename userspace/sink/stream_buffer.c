/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/stream_buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

/* A pipe of 64 KiB would be full between two turns; this is what everybody may ask for (pipe(7)). */
#define PIPE_BYTES (1 << 20)

/* O_NONBLOCK belongs to the open file, which a pipe's or terminal's other users have, too. */
static int open_anew(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static int open_shared(struct stream_buffer *buffer, int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -1;
	buffer->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (buffer->fd >= 0 && !(flags & O_NONBLOCK) &&
	    fcntl(buffer->fd, F_SETFL, flags | O_NONBLOCK) == 0)
		buffer->old_flags = flags;
	return buffer->fd;
}

static bool has_reader(const struct stream_buffer *buffer)
{
	struct pollfd poll_fd = { .fd = buffer->fd };

	return poll(&poll_fd, 1, 0) <= 0 || !(poll_fd.revents & (POLLERR | POLLHUP));
}

int stream_buffer_open(struct stream_buffer *buffer, int fd, size_t limit, struct err *err)
{
	struct stat st;

	*buffer = (struct stream_buffer)STREAM_BUFFER_INIT;
	buffer->limit = limit;
	if (fstat(fd, &st) < 0)
		return err_sys(err, -errno, "cannot write the stream to descriptor %d", fd);
	if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)) {
		buffer->fd = open_anew(fd);
		if (buffer->fd < 0 && errno == ENXIO) /* a named pipe */
			return err_sys(err, -EPIPE, "nobody reads the stream");
	}
	if (buffer->fd < 0 && open_shared(buffer, fd) < 0)
		return err_sys(err, -errno, "cannot write the stream to descriptor %d", fd);
	if (!has_reader(buffer))
		return err_sys(err, -EPIPE, "nobody reads the stream");
	if (S_ISFIFO(st.st_mode) && fcntl(buffer->fd, F_GETPIPE_SZ) < PIPE_BYTES)
		(void)fcntl(buffer->fd, F_SETPIPE_SZ, PIPE_BYTES);
	return 0;
}

void stream_buffer_release(struct stream_buffer *buffer)
{
	if (buffer->old_flags >= 0)
		(void)fcntl(buffer->fd, F_SETFL, buffer->old_flags);
	if (buffer->fd >= 0)
		close(buffer->fd);
	strbuf_release(&buffer->text);
	*buffer = (struct stream_buffer)STREAM_BUFFER_INIT;
}

static size_t waiting(const struct stream_buffer *buffer)
{
	return buffer->text.len - buffer->sent;
}

bool stream_buffer_has_room(const struct stream_buffer *buffer, size_t len)
{
	return !buffer->is_losing && waiting(buffer) + len <= buffer->limit;
}

bool stream_buffer_put(struct stream_buffer *buffer, enum stream_line kind, const char *line,
		       size_t len)
{
	if (!stream_buffer_has_room(buffer, len)) {
		buffer->is_losing = true;
		buffer->lost[kind]++;
		buffer->lost_lines++;
		return false;
	}
	strbuf_add(&buffer->text, line, len);
	return true;
}

bool stream_buffer_has_room_again(const struct stream_buffer *buffer)
{
	return buffer->is_losing && waiting(buffer) <= buffer->limit / 2;
}

void stream_buffer_take_lost(struct stream_buffer *buffer, uint64_t ret_lost[STREAM_LINE_KINDS])
{
	for (unsigned int i = 0; i < STREAM_LINE_KINDS; i++) {
		ret_lost[i] = buffer->lost[i];
		buffer->lost[i] = 0;
	}
	buffer->is_losing = false;
}

/* What waits moves to the front when that is cheap: less than what was sent. */
static void compact(struct stream_buffer *buffer)
{
	size_t rest = waiting(buffer);

	if (!buffer->sent || rest > buffer->sent)
		return;
	memcpy(buffer->text.buf, buffer->text.buf + buffer->sent, rest);
	buffer->text.len = rest;
	buffer->sent = 0;
}

int stream_buffer_send(struct stream_buffer *buffer)
{
	ssize_t n = 1;

	while (waiting(buffer) && n > 0) {
		n = write(buffer->fd, buffer->text.buf + buffer->sent, waiting(buffer));
		if (n > 0)
			buffer->sent += (size_t)n;
		else if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	compact(buffer);
	return has_reader(buffer) ? 0 : -EPIPE;
}

int stream_buffer_send_all(struct stream_buffer *buffer, uint64_t wait_ns)
{
	struct pollfd poll_fd = { .fd = buffer->fd, .events = POLLOUT };
	int r = stream_buffer_send(buffer);

	while (r == 0 && waiting(buffer)) {
		if (poll(&poll_fd, 1, (int)(wait_ns / NSEC_PER_MSEC)) == 0)
			return -ETIMEDOUT;
		r = stream_buffer_send(buffer);
	}
	return r;
}
