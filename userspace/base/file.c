/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

/* /proc files give a page or two per read; bigger files are read in pieces that double. */
#define READ_CHUNK_BYTES 4096

const char *file_name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int read_fd(int fd, size_t limit, bool at_once, struct strbuf *out)
{
	size_t begin = out->len;

	for (;;) {
		size_t room = MAX((size_t)READ_CHUNK_BYTES, out->len - begin);
		ssize_t n;

		strbuf_grow(out, room);
		n = read(fd, out->buf + out->len, room);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		out->len += (size_t)n;
		out->buf[out->len] = '\0';
		if (out->len - begin > limit)
			return -E2BIG;
		if (at_once && (size_t)n < room)
			return 0;
	}
}

int file_read_fd(int fd, size_t limit, struct strbuf *out)
{
	return read_fd(fd, limit, false, out);
}

static int read_path(const char *path, size_t limit, bool at_once, struct strbuf *out)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? -errno : read_fd(fd, limit, at_once, out);
}

int file_read(const char *path, size_t limit, struct strbuf *out)
{
	return read_path(path, limit, false, out);
}

int file_read_at_once(const char *path, size_t limit, struct strbuf *out)
{
	return read_path(path, limit, true, out);
}

void file_fill_standard(void)
{
	int fd;

	/* The lowest free descriptor comes first. Not close-on-exec: a command gets them too. */
	do {
		fd = open("/dev/null", O_RDONLY);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int file_write_all(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

int file_pwrite_all(int fd, const void *data, size_t len, off_t at)
{
	const char *from = data;

	while (len) {
		ssize_t n = pwrite(fd, from, len, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		from += n;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

int file_pread_full(int fd, void *data, size_t len, off_t at)
{
	char *to = data;

	while (len) {
		ssize_t n = pread(fd, to, len, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -ENODATA;
		to += n;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

int file_wait_readable(int fd, uint64_t until_ns)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	for (;;) {
		uint64_t now = clock_now_ns();
		int n;

		if (now >= until_ns)
			return -ETIMEDOUT;
		n = poll(&poll_fd, 1, (int)((until_ns - now) / NSEC_PER_MSEC) + 1);
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
}
