// SPDX-License-Identifier: Apache-2.0
#include "elf/reader/reader_rights.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <malloc.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/budget/resident.h"
#include "base/macros.h"
#include "base/rights.h"

/* Those that it is given, and its socket; unwind_files has some hundred open. */
#define MAX_FILES 1024
/* An end for one that nobody ends. Each call has a limit of its own; who reaches this is replaced. */
#define MAX_CPU_SECONDS 3600

/* Under a sanitizer a process makes other calls, and has 20 TB of addresses. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* --- who it is -------------------------------------------------------------------------------- */

/* A path leads nowhere from there: there are only numbers, and no rights to follow them. */
static void leave_root(void)
{
	if (chroot("/proc/self/fdinfo") == 0 && chdir("/") < 0)
		_exit(1);
}

/* What programs that are run may get is nothing in the nursery already. */
static void become_nobody(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	const struct __user_cap_data_struct none[2] = { 0 };
	pid_t parent = getppid();

	leave_root();
	/* Without the right to be another user it stays who it is, and has no right of his but to its own files. */
	rights_leave_user();
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capset, &header, none) < 0)
		_exit(1);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	/* A change of user has taken it back. */
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		_exit(1);
}

/* --- how much --------------------------------------------------------------------------------- */

static void limit_all(uint64_t memory_bytes)
{
	uint64_t own = resident_read(0).address_bytes;

	if (!SANITIZED && own && memory_bytes)
		rights_limit(RLIMIT_AS, own + memory_bytes);
	rights_limit(RLIMIT_CORE, 0);
	rights_limit(RLIMIT_NOFILE, MAX_FILES);
	rights_limit(RLIMIT_FSIZE, 0);
	rights_limit(RLIMIT_CPU, MAX_CPU_SECONDS);
}

/* --- system calls ----------------------------------------------------------------------------- */

/* With any arguments. qsort() of the C library asks sysinfo() how much memory there is. */
static const int allowed[] = {
	SCMP_SYS(pread64),	 SCMP_SYS(read),	SCMP_SYS(lseek),
	SCMP_SYS(fstat),	 SCMP_SYS(newfstatat),	SCMP_SYS(dup),
	SCMP_SYS(close),	 SCMP_SYS(munmap),	SCMP_SYS(mremap),
	SCMP_SYS(brk),		 SCMP_SYS(madvise),	SCMP_SYS(futex),
	SCMP_SYS(recvmsg),	 SCMP_SYS(getrandom),	SCMP_SYS(sysinfo),
	SCMP_SYS(clock_gettime), SCMP_SYS(sched_yield), SCMP_SYS(rt_sigreturn),
	SCMP_SYS(exit),		 SCMP_SYS(exit_group),	SCMP_SYS(restart_syscall),
};

/* Memory that is no code, as their third argument says. */
static const int allowed_without_code[] = { SCMP_SYS(mmap), SCMP_SYS(mprotect) };

static int add_rules(scmp_filter_ctx filter)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(allowed); i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(allowed_without_code); i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed_without_code[i], 1,
				     SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	/* libelf asks whether a descriptor is one. */
	if (r == 0)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
				     SCMP_A1(SCMP_CMP_EQ, F_GETFD, 0));
	return r;
}

static void give_up_calls(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);

	if (!filter || add_rules(filter) < 0 || seccomp_load(filter) < 0)
		_exit(1);
	seccomp_release(filter);
}

void reader_rights_give_up(uint64_t memory_bytes)
{
	/* What a large file took goes back at once. */
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
	mallopt(M_TRIM_THRESHOLD, 512 * 1024);
	limit_all(memory_bytes);
	become_nobody();
	if (!SANITIZED)
		give_up_calls();
}
