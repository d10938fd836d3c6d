/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: handover SECONDS processes|threads COUNT BURST_US PAUSE_US
 *        handover SECONDS timers COUNT BURST_US PERIOD_NS
 * Threads that are on a cpu for short times only. COUNT processes or threads sit in a ring of pipes: who
 * has the token burns BURST_US of its own CPU time and hands it on, and after each round all wait for
 * PAUSE_US. Or COUNT threads are woken by timers of PERIOD_NS, each at another phase of it, and burn
 * BURST_US each time. Prints, at the end, one line for each: its pid, its tid, and its CPU clock as the
 * scheduler keeps it (schedstat), in nanoseconds.
 */
#include "busy.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_COUNT 64

static int ring[MAX_COUNT][2];
static int count;
static double seconds;
static uint64_t burst_ns, pause_ns, until_ns;
static volatile uint64_t sink;

__attribute__((noipa)) static void burn(uint64_t ns)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	do {
		for (int i = 0; i < 500; i++)
			sink += (uint64_t)i * sink;
	} while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end);
}

static void pause_for(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / 1000000000ULL), (long)(ns % 1000000000ULL) };

	nanosleep(&ts, NULL);
}

/* The scheduler's own figure, to the nanosecond, as /proc/PID/task/TID/schedstat has it. */
static void print_clock(void)
{
	int tid = (int)syscall(SYS_gettid);
	char path[64], text[128] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", tid);
	file = fopen(path, "re");
	if (!file || !fgets(text, sizeof(text), file))
		exit(1);
	fclose(file);
	printf("thread %d %d %llu\n", getpid(), tid, strtoull(text, NULL, 10));
	fflush(stdout);
}

static void *take_turns(void *arg)
{
	int me = (int)(intptr_t)arg;
	char token;
	char name[16];

	snprintf(name, sizeof(name), "hand-%d", me);
	prctl(PR_SET_NAME, name);
	while (read(ring[me][0], &token, 1) == 1) {
		if (token == 'q')
			break;
		burn(burst_ns);
		if (me == 0 && pause_ns)
			pause_for(pause_ns);
		if (me == 0 && clock_ns(CLOCK_MONOTONIC) >= until_ns)
			break;
		if (write(ring[(me + 1) % count][1], &token, 1) != 1)
			exit(1);
	}
	if (me + 1 < count) {
		token = 'q';
		if (write(ring[me + 1][1], &token, 1) != 1)
			exit(1);
	}
	print_clock();
	return NULL;
}

/* Woken at its own phase of the period, to the microsecond: without the slack that the kernel gives a sleep. */
static void *be_woken(void *arg)
{
	uint64_t period_ns = pause_ns, next_ns;

	prctl(PR_SET_TIMERSLACK, 1);
	next_ns = until_ns / period_ns * period_ns +
		  (uint64_t)(intptr_t)arg * period_ns / (uint64_t)count;
	next_ns -= (uint64_t)(seconds * 1e9) / period_ns * period_ns;
	while (next_ns < until_ns) {
		struct timespec ts = { (time_t)(next_ns / 1000000000ULL),
				       (long)(next_ns % 1000000000ULL) };

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		burn(burst_ns);
		next_ns += period_ns;
	}
	print_clock();
	return NULL;
}

static void run_threads(void *(*body)(void *))
{
	pthread_t ids[MAX_COUNT];

	for (int i = 1; i < count; i++)
		if (pthread_create(&ids[i], NULL, body, (void *)(intptr_t)i))
			exit(1);
	body(NULL);
	for (int i = 1; i < count; i++)
		pthread_join(ids[i], NULL);
}

static void run_processes(void)
{
	for (int i = 1; i < count; i++)
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			take_turns((void *)(intptr_t)i);
			_exit(0);
		}
	take_turns(NULL);
	while (wait(NULL) > 0)
		;
}

static int make_ring(void)
{
	for (int i = 0; i < count; i++)
		if (pipe(ring[i]))
			return -1;
	return write(ring[0][1], "t", 1) == 1 ? 0 : -1;
}

int main(int argc, char **argv)
{
	int timers;

	if (argc < 6)
		return 2;
	timers = strcmp(argv[2], "timers") == 0;
	seconds = atof(argv[1]);
	count = atoi(argv[3]);
	burst_ns = (uint64_t)(atof(argv[4]) * 1e3);
	pause_ns = (uint64_t)(atof(argv[5]) * (timers ? 1 : 1e3));
	if (count < 1 || count > MAX_COUNT || (timers && !pause_ns))
		return 2;
	until_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
	if (make_ring())
		return 1;
	if (timers)
		run_threads(be_woken);
	else if (strcmp(argv[2], "threads") == 0)
		run_threads(take_turns);
	else
		run_processes();
	return 0;
}
