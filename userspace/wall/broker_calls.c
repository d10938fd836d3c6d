// SPDX-License-Identifier: Apache-2.0
#include "wall/broker_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

#include "base/macros.h"

static const int calls[] = {
	/* what it is there for */
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(openat2), /* by a struct, which no filter sees: foreign_file.c asks for O_PATH */
	SCMP_SYS(read),
	SCMP_SYS(pread64),
	SCMP_SYS(readlink),
	SCMP_SYS(readlinkat),
	SCMP_SYS(getdents64),
	SCMP_SYS(lseek),
	SCMP_SYS(fstat),
	SCMP_SYS(newfstatat),
	SCMP_SYS(statx),
	SCMP_SYS(fstatfs),
	SCMP_SYS(memfd_create),
	SCMP_SYS(sendfile),
	SCMP_SYS(fcntl),
	SCMP_SYS(ioctl), /* of /proc/PID/maps */
	SCMP_SYS(close),
	/* its caller */
	SCMP_SYS(sendmsg),
	SCMP_SYS(recvmsg),
	SCMP_SYS(futex),
	SCMP_SYS(clock_gettime),
	/* its own memory, and its end */
	SCMP_SYS(brk),
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
	SCMP_SYS(getrandom),
	SCMP_SYS(getpid),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
};

#define MAKES_FILES (O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY))

static bool allow_calls(scmp_filter_ctx filter)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0) < 0)
			return false;
	/* No file is made, or cut; no memory can be run. */
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
				SCMP_A2(SCMP_CMP_MASKED_EQ, MAKES_FILES, 0)) == 0 &&
	       seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
				SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) == 0 &&
	       seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
				SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) == 0;
}

void broker_calls_limit(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));

	if (filter && allow_calls(filter))
		(void)seccomp_load(filter);
	seccomp_release(filter);
}
