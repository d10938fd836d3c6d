/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system calls of an agent whose sources are compiled into the test: each can be made to fail, and
 * what was asked of the kernel is kept. Included by fake_agent.h, in front of those sources.
 */
#ifndef HOSTPROF_TESTS_FAKE_AGENT_OS_H
#define HOSTPROF_TESTS_FAKE_AGENT_OS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct fake_os {
	int maps_left;	 /* this many mmap() succeed; below 0: all */
	bool no_memfd;	 /* memfd_create() fails */
	bool old_memfd;	 /* it knows no flag that came later than 3.17 */
	bool no_size;	 /* ftruncate() fails */
	bool no_room;	 /* fallocate() fails */
	bool no_madvise; /* of MADV_DONTNEED */
	bool no_wipe;	 /* MADV_WIPEONFORK is not known */
	/* What was asked. */
	size_t not_forked;    /* bytes that children do not get */
	uint64_t longest_ns;  /* wait at a futex */
	uint64_t shortest_ns; /* the same */
	unsigned int futex_waits;
	unsigned int sleeps; /* of the agent's thread */
};

static struct fake_os fake_os;

static void fake_os_reset(void)
{
	fake_os = (struct fake_os){ .maps_left = -1, .shortest_ns = UINT64_MAX };
}

static void *fake_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
	if (!fake_os.maps_left) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	fake_os.maps_left--;
	return mmap(at, len, prot, flags, fd, offset);
}

static int fake_madvise(void *at, size_t len, int advice)
{
	if (advice == MADV_DONTFORK)
		fake_os.not_forked = len;
	if ((advice == MADV_DONTNEED && fake_os.no_madvise) ||
	    (advice == MADV_WIPEONFORK && fake_os.no_wipe)) {
		errno = EINVAL;
		return -1;
	}
	return madvise(at, len, advice);
}

static int fake_ftruncate(int fd, off_t len)
{
	return fake_os.no_size ? -1 : ftruncate(fd, len);
}

static int fake_fallocate(int fd, int mode, off_t offset, off_t len)
{
	return fake_os.no_room ? -1 : fallocate(fd, mode, offset, len);
}

static void fake_note_wait(const struct timespec *timeout)
{
	uint64_t ns = (uint64_t)timeout->tv_sec * 1000000000 + (uint64_t)timeout->tv_nsec;

	__atomic_fetch_add(&fake_os.futex_waits, 1, __ATOMIC_SEQ_CST);
	if (ns > fake_os.longest_ns)
		fake_os.longest_ns = ns;
	if (ns < fake_os.shortest_ns)
		fake_os.shortest_ns = ns;
}

static int fake_control_sleep(const struct timespec *time, struct timespec *rest)
{
	__atomic_fetch_add(&fake_os.sleeps, 1, __ATOMIC_SEQ_CST);
	return nanosleep(time, rest);
}

static long fake_syscall(long number, ...)
{
	uintptr_t arguments[6];
	va_list ap;

	va_start(ap, number);
	for (unsigned int i = 0; i < 6; i++)
		arguments[i] = va_arg(ap, uintptr_t);
	va_end(ap);
	if (number == SYS_memfd_create &&
	    (fake_os.no_memfd || (fake_os.old_memfd && (arguments[1] & 0xffffffff) > 3))) {
		errno = EINVAL;
		return -1;
	}
	if (number == SYS_futex && (arguments[1] & 0x7f) == FUTEX_WAIT)
		fake_note_wait((const void *)arguments[3]);
	return syscall(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
		       arguments[5]);
}

#define mmap	  fake_mmap
#define madvise	  fake_madvise
#define ftruncate fake_ftruncate
#define fallocate fake_fallocate
#define syscall	  fake_syscall

#endif
