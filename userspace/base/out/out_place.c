// SPDX-License-Identifier: Apache-2.0
#include "base/out/out_place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

#include "base/alloc.h"
#include "base/out/out_owner.h"
#include "base/strbuf.h"

/* As in the kernel: MAXSYMLINKS in linux/namei.h. */
#define MOST_LINKS 40
#define NEW_MODE   0600

struct walk {
	const char *path; /* as it was given */
	char *rest;	  /* owned; what is to be walked yet */
	char *name;	  /* owned; the component that was taken off it last */
	bool is_last;
	bool wants_directory; /* a slash follows */
	bool wants_new;
	unsigned int links;
	int dir_fd; /* owned */
};

static void walk_release(struct walk *walk)
{
	free(walk->rest);
	free(walk->name);
	closep(&walk->dir_fd);
}

static int open_failed(const struct walk *walk, int code, struct err *err)
{
	return err_sys(err, code, "cannot write %s", walk->path);
}

static int enter(struct walk *walk, int fd, struct err *err)
{
	if (fd < 0)
		return open_failed(walk, -errno, err);
	closep(&walk->dir_fd);
	walk->dir_fd = fd;
	return 0;
}

static void take_component(struct walk *walk)
{
	const char *from = walk->rest + strspn(walk->rest, "/");
	size_t len = strcspn(from, "/");
	const char *after = from + len;
	char *rest;

	free(walk->name);
	walk->name = xstrndup(from, len);
	walk->wants_directory = *after == '/';
	after += strspn(after, "/");
	walk->is_last = !*after;
	rest = xstrdup(after);
	free(walk->rest);
	walk->rest = rest;
}

/* A link whose target the kernel knows better than its text. */
static bool is_kernels_link(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* FD is the link's. */
static int follow(struct walk *walk, int fd, const struct stat *link, struct err *err)
{
	_cleanup_strbuf_ struct strbuf rest = STRBUF_INIT;
	char target[PATH_MAX];
	ssize_t len;

	if (!out_owner_is_trusted(link->st_uid)) {
		err_set(err, -EPERM, "cannot write %s: the symbolic link %s belongs to user %u",
			walk->path, walk->name, link->st_uid);
		return err_hint(err, "give the path that it leads to");
	}
	if (++walk->links > MOST_LINKS)
		return open_failed(walk, -ELOOP, err);
	len = readlinkat(fd, "", target, sizeof(target));
	if (len < 0 || (size_t)len >= sizeof(target))
		return open_failed(walk, len < 0 ? -errno : -ENAMETOOLONG, err);
	strbuf_add(&rest, target, (size_t)len);
	strbuf_addstr(&rest, walk->wants_directory ? "/" : "");
	strbuf_addstr(&rest, walk->rest);
	free(walk->rest);
	walk->rest = strbuf_take(&rest);
	if (target[0] != '/')
		return 0;
	return enter(walk, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), err);
}

/* What is already there is used when it is ours, or of who alone may write there. */
static int check_there(const struct walk *walk, const struct out_place *place, struct err *err)
{
	const struct stat *there = &place->there;
	struct stat dir;

	if (S_ISDIR(there->st_mode))
		return open_failed(walk, -EISDIR, err);
	/* Only root makes devices. */
	if (place->is_kernels || S_ISCHR(there->st_mode) || S_ISBLK(there->st_mode) ||
	    out_owner_is_trusted(there->st_uid))
		return 0;
	if (fstat(walk->dir_fd, &dir) == 0 && dir.st_uid == there->st_uid &&
	    !(dir.st_mode & S_IWOTH))
		return 0;
	err_set(err, -EPERM, "cannot write %s: it belongs to user %u", walk->path, there->st_uid);
	return err_hint(err, "remove it, or give another name");
}

