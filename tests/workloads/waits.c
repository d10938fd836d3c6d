// SPDX-License-Identifier: Apache-2.0
/*
 * Threads that wait for what is known: waits MS. Each kind of wait has a thread, which does it again and again in
 * wait_KIND(), called by outer_KIND(), and measures how long it lives, and how long of that it runs; most have a partner that
 * lets it go on every PAUSE_MS. "ready"; it begins when it reads a line, and ends after MS. Then a line for each thread:
 * KIND TID WAITS NANOSECONDS LIFE, how long it did not run, and how long it has lived. "flock", "fault" and "file" sleep after each of their waits; "mixed" computes as long
 * as it sleeps; "queued" computes, and its partner, too, on the same cpu; "forever" has waited from its nanoseconds (CLOCK_MONOTONIC) on, and does not end. "done"; it exits when it reads another line.
 */
#include "busy.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Each has its own name in a stack, also where two do the same. */
#define NOINLINE __attribute__((noinline, noclone, no_icf))
#define PAUSE_MS 12
#define MS	 1000000L
/* Of the file whose pages are faulted in. */
#define PAGE  4096L
#define PAGES 64

struct job {
	const char *name;
	void (*wait)(struct job *job);
	void (*release)(struct job *job);
	int read_fd, write_fd;
	volatile int word;
	pid_t tid;
	unsigned long waits, ns, life_ns;
	int round;
};

static volatile int ends;
static int cpus[2] = { -1, -1 };

