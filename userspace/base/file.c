/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"

/* /proc files give a page or two per read; bigger files are read in pieces that double. */
#define READ_CHUNK_BYTES 4096

int file_read_fd(int fd, size_t limit, struct strbuf *out)
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
	}
}

int file_read(const char *path, size_t limit, struct strbuf *out)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return -errno;
	return file_read_fd(fd, limit, out);
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

static int open_failed(const char *path, int code, struct err *err)
{
	return err_sys(err, code, "cannot write %s", path);
}

/* A device, pipe or socket, which a rename would replace. */
static int open_in_place(const char *path, struct outfile *out, struct err *err)
{
	out->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	return out->fd < 0 ? open_failed(path, -errno, err) : 0;
}

char *file_directory(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return slash == path ? xstrdup("/") : xstrndup(path, (size_t)(slash - path));
}

/* Naming it needs /proc. */
static int open_unnamed(const char *target)
{
	_cleanup_free_ char *dir = file_directory(target);

	if (access("/proc/self/fd", X_OK) < 0)
		return -1;
	return open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
}

/* Whatever has the temporary name is from another time, or a trap: it goes, and is not followed. */
static int open_exclusive(const char *path)
{
	unlink(path);
	return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* In TARGET's directory, so that the rename stays within one file system. */
static int open_temp(const char *target, const struct stat *old, struct outfile *out,
		     struct err *err)
{
	_cleanup_strbuf_ struct strbuf temp = STRBUF_INIT;

	strbuf_addf(&temp, "%s.%d.tmp", target, (int)getpid());
	out->fd = open_unnamed(target);
	out->unnamed = out->fd >= 0;
	if (!out->unnamed)
		out->fd = open_exclusive(temp.buf);
	if (out->fd < 0)
		return open_failed(out->path, -errno, err);
	out->temp_path = strbuf_take(&temp);
	if (old && fchmod(out->fd, old->st_mode & 0777) < 0)
		return open_failed(out->path, -errno, err);
	return 0;
}

static int open_named(const char *path, struct outfile *out, struct err *err)
{
	_cleanup_free_ char *resolved = NULL;
	struct stat st;

	out->path = xstrdup(path);
	if (stat(path, &st) < 0)
		return errno == ENOENT ? open_temp(path, NULL, out, err)
				       : open_failed(path, -errno, err);
	if (S_ISDIR(st.st_mode))
		return open_failed(path, -EISDIR, err);
	if (!S_ISREG(st.st_mode))
		return open_in_place(path, out, err);
	if (access(path, W_OK) < 0)
		return open_failed(path, -errno, err);
	/* A symbolic link stays one: its target is what gets replaced. */
	resolved = realpath(path, NULL);
	if (!resolved)
		return open_failed(path, -errno, err);
	free(out->path);
	out->path = xstrdup(resolved);
	return open_temp(resolved, &st, out, err);
}

int outfile_open(const char *path, struct outfile *ret_out, struct err *err)
{
	struct outfile out = { .fd = -1 };
	int rc = 0;

	if (strcmp(path, "-") != 0) {
		rc = open_named(path, &out, err);
	} else {
		out.fd = STDOUT_FILENO;
		out.path = xstrdup("standard output");
	}
	if (rc)
		outfile_release(&out);
	else
		*ret_out = out;
	return rc;
}

/* Give the file its temporary name. */
static int name_file(struct outfile *out, int fd)
{
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	unlink(out->temp_path);
	if (linkat(AT_FDCWD, self, AT_FDCWD, out->temp_path, AT_SYMLINK_FOLLOW) < 0)
		return -errno;
	out->unnamed = false;
	return 0;
}

int outfile_commit(struct outfile *out, struct err *err)
{
	int rc = 0, fd = TAKE_FD(out->fd);

	if (fd == STDOUT_FILENO)
		return 0;
	if (fd < 0)
		return err_set(err, -EBADF, "%s is closed already", out->path);
	if (out->unnamed)
		rc = name_file(out, fd);
	if (rc < 0) {
		close(fd);
		return err_sys(err, rc, "cannot write %s", out->path);
	}
	if (close(fd) < 0)
		return err_sys(err, -errno, "cannot write %s", out->path);
	if (!out->temp_path)
		return 0;
	if (rename(out->temp_path, out->path) < 0)
		return err_sys(err, -errno, "cannot rename %s to %s", out->temp_path, out->path);
	free(TAKE_PTR(out->temp_path));
	return 0;
}

void outfile_release(struct outfile *out)
{
	if (out->fd >= 0 && out->fd != STDOUT_FILENO)
		close(out->fd);
	if (out->temp_path && !out->unnamed)
		unlink(out->temp_path);
	free(out->temp_path);
	free(out->path);
	*out = (struct outfile){ .fd = -1 };
}
