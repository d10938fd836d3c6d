// SPDX-License-Identifier: Apache-2.0
#include "base/out/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include "base/alloc.h"
#include "base/strbuf.h"

static int write_failed(const struct outfile *out, int code, struct err *err)
{
	return err_sys(err, code, "cannot write %s", out->path);
}

static int find_place(const char *path, struct outfile *out, struct err *err)
{
	int r = out_place_find(path, out->stays_new, &out->place, err);

	if (r < 0)
		return r;
	out->path = xstrdup(out->place.path);
	out->is_new = !out->place.exists;
	return 0;
}

/* --- whole or not at all --- */

/* Whatever has the temporary name is from another time, or a trap: it goes, and is not followed. */
static int create_temp(const struct outfile *out)
{
	unlinkat(out->place.dir_fd, out->temp_name, 0);
	return out_place_create(&out->place, out->temp_name, O_RDWR);
}

/* A file that is replaced hands on its mode, and its owner where we may. */
static int take_after(int fd, const struct stat *old)
{
	(void)!fchown(fd, old->st_uid, old->st_gid);
	return fchmod(fd, old->st_mode & 0777) < 0 ? -errno : 0;
}

/* In the target's directory, so that the rename stays within one file system. */
static int open_temp(struct outfile *out, struct err *err)
{
	_cleanup_strbuf_ struct strbuf temp = STRBUF_INIT;
	int r = 0;

	strbuf_addf(&temp, "%s.%d.tmp", out->place.name, (int)getpid());
	out->temp_name = strbuf_take(&temp);
	/* Naming it later needs /proc. */
	out->fd = access("/proc/self/fd", X_OK) < 0 ? -EOPNOTSUPP
						    : out_place_create_unnamed(&out->place);
	out->unnamed = out->fd >= 0;
	if (out->fd < 0)
		out->fd = create_temp(out);
	if (out->fd < 0)
		return write_failed(out, TAKE_FD(out->fd), err);
	if (!out->is_new)
		r = take_after(out->fd, &out->place.there);
	return r < 0 ? write_failed(out, r, err) : 0;
}

static bool is_replaced(const struct out_place *place)
{
	return !place->exists || (S_ISREG(place->there.st_mode) && !place->is_kernels);
}

static int open_named(const char *path, struct outfile *out, struct err *err)
{
	int r = find_place(path, out, err);

	if (r < 0)
		return r;
	if (is_replaced(&out->place)) {
		if (!out->is_new && faccessat(out->place.dir_fd, out->place.name, W_OK, 0) < 0)
			return write_failed(out, -errno, err);
		return open_temp(out, err);
	}
	out->fd = out_place_open(&out->place, O_WRONLY);
	if (out->fd < 0)
		return write_failed(out, out->fd, err);
	if (S_ISREG(out->place.there.st_mode) && ftruncate(out->fd, 0) < 0)
		return write_failed(out, -errno, err);
	return 0;
}

static int open_whole(const char *path, bool stays_new, struct outfile *ret_out, struct err *err)
{
	struct outfile out = OUTFILE_INIT;
	int r = 0;

	out.stays_new = stays_new;
	if (strcmp(path, "-") != 0) {
		r = open_named(path, &out, err);
	} else {
		out.fd = STDOUT_FILENO;
		out.path = xstrdup("standard output");
	}
	if (r < 0)
		outfile_release(&out);
	else
		*ret_out = out;
	return r;
}

int outfile_open(const char *path, struct outfile *ret_out, struct err *err)
{
	return open_whole(path, false, ret_out, err);
}

int outfile_open_new(const char *path, struct outfile *ret_out, struct err *err)
{
	return open_whole(path, true, ret_out, err);
}

/* --- in place --- */

/* Another name of it may be somebody's who would not have it emptied. */
static int empty_file(const struct outfile *out, struct err *err)
{
	if (out->place.there.st_nlink > 1) {
		err_set(err, -EMLINK, "cannot write %s: the file has other names, too", out->path);
		return err_hint(err, "remove this one, or give another");
	}
	return ftruncate(out->fd, 0) < 0 ? write_failed(out, -errno, err) : 0;
}

