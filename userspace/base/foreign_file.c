// SPDX-License-Identifier: Apache-2.0
/*
 * O_PATH opens nothing: what it found is opened through /proc/self/fd once it was looked at, so that
 * it cannot become another file in between. O_NONBLOCK: of a regular file it only matters while its
 * owner holds a lease, which holds up who opens it for 45 s (fcntl(2), F_SETLEASE).
 */
#include "base/foreign_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
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

int foreign_file_reopen(int path_fd)
{
	struct stat st;
	char link[64];
	int fd;

	if (fstat(path_fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || is_made_up(path_fd))
		return -EINVAL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	fd = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int foreign_file_find(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int foreign_file_open(const char *path)
{
	_cleanup_close_ int path_fd = foreign_file_find(path);

	return path_fd < 0 ? path_fd : foreign_file_reopen(path_fd);
}

static int open_root(uint32_t pid)
{
	char root[64];
	int fd;

	snprintf(root, sizeof(root), "/proc/%u/root", pid);
	fd = open(pid ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int find_below(int root_fd, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned int)(flags | O_PATH | O_CLOEXEC),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

int foreign_file_find_in_root(uint32_t pid, const char *path, int flags)
{
	_cleanup_close_ int root_fd = open_root(pid);

	return root_fd < 0 ? root_fd : find_below(root_fd, path, flags);
}

int foreign_file_open_in_root(uint32_t pid, const char *path, int flags)
{
	_cleanup_close_ int root_fd = open_root(pid), path_fd = -1;

	path_fd = root_fd < 0 ? root_fd : find_below(root_fd, path, flags);
	return path_fd < 0 ? path_fd : foreign_file_reopen(path_fd);
}
