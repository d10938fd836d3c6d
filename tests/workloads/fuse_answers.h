/* SPDX-License-Identifier: Apache-2.0 */
/* A file system with one file, for workloads that are slow to answer or do not: what all of them say to the kernel (linux/fuse.h). */
#ifndef HOSTPROF_TESTS_WORKLOADS_FUSE_ANSWERS_H
#define HOSTPROF_TESTS_WORKLOADS_FUSE_ANSWERS_H

#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FUSE_PAGE    4096
#define FUSE_FILE    2 /* the file's number, whatever it is called */
#define FUSE_VALID_S 3600

static int fuse_device;

static inline void fuse_answer(uint64_t unique, int error, const void *body, size_t len)
{
	struct fuse_out_header header = { (uint32_t)(sizeof(header) + len), error, unique };
	struct iovec parts[] = { { &header, sizeof(header) }, { (void *)(uintptr_t)body, len } };

	if (writev(fuse_device, parts, len ? 2 : 1) < 0)
		perror("fuse_answer");
}

static inline struct fuse_attr fuse_attributes(uint64_t id, uint64_t size)
{
	return (struct fuse_attr){ .ino = id,
				   .size = size,
				   .mode = id == FUSE_FILE ? S_IFREG | 0755 : S_IFDIR | 0755,
				   .nlink = 1,
				   .blksize = FUSE_PAGE };
}

static inline void fuse_answer_init(uint64_t unique, const struct fuse_init_in *in)
{
	struct fuse_init_out out = { .major = FUSE_KERNEL_VERSION,
				     .minor = FUSE_KERNEL_MINOR_VERSION,
				     .max_readahead = in->max_readahead,
				     .max_write = FUSE_PAGE };

	fuse_answer(unique, 0, &out, sizeof(out));
}

/* All but reads, of a file of SIZE bytes whose opening has FLAGS. False: it was another request. */
static inline bool fuse_answer_common(const struct fuse_in_header *in, uint64_t size,
				      uint32_t flags)
{
	struct fuse_entry_out entry = { .nodeid = FUSE_FILE,
					.entry_valid = FUSE_VALID_S,
					.attr_valid = FUSE_VALID_S,
					.attr = fuse_attributes(FUSE_FILE, size) };
	struct fuse_attr_out attr = { .attr_valid = FUSE_VALID_S,
				      .attr = fuse_attributes(in->nodeid, size) };
	struct fuse_open_out opened = { .fh = 1, .open_flags = flags };
	struct fuse_statfs_out fs = { .st = { .bsize = FUSE_PAGE, .namelen = 255 } };

	switch (in->opcode) {
	case FUSE_INIT:
		fuse_answer_init(in->unique, (const struct fuse_init_in *)(in + 1));
		return true;
	case FUSE_LOOKUP: fuse_answer(in->unique, 0, &entry, sizeof(entry)); return true;
	case FUSE_GETATTR: fuse_answer(in->unique, 0, &attr, sizeof(attr)); return true;
	case FUSE_OPEN: fuse_answer(in->unique, 0, &opened, sizeof(opened)); return true;
	case FUSE_STATFS: fuse_answer(in->unique, 0, &fs, sizeof(fs)); return true;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT: return true; /* nobody waits for an answer */
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_FSYNC: fuse_answer(in->unique, 0, "", 0); return true;
	default: return false;
	}
}

/*
 * As fusermount3 does it for any user: root mounts, for this process and its children, and the file system is user ID's. Then somebody has
 * to read the device.
 */
static inline int fuse_mount(const char *name, const char *directory, uid_t id)
{
	char options[128];

	fuse_device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fuse_device < 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -1;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%u,group_id=%u",
		 fuse_device, id, id);
	return mount(name, directory, "fuse", MS_NOSUID | MS_NODEV, options);
}

#endif
