// SPDX-License-Identifier: Apache-2.0
/*
 * Threads whose life is longer than a recording: "futex", "poll" and "sleep" are off the cpus all the time, "equal0" to
 * "equal2" compute for a while and sleep, "busy" computes, "short" sleeps shortly, "bursts" does so many times, and then for long. Each waits in outer_KIND(), called by
 * run(), and has KIND for its name. "ready"; it goes on until its input ends.
 */
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone, no_icf))
#define US	 1000L
#define MS	 1000000L

static void pause_ns(long ns)
{
	const struct timespec t = { ns / 1000000000L, ns % 1000000000L };

	nanosleep(&t, NULL);
}

static void compute_ns(long ns)
{
	struct timespec t;
	long until;

	clock_gettime(CLOCK_MONOTONIC, &t);
	until = t.tv_sec * 1000000000L + t.tv_nsec + ns;
	do
		clock_gettime(CLOCK_MONOTONIC, &t);
	while (t.tv_sec * 1000000000L + t.tv_nsec < until);
}

NOINLINE void outer_futex(void)
{
	static volatile int word;

	for (;;) {
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
		__asm__ volatile("" ::: "memory");
	}
}

NOINLINE void outer_poll(void)
{
	for (;;) {
		poll(NULL, 0, -1);
		__asm__ volatile("" ::: "memory");
	}
}

NOINLINE void outer_sleep(void)
{
	for (;;) {
		pause_ns(3600000L * MS);
		__asm__ volatile("" ::: "memory");
	}
}

NOINLINE void outer_equal(void)
{
	for (;;) {
		compute_ns(3 * MS);
		pause_ns(5 * MS);
	}
}

NOINLINE void outer_bursts(void)
{
	for (;;) {
		for (int i = 0; i < 300; i++)
			pause_ns(300 * US);
		pause_ns(1500 * MS);
	}
}

NOINLINE void outer_busy(void)
{
	for (;;)
		compute_ns(MS);
}

NOINLINE void outer_short(void)
{
	for (;;) {
		compute_ns(50 * US);
		pause_ns(200 * US);
	}
}

static struct kind {
	const char *name;
	void (*outer)(void);
} kinds[] = {
	{ "futex", outer_futex },   { "poll", outer_poll },    { "sleep", outer_sleep },
	{ "equal0", outer_equal },  { "equal1", outer_equal }, { "equal2", outer_equal },
	{ "bursts", outer_bursts }, { "busy", outer_busy },    { "short", outer_short },
};

static void *run(void *data)
{
	const struct kind *kind = data;

	prctl(PR_SET_NAME, kind->name);
	kind->outer();
	return NULL;
}

int main(void)
{
	pthread_t id;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		pthread_create(&id, NULL, run, &kinds[i]);
	pause_ns(200 * MS);
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
