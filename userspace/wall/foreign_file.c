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
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macros.h"

/* --- file systems ----------------------------------------------------------------------------- */

/* Not in linux/magic.h: fs/jfs/jfs_superblock.h, fs/ufs, fs/ntfs3, fs/bcachefs, fs/erofs, OpenZFS, aufs … */
#define JFS_MAGIC      0x3153464a
#define NTFS3_MAGIC    0x7366746e
#define BCACHEFS_MAGIC 0xca451a4e
#define ZFS_MAGIC      0x2fc12fc1
#define AUFS_MAGIC     0x61756673
#define VBOXSF_MAGIC   0x786f4256
#define LUSTRE_MAGIC   0x0bd00bd0
#define GPFS_MAGIC     0x47504653

/* Disks and memory, and what lies over them; initramfs and memory files are RAMFS and TMPFS. */
static const unsigned long local[] = {
	EXT4_SUPER_MAGIC,  XFS_SUPER_MAGIC,
	BTRFS_SUPER_MAGIC, TMPFS_MAGIC,
	RAMFS_MAGIC,	   OVERLAYFS_SUPER_MAGIC,
	SQUASHFS_MAGIC,	   F2FS_SUPER_MAGIC,
	ISOFS_SUPER_MAGIC, EROFS_SUPER_MAGIC_V1,
	HUGETLBFS_MAGIC,   NILFS_SUPER_MAGIC,
	MSDOS_SUPER_MAGIC, EXFAT_SUPER_MAGIC,
	UDF_SUPER_MAGIC,   REISERFS_SUPER_MAGIC,
	CRAMFS_MAGIC,	   MINIX3_SUPER_MAGIC,
	JFS_MAGIC,	   NTFS3_MAGIC,
	BCACHEFS_MAGIC,	   ZFS_MAGIC,
	AUFS_MAGIC,	   ECRYPTFS_SUPER_MAGIC,
};

static const unsigned long served[] = {
	FUSE_SUPER_MAGIC,  NFS_SUPER_MAGIC,  CIFS_SUPER_MAGIC, SMB2_SUPER_MAGIC, SMB_SUPER_MAGIC,
	V9FS_MAGIC,	   CEPH_SUPER_MAGIC, AFS_SUPER_MAGIC,  AFS_FS_MAGIC,	 CODA_SUPER_MAGIC,
	OCFS2_SUPER_MAGIC, VBOXSF_MAGIC,     LUSTRE_MAGIC,     GPFS_MAGIC,
};

static bool is_one_of(unsigned long type, const unsigned long *types, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (types[i] == type)
			return true;
	return false;
}

static bool same_user_namespace(uint32_t pid)
{
	struct stat theirs, ours;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/ns/user", pid);
	return stat(path, &theirs) == 0 && stat("/proc/self/ns/user", &ours) == 0 &&
	       theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

/*
 * -EINVAL: it has no files that are to be read. Who has a user namespace of his own may mount an overlay of a
 * server's files there.
 */
static int kind_of(int fd, uint32_t pid, enum foreign_kind *ret_kind)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return -errno;
	*ret_kind = FOREIGN_SERVED;
	if (fs.f_type == OVERLAYFS_SUPER_MAGIC && pid && !same_user_namespace(pid))
		return 0;
	*ret_kind = FOREIGN_LOCAL;
	if (is_one_of((unsigned long)fs.f_type, local, ARRAY_SIZE(local)))
		return 0;
	*ret_kind = FOREIGN_SERVED;
	return is_one_of((unsigned long)fs.f_type, served, ARRAY_SIZE(served)) ? 0 : -EINVAL;
}

/* --- finding ---------------------------------------------------------------------------------- */

/* FD is taken. */
static int look_at(int fd, uint32_t pid, struct foreign_file *ret_file)
{
	_cleanup_close_ int found = fd;
	struct foreign_file file;
	struct stat st;
	int r;

	if (found < 0)
		return -errno;
	if (fstat(found, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	r = kind_of(found, pid, &file.kind);
	if (r == 0)
		r = file_id_read(found, &file.id);
	if (r < 0)
		return r;
	file.fd = TAKE_FD(found);
	*ret_file = file;
	return 0;
}

int foreign_file_find(uint32_t pid, const char *path, struct foreign_file *ret_file)
{
	return look_at(open(path, O_PATH | O_CLOEXEC), pid, ret_file);
}

/* A descriptor (O_PATH), or -1. */
static int open_in_root(uint32_t pid, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned int)(flags | O_PATH | O_CLOEXEC),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	_cleanup_close_ int root_fd = -1;
	char root[64];

	snprintf(root, sizeof(root), "/proc/%u/root", pid);
	root_fd = open(pid ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		return -1;
	return (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
}

int foreign_file_find_in_root(uint32_t pid, const char *path, int flags,
			      struct foreign_file *ret_file)
{
	return look_at(open_in_root(pid, path, flags), pid, ret_file);
}

int foreign_file_look(const char *path, struct file_id *ret_id)
{
	return file_id_read_at(AT_FDCWD, path, ret_id);
}

int foreign_file_look_in_root(uint32_t pid, const char *path, struct file_id *ret_id)
{
	_cleanup_close_ int found = open_in_root(pid, path, 0);

	return found < 0 ? -errno : file_id_read(found, ret_id);
}

/* --- opening ---------------------------------------------------------------------------------- */

static int reopen(int path_fd, int access)
{
	char link[64];
	int fd;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	fd = open(link, access | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int foreign_file_reopen(int path_fd)
{
	return reopen(path_fd, O_RDONLY);
}

static int copy_all(int to, int from)
{
	uint64_t copied = 0;
	ssize_t n;

	while ((n = sendfile(to, from, NULL, FOREIGN_FILE_MAX_COPY - copied + 1)) > 0) {
		copied += (uint64_t)n;
		if (copied > FOREIGN_FILE_MAX_COPY)
			return -E2BIG;
	}
	return n < 0 ? -errno : 0;
}

int foreign_file_copy(int path_fd)
{
	_cleanup_close_ int from = foreign_file_reopen(path_fd), to = -1;
	struct stat st;
	int r;

	if (from < 0)
		return from;
	if (fstat(from, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size > FOREIGN_FILE_MAX_COPY)
		return -E2BIG;
	to = memfd_create("hostprof-copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (to < 0)
		return -errno;
	r = copy_all(to, from);
	if (r < 0)
		return r;
	if (fcntl(to, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -errno;
	return TAKE_FD(to);
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
	struct foreign_file file;
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
	fd = foreign_file_find(pid, path, &file);
	if (fd < 0)
		return fd;
	fd = file.kind == FOREIGN_LOCAL ? reopen(file.fd, O_RDWR) : -EINVAL;
	close(file.fd);
	return fd;
}
