// SPDX-License-Identifier: Apache-2.0
#include "capture/probes/uprobe_returns.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macros.h"

/* arch/x86/entry/syscalls/syscall_64.tbl */
#define NR_URETPROBE 335

enum answer { PASSES = 0, IS_FILTERED = 1, IS_OTHER = 2 };

bool uprobe_returns_call(const char *release)
{
	unsigned int major = 0, minor = 0;

	if (sscanf(release, "%u.%u", &major, &minor) != 2)
		return true;
	return major > 6 || (major == 6 && minor >= 11);
}

static void say_passes(int signal)
{
	(void)signal;
	_exit(PASSES);
}

/* In the child. Whoever makes the call and does not come from the kernel's own code gets a SIGILL, when the call is reached. */
static int try_filtered(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NR_URETPROBE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { ARRAY_SIZE(filter), filter };

	if (signal(SIGILL, say_passes) == SIG_ERR || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return IS_OTHER;
	return syscall(NR_URETPROBE) < 0 && errno == EPERM ? IS_FILTERED : IS_OTHER;
}

static int ask_child(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(try_filtered());
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return IS_OTHER;
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : IS_OTHER;
}

int uprobe_returns_check(struct err *err)
{
	struct utsname name;

	if (uname(&name) == 0 && !uprobe_returns_call(name.release))
		return 0;
	if (ask_child() == PASSES)
		return 0;
	err_set(err, -EOPNOTSUPP,
		"what is freed cannot be followed: this kernel's probes of returns would end processes "
		"that filter their system calls");
	return err_hint(err, "Linux 6.14, 6.13.3 and 6.12.14 have it mended; leave out --live");
}
