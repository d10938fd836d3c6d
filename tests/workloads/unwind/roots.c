/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints which addresses of the C library lie above main() and above a thread's function, and where
 * a signal handler returns to, each as "NAME FILE OFFSET": by glibc's backtrace(), which is libgcc's
 * unwinder and so no code of ours, and by the kernel's own copy of the signal action.
 */
#include "known.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What the kernel keeps of an action: include/linux/signal_types.h, struct sigaction of x86. */
struct kernel_action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static void print_address(const char *name, void *address)
{
	Dl_info info;

	if (dladdr(address, &info) && info.dli_fname)
		printf("%s %s %#lx\n", name, info.dli_fname,
		       (unsigned long)((char *)address - (char *)info.dli_fbase));
}

/* The callers of the function FROM frames up. */
KNOWN static void print_callers(int from, const char *const *names)
{
	void *frames[16];
	int n = backtrace(frames, 16);

	for (int i = from; i < n && *names; i++, names++)
		print_address(*names, frames[i]);
}

static void *thread_main(void *unused)
{
	static const char *const names[] = { "start_thread", "clone3", NULL };

	print_callers(2, names);
	return unused;
}

static void handle(int number)
{
	(void)number;
}

int main(void)
{
	static const char *const names[] = { "__libc_start_call_main", "__libc_start_main",
					     "_start", NULL };
	struct kernel_action action;
	pthread_t thread;

	print_callers(2, names);
	pthread_create(&thread, NULL, thread_main, NULL);
	pthread_join(thread, NULL);
	signal(SIGUSR1, handle);
	syscall(SYS_rt_sigaction, SIGUSR1, NULL, &action, sizeof(action.mask));
	print_address("__restore_rt", (void *)action.restorer);
	return 0;
}