/*
 * Two that write to one file leave nothing that can be read. Not every file system has such locks; and who has just made the file has it, though somebody
 * may look at this very moment whether it is locked.
 */
static int lock_file(const struct outfile *out, struct err *err)
{
	if (flock(out->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK || out->is_new)
		return 0;
	err_set(err, -EBUSY, "cannot write %s: another program is writing it", out->path);
	return err_hint(err, "end that one, or give another name");
}

static int open_in_place(const char *path, struct outfile *out, struct err *err)
{
	bool is_regular;
	int r = find_place(path, out, err);

	if (r < 0)
		return r;
	is_regular = out->is_new || S_ISREG(out->place.there.st_mode);
	if (out->is_new)
		r = out_place_create(&out->place, out->place.name, O_RDWR);
	else
		r = out_place_open(&out->place, is_regular ? O_RDWR : O_WRONLY);
	if (r < 0)
		return write_failed(out, r, err);
	out->fd = r;
	if (!is_regular)
		return 0;
	r = lock_file(out, err);
	return r < 0 || out->is_new ? r : empty_file(out, err);
}

static int open_or_release(const char *path, bool stays_new, struct outfile *ret_out,
			   struct err *err)
{
	struct outfile out = OUTFILE_INIT;
	int r;

	out.stays_new = stays_new;
	r = open_in_place(path, &out, err);
	if (r < 0)
		outfile_release(&out);
	else
		*ret_out = out;
	return r;
}

int outfile_open_in_place(const char *path, struct outfile *ret_out, struct err *err)
{
	return open_or_release(path, false, ret_out, err);
}

int outfile_create(const char *path, struct outfile *ret_out, struct err *err)
{
	return open_or_release(path, true, ret_out, err);
}

/* --- the end --- */

/* Pipes and devices have nothing to bring to a disk. */
static int sync_file(int fd)
{
	if (fsync(fd) == 0 || errno == EINVAL || errno == EROFS)
		return 0;
	return -errno;
}

/* A name that was made is on the disk, too; where directories cannot be synced it is the system's affair. */
static int sync_directory(const struct out_place *place)
{
	_cleanup_close_ int fd = openat(place->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && fsync(fd) < 0 && errno == EIO ? -EIO : 0;
}

/* Give the file its temporary name. */
static int name_file(struct outfile *out, int fd)
{
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	unlinkat(out->place.dir_fd, out->temp_name, 0);
	if (linkat(AT_FDCWD, self, out->place.dir_fd, out->temp_name, AT_SYMLINK_FOLLOW) < 0)
		return -errno;
	out->unnamed = false;
	return 0;
}

static int rename_file(struct outfile *out, struct err *err)
{
	unsigned int flags = out->stays_new ? RENAME_NOREPLACE : 0;
	int dir = out->place.dir_fd;

	if (renameat2(dir, out->temp_name, dir, out->place.name, flags) < 0)
		return err_sys(err, -errno, "cannot rename %s to %s", out->temp_name, out->path);
	free(TAKE_PTR(out->temp_name));
	return 0;
}

int outfile_commit(struct outfile *out, struct err *err)
{
	int r, fd = TAKE_FD(out->fd);

	if (fd == STDOUT_FILENO)
		return 0;
	if (fd < 0)
		return err_set(err, -EBADF, "%s is closed already", out->path);
	r = sync_file(fd);
	if (r == 0 && out->unnamed)
		r = name_file(out, fd);
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r < 0)
		return write_failed(out, r, err);
	if (out->temp_name) {
		r = rename_file(out, err);
		if (r < 0)
			return r;
	}
	r = sync_directory(&out->place);
	return r < 0 ? write_failed(out, r, err) : 0;
}

void outfile_remove(const struct outfile *out)
{
	if (out->place.name)
		unlinkat(out->place.dir_fd, out->place.name, 0);
}

void outfile_release(struct outfile *out)
{
	if (out->fd >= 0 && out->fd != STDOUT_FILENO)
		close(out->fd);
	if (out->temp_name && !out->unnamed)
		unlinkat(out->place.dir_fd, out->temp_name, 0);
	free(out->temp_name);
	free(out->path);
	out_place_release(&out->place);
	*out = (struct outfile)OUTFILE_INIT;
}
