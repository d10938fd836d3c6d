// SPDX-License-Identifier: Apache-2.0
/*
 * Busy in what programs do beside their own code: signal handlers on top of the C library, qsort's
 * callbacks, the vDSO, system calls, calls through the PLT, children.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;
static unsigned int values[20000];

static void on_signal(int signo)
{
	char text[256];

	for (int i = 0; i < 200; i++)
		sink += (unsigned long)snprintf(text, sizeof(text), "%d %f", signo, sqrt(i));
}

static int compare(const void *a, const void *b)
{
	const unsigned int *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void sort_values(void)
{
	for (size_t i = 0; i < 20000; i++)
		values[i] = (unsigned int)(i * 2654435761U);
	qsort(values, 20000, sizeof(values[0]), compare);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void ask_time(void)
{
	for (int i = 0; i < 20000; i++)
		sink += (unsigned long)now();
}

static void have_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		sort_values();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* The C library keeps vfork's return address in a register, as the stack is the child's too. */
static void have_vforked_child(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
}

/* Room of a size that is not known, and more aligned than the stack: found by an expression. */
__attribute__((noinline)) static void realigned(size_t n)
{
	double wide[8] __attribute__((aligned(64)));
	double *room = __builtin_alloca(n * sizeof(*room));

	for (size_t i = 0; i < n; i++)
		room[i] = wide[i & 7] = sqrt((double)i);
	sink += (unsigned long)snprintf((char *)room, n, "%p %f %f", (void *)wide, wide[0],
					wide[7]);
}

static unsigned long recurse(unsigned int depth)
{
	volatile unsigned char room[64];

	for (unsigned int i = 0; i < 64; i++)
		room[i] = (unsigned char)(depth + i);
	return depth ? recurse(depth - 1) + room[depth & 63] : (unsigned long)getppid() & 1;
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 2);

	signal(SIGUSR1, on_signal);
	while (now() < end) {
		sort_values();
		ask_time();
		raise(SIGUSR1);
		have_child();
		for (int i = 0; i < 50; i++)
			have_vforked_child();
		for (int i = 0; i < 2000; i++)
			realigned(100);
		for (int i = 0; i < 200; i++)
			sink += recurse(100);
	}
	printf("%lu\n", sink);
	return 0;
}