static unsigned long now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* How long this thread has not run; beyond a constant. */
static unsigned long idle_ns(void)
{
	return now_ns() - clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void pause_ns(long ns)
{
	const struct timespec t = { 0, ns };

	nanosleep(&t, NULL);
}

/* --- who lets it go on --- */

static void write_byte(struct job *job)
{
	if (write(job->write_fd, "12345678", 8) < 0)
		abort();
}

static void wake(struct job *job)
{
	__atomic_store_n(&job->word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &job->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* TID: 0 is this thread. */
static void pin(pid_t tid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (cpu >= 0)
		sched_setaffinity(tid, sizeof(set), &set);
}

/* While it waits it is sent to the other cpu. */
static void move_and_wake(struct job *job)
{
	if (job->tid)
		pin(job->tid, cpus[job->round++ & 1]);
	wake(job);
}

static void compute_ns(unsigned long ns)
{
	unsigned long until = now_ns() + ns;

	while (now_ns() < until)
		;
}

static void take_cpu(struct job *job)
{
	(void)job;
	pin(0, cpus[0]);
	compute_ns(PAUSE_MS * MS);
}

/* --- the waits --- */

#define WAIT(kind)                                  \
	static void wait_##kind(struct job *job);   \
	NOINLINE void outer_##kind(struct job *job) \
	{                                           \
		wait_##kind(job);                   \
		__asm__ volatile("" ::: "memory");  \
	}                                           \
	NOINLINE static void wait_##kind(struct job *job)

WAIT(sleep)
{
	(void)job;
	pause_ns(PAUSE_MS * MS);
}

NOINLINE static void wait_word(struct job *job)
{
	while (!__atomic_load_n(&job->word, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &job->word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	__atomic_store_n(&job->word, 0, __ATOMIC_SEQ_CST);
}

WAIT(futex)
{
	wait_word(job);
	__asm__ volatile("" ::: "memory");
}

WAIT(migrate)
{
	wait_word(job);
	__asm__ volatile("" ::: "memory");
}

WAIT(pipe)
{
	char bytes[8];

	if (read(job->read_fd, bytes, sizeof(bytes)) < 0)
		abort();
}

WAIT(socket)
{
	char bytes[8];

	if (recv(job->read_fd, bytes, sizeof(bytes), 0) < 0)
		abort();
}

/* read() of a socket is no wait for a file. */
WAIT(sockread)
{
	char bytes[8];

	if (read(job->read_fd, bytes, sizeof(bytes)) < 0)
		abort();
}

WAIT(event)
{
	uint64_t value;

	if (read(job->read_fd, &value, sizeof(value)) < 0)
		abort();
}

WAIT(poll)
{
	struct pollfd fd = { .fd = job->read_fd, .events = POLLIN };
	char bytes[8];

	if (poll(&fd, 1, -1) < 0 || read(job->read_fd, bytes, sizeof(bytes)) < 0)
		abort();
}

/* Its partner, which has another open file, holds the lock but for a moment, in which this one gets it once. */
NOINLINE static void wait_flock(struct job *job)
{
	if (flock(job->read_fd, LOCK_EX) < 0)
		abort();
	__asm__ volatile("" ::: "memory");
}

NOINLINE void outer_flock(struct job *job)
{
	wait_flock(job);
	flock(job->read_fd, LOCK_UN);
	pause_ns(2 * MS);
}

static void hold_lock(struct job *job)
{
	flock(job->write_fd, LOCK_UN);
	pause_ns(MS);
	flock(job->write_fd, LOCK_EX);
}

NOINLINE static void touch_page(volatile char *page)
{
	(void)page[0];
	__asm__ volatile("" ::: "memory");
}

/* Each time a page that is only on the disk. */
NOINLINE static void wait_fault(struct job *job)
{
	volatile char *page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, job->read_fd,
				   PAGE * (job->round++ % PAGES));

	if (page == MAP_FAILED)
		abort();
	touch_page(page);
	munmap((void *)page, PAGE);
}

NOINLINE void outer_fault(struct job *job)
{
	wait_fault(job);
	posix_fadvise(job->read_fd, 0, 0, POSIX_FADV_DONTNEED);
	pause_ns(5 * MS);
}

NOINLINE static void wait_file(struct job *job)
{
	if (pwrite(job->read_fd, "12345678", 8, 0) < 0 || fsync(job->read_fd) < 0)
		abort();
}

NOINLINE void outer_file(struct job *job)
{
	wait_file(job);
	pause_ns(5 * MS);
}

NOINLINE void outer_mixed(struct job *job)
{
	(void)job;
	compute_ns(5 * MS);
	pause_ns(5 * MS);
}

NOINLINE void outer_queued(struct job *job)
{
	(void)job;
	compute_ns(PAUSE_MS * MS);
}

NOINLINE void outer_forever(struct job *job)
{
	wait_word(job);
}

/* --- threads --- */

static void *partner_run(void *data)
{
	struct job *job = data;

	while (!ends) {
		pause_ns(PAUSE_MS * MS);
		job->release(job);
	}
	/* The last one waits for it. */
	for (int i = 0; i < 3; i++) {
		job->release(job);
		pause_ns(MS);
	}
	return NULL;
}

static void *job_run(void *data)
{
	struct job *job = data;
	unsigned long begin, idle;

	job->tid = (pid_t)syscall(SYS_gettid);
	if (job->wait == outer_queued)
		pin(0, cpus[0]);
	begin = now_ns();
	idle = idle_ns();
	do {
		job->wait(job);
		job->waits++;
	} while (!ends);
	job->ns = idle_ns() - idle;
	job->life_ns = now_ns() - begin;
	return NULL;
}

static struct job jobs[] = {
	{ "sleep", outer_sleep, NULL, -1, -1, 0, 0, 0, 0, 0, 0 },
	{ "futex", outer_futex, wake, -1, -1, 0, 0, 0, 0, 0, 0 },
	{ "migrate", outer_migrate, move_and_wake, -1, -1, 0, 0, 0, 0, 0, 0 },
	{ "pipe", outer_pipe, write_byte, -1, -1, 0, 0, 0, 0, 0, 0 },
	{ "socket", outer_socket, write_byte, -1, -1, 0, 0, 0, 0, 0, 0 },
	{ "sockread", outer_sockread, write_byte, -1, -1, 0, 0, 0, 0, 0, 0 },
	{ "event", outer_event, write_byte, -1, -1, 0, 0, 0, 0, 0, 0 },
	{ "poll", outer_poll, write_byte, -1, -1, 0, 0, 0, 0, 0, 0 },
	{ "flock", outer_flock, hold_lock, -1, -1, 0, 0, 0, 0, 0, 0 },
	{ "fault", outer_fault, NULL, -1, -1, 0, 0, 0, 0, 0, 0 },
	{ "file", outer_file, NULL, -1, -1, 0, 0, 0, 0, 0, 0 },
	{ "queued", outer_queued, take_cpu, -1, -1, 0, 0, 0, 0, 0, 0 },
	{ "mixed", outer_mixed, NULL, -1, -1, 0, 0, 0, 0, 0, 0 },
};

#define JOBS (sizeof(jobs) / sizeof(jobs[0]))

/* On a disk, where the host has one. */
static int open_on_disk(void)
{
	char path[] = "/var/tmp/waits-XXXXXX", page[PAGE] = { 1 };
	int fd = mkstemp(path);

	unlink(path);
	for (int i = 0; i < PAGES; i++)
		if (write(fd, page, PAGE) != PAGE)
			abort();
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	return fd;
}

static void open_files(struct job *job)
{
	char path[] = "/tmp/waits-XXXXXX";
	int fds[2] = { -1, -1 };

	if (!strncmp(job->name, "sock", 4))
		socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
	else if (!strcmp(job->name, "pipe") || !strcmp(job->name, "poll"))
		(void)!pipe(fds);
	else if (!strcmp(job->name, "event"))
		fds[0] = fds[1] = eventfd(0, 0);
	else if (!strcmp(job->name, "fault") || !strcmp(job->name, "file"))
		fds[0] = open_on_disk();
	else if (!strcmp(job->name, "flock")) {
		fds[0] = mkstemp(path);
		fds[1] = open(path, O_RDWR);
		unlink(path);
		flock(fds[1], LOCK_EX);
	}
	job->read_fd = fds[0];
	job->write_fd = fds[1];
}

static void choose_cpus(void)
{
	cpu_set_t set;
	int count = 0;

	sched_getaffinity(0, sizeof(set), &set);
	for (int cpu = 0; cpu < CPU_SETSIZE && count < 2; cpu++)
		if (CPU_ISSET(cpu, &set))
			cpus[count++] = cpu;
}

int main(int argc, char **argv)
{
	long ms = argc > 1 ? atol(argv[1]) : 1000;
	static struct job forever = { "forever", outer_forever, NULL, -1, -1, 0, 0, 0, 0, 0, 0 };
	pthread_t ids[JOBS], partners[JOBS], id;

	choose_cpus();
	for (size_t i = 0; i < JOBS; i++)
		open_files(&jobs[i]);
	puts("ready");
	fflush(stdout);
	getchar();
	forever.ns = now_ns();
	pthread_create(&id, NULL, job_run, &forever);
	for (size_t i = 0; i < JOBS; i++) {
		pthread_create(&ids[i], NULL, job_run, &jobs[i]);
		if (jobs[i].release)
			pthread_create(&partners[i], NULL, partner_run, &jobs[i]);
	}
	usleep((unsigned int)ms * 1000);
	ends = 1;
	for (size_t i = 0; i < JOBS; i++) {
		pthread_join(ids[i], NULL);
		printf("%s %d %lu %lu %lu\n", jobs[i].name, jobs[i].tid, jobs[i].waits, jobs[i].ns,
		       jobs[i].life_ns);
	}
	printf("%s %d %lu %lu 0\n", forever.name, forever.tid, forever.waits, forever.ns);
	puts("done");
	fflush(stdout);
	getchar();
	return 0;
}