/* Links have led elsewhere: what it is really called, where that can be told. */
static char *true_path(const struct walk *walk)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	char link[32], dir[PATH_MAX];
	ssize_t len = -1;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", walk->dir_fd);
	if (walk->links)
		len = readlink(link, dir, sizeof(dir));
	if (len <= 0 || (size_t)len >= sizeof(dir))
		return xstrdup(walk->path);
	strbuf_add(&path, dir, (size_t)len);
	strbuf_addstr(&path, len > 1 ? "/" : "");
	strbuf_addstr(&path, walk->name);
	return strbuf_take(&path);
}

enum stepped { STEP_ON, STEP_ARRIVED };

static int arrive(struct walk *walk, struct out_place *place, struct err *err)
{
	int r = place->exists ? check_there(walk, place, err) : 0;

	if (r < 0)
		return r;
	place->path = true_path(walk);
	place->name = TAKE_PTR(walk->name);
	place->dir_fd = TAKE_FD(walk->dir_fd);
	return STEP_ARRIVED;
}

/* One component: enum stepped or -errno. */
static int walk_step(struct walk *walk, struct out_place *place, struct err *err)
{
	_cleanup_close_ int fd = -1;
	bool is_end;

	take_component(walk);
	if (!*walk->name)
		return open_failed(walk, *walk->path ? -EISDIR : -ENOENT, err);
	is_end = walk->is_last && !walk->wants_directory;
	fd = openat(walk->dir_fd, walk->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT && is_end ? arrive(walk, place, err)
						 : open_failed(walk, -errno, err);
	if (is_end && walk->wants_new)
		return open_failed(walk, -EEXIST, err);
	if (fstat(fd, &place->there) < 0)
		return open_failed(walk, -errno, err);
	if (S_ISLNK(place->there.st_mode)) {
		if (!is_kernels_link(fd))
			return follow(walk, fd, &place->there, err);
		close(fd);
		fd = openat(walk->dir_fd, walk->name, O_PATH | O_CLOEXEC);
		if (fd < 0 || fstat(fd, &place->there) < 0)
			return open_failed(walk, -errno, err);
		place->is_kernels = is_end;
	}
	if (!is_end)
		return enter(walk, TAKE_FD(fd), err);
	place->exists = true;
	return arrive(walk, place, err);
}

int out_place_find(const char *path, bool wants_new, struct out_place *ret_place, struct err *err)
{
	_cleanup_(walk_release) struct walk walk = { .path = path,
						     .wants_new = wants_new,
						     .dir_fd = -1 };
	struct out_place place = OUT_PLACE_INIT;
	int r = enter(&walk, open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC), err);

	walk.rest = xstrdup(path);
	while (r == STEP_ON)
		r = walk_step(&walk, &place, err);
	if (r < 0)
		return r;
	*ret_place = place;
	return 0;
}

void out_place_release(struct out_place *place)
{
	closep(&place->dir_fd);
	free(place->name);
	free(place->path);
	*place = (struct out_place)OUT_PLACE_INIT;
}

int out_place_open(const struct out_place *place, int flags)
{
	int follow = place->is_kernels ? 0 : O_NOFOLLOW;
	/* A lease or a pipe that came in between must not hold us up. */
	int nonblock = S_ISREG(place->there.st_mode) ? O_NONBLOCK : 0;
	_cleanup_close_ int fd = openat(place->dir_fd, place->name,
					flags | follow | nonblock | O_CLOEXEC | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (st.st_dev != place->there.st_dev || st.st_ino != place->there.st_ino)
		return -EBUSY;
	return TAKE_FD(fd);
}

static int give(int fd)
{
	int r = fd < 0 ? -errno : out_owner_give(fd);

	if (r < 0 && fd >= 0)
		close(fd);
	return r < 0 ? r : fd;
}

int out_place_create(const struct out_place *place, const char *name, int flags)
{
	return give(openat(place->dir_fd, name,
			   flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, NEW_MODE));
}

int out_place_create_unnamed(const struct out_place *place)
{
	return give(openat(place->dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, NEW_MODE));
}
