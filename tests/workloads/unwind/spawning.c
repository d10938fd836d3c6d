/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: spawning SECONDS | child
 * main -> spawn_one makes children by posix_spawn and by vfork in turns; a child execs this program
 * and burns 15 ms in main -> child_one -> child_two.
 */
#include "known.h"

#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char self[] = "/proc/self/exe";
static char *path;
static char child_arg[] = "child";

KNOWN static void child_two(void)
{
	known_spin(1500000);
	known_sink++;
}

KNOWN static void child_one(void)
{
	uint64_t until = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + 15000000;

	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < until)
		child_two();
}

KNOWN static pid_t spawn_by_vfork(char **args)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execv(path, args);
		_exit(1);
	}
	return pid;
}

KNOWN static pid_t spawn_by_posix(char **args)
{
	pid_t pid = -1;

	posix_spawn(&pid, path, NULL, NULL, args, environ);
	return pid;
}

KNOWN static void spawn_one(int by_vfork)
{
	char *args[] = { path, child_arg, NULL };
	pid_t pid = by_vfork ? spawn_by_vfork(args) : spawn_by_posix(args);

	if (pid > 0)
		waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	uint64_t end_ns;

	if (argc > 1 && !strcmp(argv[1], child_arg)) {
		child_one();
		return 0;
	}
	path = realpath(self, NULL);
	end_ns = known_end_ns(argc, argv);
	puts("ready");
	while (known_goes_on(end_ns)) {
		spawn_one(0);
		spawn_one(1);
	}
	return known_done();
}
