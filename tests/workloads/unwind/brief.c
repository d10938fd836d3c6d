/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: brief burn | forks COUNT | execs COUNT | twice COUNT
 * Processes that live 50 ms: main -> brief_one -> brief_two burns them. "forks" makes COUNT children
 * that go on without an exec (main -> make_child -> brief_one …), "execs" such that exec "burn",
 * "twice" such that exec it by way of another exec; two at a time. Each prints "pid PID".
 */
#include "known.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BURN_NS 50000000ULL

static char *path;

KNOWN static void brief_two(void)
{
	known_spin(500000);
	known_sink++;
}

KNOWN static void brief_one(void)
{
	uint64_t until = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + BURN_NS;

	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < until)
		brief_two();
	known_sink++;
}

KNOWN static void go_on_as(const char *how)
{
	if (!strcmp(how, "forks")) {
		brief_one();
		_exit(0);
	}
	execl(path, path, strcmp(how, "twice") ? "burn" : "again", NULL);
	_exit(1);
}

KNOWN static void make_child(const char *how)
{
	pid_t pid = fork();

	if (pid == 0)
		go_on_as(how);
	if (pid > 0)
		printf("pid %d\n", (int)pid);
}

static void make_children(const char *how, int count)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 0; i < count; i++) {
		make_child(how);
		if (i > 0)
			wait(NULL);
	}
	wait(NULL);
}

int main(int argc, char **argv)
{
	path = realpath("/proc/self/exe", NULL);
	if (argc == 2 && !strcmp(argv[1], "burn"))
		brief_one();
	else if (argc == 2)
		execl(path, path, "burn", NULL);
	else if (argc == 3)
		make_children(argv[1], atoi(argv[2]));
	return 0;
}
