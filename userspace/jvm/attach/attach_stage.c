/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/attach/attach_stage.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/file.h"
#include "base/hmap.h"

/* The library has some 100 kB, more with debug data. */
#define MAX_AGENT_BYTES (16U << 20)

/* A library in a directory that is mounted noexec cannot be loaded. */
static const char *const copy_dirs[] = { "/tmp", "/var/tmp", "/dev/shm" };

/* What the child returns instead: the index of the directory that took the copy. */
#define SAME_FILE 100

struct stage {
	char path[PATH_MAX]; /* resolved, on the host */
	struct stat file;
	struct strbuf content; /* owned */
	char name[64];	       /* of a copy */
};

static void stage_release(struct stage *stage)
{
	strbuf_release(&stage->content);
}

static int stage_init(struct stage *stage, const char *agent_path, struct err *err)
{
	_cleanup_close_ int fd = -1;
	int r;

	*stage = (struct stage){ .content = STRBUF_INIT };
	if (!realpath(agent_path, stage->path))
		return err_sys(err, -errno, "cannot find the agent %s", agent_path);
	fd = open(stage->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &stage->file) < 0)
		return err_sys(err, -errno, "cannot open the agent %s", stage->path);
	r = file_read_fd(fd, MAX_AGENT_BYTES, &stage->content);
	if (r < 0)
		return err_sys(err, r, "cannot read the agent %s", stage->path);
	snprintf(stage->name, sizeof(stage->name), "libhostprof-agent-%016" PRIx64 ".so",
		 hash_bytes(stage->content.buf, stage->content.len));
	return 0;
}

/* With the target's ids: may it open the very file that we mean under the same name? */
static bool sees_same_file(const struct attach_target *target, const struct stage *stage)
{
	_cleanup_close_ int fd = attach_target_open_path(target, stage->path, O_RDONLY);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == stage->file.st_dev &&
	       st.st_ino == stage->file.st_ino;
}

/* A file of the right name is used only if nobody else can change it and its bytes are ours. */
static bool copy_is_good(int dir_fd, const struct stage *stage)
{
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	_cleanup_close_ int fd =
		openat(dir_fd, stage->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	if ((st.st_uid != geteuid() && st.st_uid != 0) || st.st_mode & (S_IWGRP | S_IWOTH))
		return false;
	return file_read_fd(fd, MAX_AGENT_BYTES, &bytes) == 0 && bytes.len == stage->content.len &&
	       !memcmp(bytes.buf, stage->content.buf, bytes.len);
}

/* Whole or not at all: written under another name first. */
static int copy_write(int dir_fd, const struct stage *stage)
{
	_cleanup_close_ int fd = -1;
	char temp[96];
	int r;

	snprintf(temp, sizeof(temp), ".%s.%d", stage->name, (int)getpid());
	fd = openat(dir_fd, temp, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0500);
	if (fd < 0)
		return -errno;
	r = file_write_all(fd, stage->content.buf, stage->content.len);
	if (!r && renameat(dir_fd, temp, dir_fd, stage->name) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(dir_fd, temp, 0);
	return r;
}

/* A descriptor of the target's directory DIR, from which a library can be loaded. */
static int open_copy_dir(const struct attach_target *target, const char *dir)
{
	_cleanup_close_ int dir_fd = attach_target_open_path(target, dir, O_RDONLY | O_DIRECTORY);
	struct statvfs fs;

	if (dir_fd < 0)
		return dir_fd;
	if (fstatvfs(dir_fd, &fs) < 0)
		return -errno;
	return fs.f_flag & ST_NOEXEC ? -EACCES : TAKE_FD(dir_fd);
}

static int copy_into(const struct attach_target *target, const char *dir, const struct stage *stage)
{
	_cleanup_close_ int dir_fd = open_copy_dir(target, dir);

	if (dir_fd < 0)
		return dir_fd;
	return copy_is_good(dir_fd, stage) ? 0 : copy_write(dir_fd, stage);
}

static bool may_copy_into(const struct attach_target *target, const char *dir,
			  const struct stage *stage)
{
	_cleanup_close_ int dir_fd = open_copy_dir(target, dir);

	return dir_fd >= 0 &&
	       (copy_is_good(dir_fd, stage) || faccessat(dir_fd, ".", W_OK | X_OK, 0) == 0);
}

/* In the child, with the target's ids. */
static int look_as_target(const struct attach_target *target, void *data, int *ret_fd)
{
	const struct stage *stage = data;

	(void)ret_fd;
	if (sees_same_file(target, stage))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(copy_dirs); i++)
		if (may_copy_into(target, copy_dirs[i], stage))
			return 0;
	return -EACCES;
}

/* In the child, with the target's ids. */
static int stage_as_target(const struct attach_target *target, void *data,
			   int *ret_fd) /* NOLINT: as others give one */
{
	const struct stage *stage = data;
	int r = -EACCES;

	(void)ret_fd;
	umask(0);
	if (sees_same_file(target, stage))
		return SAME_FILE;
	for (int i = 0; i < (int)ARRAY_SIZE(copy_dirs); i++) {
		r = copy_into(target, copy_dirs[i], stage);
		if (!r)
			return i;
	}
	return r;
}

int attach_stage_agent(const struct attach_target *target, const char *agent_path,
		       uint64_t deadline_ns, char *ret_path, size_t size, struct err *err)
{
	_cleanup_(stage_release) struct stage stage;
	int fd, n, r = stage_init(&stage, agent_path, err);

	if (r < 0)
		return r;
	r = attach_target_run(target, stage_as_target, &stage, deadline_ns, &fd);
	if (r < 0)
		return err_sys(err, r, "cannot copy the agent to where process %u can load it",
			       target->pid);
	if (r == SAME_FILE)
		n = snprintf(ret_path, size, "%s", stage.path);
	else
		n = snprintf(ret_path, size, "%s/%s", copy_dirs[r], stage.name);
	if ((size_t)n >= size)
		return err_set(err, -ENAMETOOLONG, "the agent's path %s is too long", stage.path);
	return 0;
}

int attach_stage_check(const struct attach_target *target, const char *agent_path,
		       uint64_t deadline_ns, struct err *err)
{
	_cleanup_(stage_release) struct stage stage;
	int fd, r = stage_init(&stage, agent_path, err);

	if (r < 0)
		return r;
	r = attach_target_run(target, look_as_target, &stage, deadline_ns, &fd);
	if (r == -EACCES)
		return err_set(
			err, r,
			"/tmp, /var/tmp and /dev/shm of process %u are read-only or mounted noexec: "
			"there is no place for the agent",
			target->pid);
	return r < 0 ? err_sys(err, r, "cannot look at the files of process %u", target->pid) : 0;
}
