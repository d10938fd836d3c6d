// SPDX-License-Identifier: Apache-2.0
/*
 * usage: slow_disk IMAGE DIRECTORY MS COMMAND…
 * Runs COMMAND where DIRECTORY holds the file system of IMAGE (ext4), read-only, on a disk that takes MS milliseconds for each read, one after
 * the other. Nothing of it is in memory at first. The kernel's loop device has its bytes of a file system of ours (FUSE); both are gone with the
 * last process. Exits with 77 where that cannot be had.
 */
#include <errno.h>
#include <linux/loop.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

#include "fuse_answers.h"

#define CANNOT	      77
#define READ_BYTES    (1 << 20)
#define REQUEST_BYTES (FUSE_MIN_READ_BUFFER + READ_BYTES)

static int image;
static uint64_t image_bytes;
static useconds_t delay_us;

static void answer_read(uint64_t unique, const struct fuse_read_in *in)
{
	static char bytes[READ_BYTES];
	ssize_t n;

	usleep(delay_us);
	n = pread(image, bytes, in->size < READ_BYTES ? in->size : READ_BYTES, (off_t)in->offset);
	fuse_answer(unique, n < 0 ? -EIO : 0, bytes, n < 0 ? 0 : (size_t)n);
}

static void serve(void)
{
	static char request[REQUEST_BYTES];
	const struct fuse_in_header *in = (const void *)request;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	while (read(fuse_device, request, sizeof(request)) >= (ssize_t)sizeof(*in)) {
		if (in->opcode == FUSE_READ)
			answer_read(in->unique, (const void *)(in + 1));
		else if (!fuse_answer_common(in, image_bytes, FOPEN_DIRECT_IO))
			fuse_answer(in->unique, -ENOSYS, "", 0);
	}
	_exit(0);
}

/* Its descriptor; NAME: its path. It detaches itself when nothing uses it any more. */
static int attach(const char *directory, char *name, size_t size)
{
	struct loop_config config = { .info.lo_flags = LO_FLAGS_READ_ONLY | LO_FLAGS_AUTOCLEAR };
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	char path[4096];
	int number, loop;

	snprintf(path, sizeof(path), "%s/disk", directory);
	config.fd = (uint32_t)open(path, O_RDONLY | O_CLOEXEC);
	for (int tries = 0; tries < 10; tries++) {
		number = ioctl(control, LOOP_CTL_GET_FREE);
		snprintf(name, size, "/dev/loop%d", number);
		loop = number < 0 ? -1 : open(name, O_RDONLY | O_CLOEXEC);
		if (loop >= 0 && ioctl(loop, LOOP_CONFIGURE, &config) == 0)
			return loop;
		if (loop < 0 || errno != EBUSY)
			return -1;
		close(loop);
	}
	return -1;
}

int main(int argc, char **argv)
{
	char loop[32];
	struct stat st;

	if (argc < 5)
		return 2;
	image = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (image < 0 || fstat(image, &st) < 0)
		return 1;
	image_bytes = (uint64_t)st.st_size;
	delay_us = (useconds_t)(strtod(argv[3], NULL) * 1000);
	if (fuse_mount("slow_disk", argv[2], 0) < 0)
		return CANNOT;
	if (fork() == 0)
		serve();
	if (attach(argv[2], loop, sizeof(loop)) < 0 ||
	    mount(loop, argv[2], "ext4", MS_RDONLY, "norecovery") < 0)
		return CANNOT;
	execv(argv[4], argv + 4);
	return 1;
}
