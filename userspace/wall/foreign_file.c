// SPDX-License-Identifier: Apache-2.0
/*
 * O_PATH opens nothing: what it found is opened through /proc/self/fd once it was looked at, so that
 * it cannot become another file in between. O_NONBLOCK: of a regular file it only matters while its
 * owner holds a lease, which holds up who opens it for 45 s (fcntl(2), F_SETLEASE).
 */
#include "wall/foreign_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macros.h"

/* Not in linux/magic.h: fs/configfs/mount.c, net/sunrpc/rpc_pipe.c, fs/fuse/control.c */
#define CONFIGFS_MAGIC	   0x62656570
#define RPC_PIPEFS_MAGIC   0x67596969
#define FUSE_CONTROL_MAGIC 0x65735543

/* File systems whose regular files are functions of the kernel. */
static const unsigned long made_up[] = {
	PROC_SUPER_MAGIC, SYSFS_MAGIC,	      DEBUGFS_MAGIC,	   TRACEFS_MAGIC,
	SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, RDTGROUP_SUPER_MAGIC,
	BPF_FS_MAGIC,	  SELINUX_MAGIC,      SMACK_MAGIC,	   PSTOREFS_MAGIC,
	EFIVARFS_MAGIC,	  BINFMTFS_MAGIC,     DEVPTS_SUPER_MAGIC,  NSFS_MAGIC,
	CONFIGFS_MAGIC,	  RPC_PIPEFS_MAGIC,   FUSE_CONTROL_MAGIC,
};

static bool is_made_up(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(made_up); i++)
		if ((unsigned long)fs.f_type == made_up[i])
			return true;
	return false;
}

static int reopen(int path_fd, int access)
{
	struct stat st;
	char link[64];
	int fd;

	if (fstat(path_fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || is_made_up(path_fd))
		return -EINVAL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	fd = open(link, access | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int foreign_file_open(const char *path)
{
	_cleanup_close_ int path_fd = open(path, O_PATH | O_CLOEXEC);

	return path_fd < 0 ? -errno : reopen(path_fd, O_RDONLY);
}

int foreign_file_open_in_root(uint32_t pid, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned int)(flags | O_PATH | O_CLOEXEC),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	_cleanup_close_ int root_fd = -1, path_fd = -1;
	char root[64];

	snprintf(root, sizeof(root), "/proc/%u/root", pid);
	root_fd = open(pid ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		return -errno;
	path_fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
	return path_fd < 0 ? -errno : reopen(path_fd, O_RDONLY);
}

/* --- memory files ----------------------------------------------------------------------------- */

static bool is_memfd(int dir_fd, const char *entry, const char *name)
{
	static const char prefix[] = "/memfd:", deleted[] = " (deleted)";
	char link[sizeof(prefix) + NAME_MAX + sizeof(deleted)], wanted[sizeof(link)];
	ssize_t len = readlinkat(dir_fd, entry, link, sizeof(link) - 1);

	if (len < 0)
		return false;
	link[len] = '\0';
	snprintf(wanted, sizeof(wanted), "%s%s", prefix, name);
	if (strncmp(link, wanted, strlen(wanted)) != 0)
		return false;
	return !link[strlen(wanted)] || !strcmp(link + strlen(wanted), deleted);
}

/* An agent that could not close in time leaves its old memory: the highest number is the newest. */
static int newest_memfd(DIR *dir, const char *name)
{
	int newest = -ENODATA;

	for (struct dirent *d; (d = readdir(dir));) {
		long n = strtol(d->d_name, NULL, 10);

		if (d->d_name[0] != '.' && n > newest && is_memfd(dirfd(dir), d->d_name, name))
			newest = (int)n;
	}
	return newest;
}

int foreign_file_open_memfd(uint32_t pid, const char *name)
{
	_cleanup_close_ int path_fd = -1;
	char path[64];
	DIR *dir;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/fd", pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	fd = newest_memfd(dir, name);
	closedir(dir);
	if (fd < 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%u/fd/%d", pid, fd);
	path_fd = open(path, O_PATH | O_CLOEXEC);
	return path_fd < 0 ? -errno : reopen(path_fd, O_RDWR);
}
