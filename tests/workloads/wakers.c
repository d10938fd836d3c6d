// SPDX-License-Identifier: Apache-2.0
/*
 * Threads that know who wakes them: wakers MS. Of each kind one waits, and another one gives: round N is waited for in wait_KIND(), called
 * by even_wait_KIND() or odd_wait_KIND(), as N is even or odd, and given in give_KIND() by even_give_KIND() or odd_give_KIND().
 * So each wait has one waker, and one stack of it. "shared" is given by another process. "sleep" waits for time, and nobody gives. "ready"; it begins when it reads a
 * line, and ends after MS. Then a line for each kind: KIND TID PID GIVER, tids of both, PID is the giver's process, 0 where there is none. "done"; it exits when it reads
 * another line.
 */
#include <errno.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone, no_icf))
#define PAUSE_NS 4000000L
/* A frame that calls another one is there when that returns. */
#define KEEP_FRAME __asm__ volatile("" ::: "memory")

struct job {
	const char *name;
	void (*wait[2])(struct job *job); /* of even and odd rounds */
	void (*give[2])(struct job *job); /* NULL: nobody does */
	int read_fd, write_fd;
	int word; /* the last round that was given */
	int round, given;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pid_t tid, giver_pid, giver_tid;
	int ends;
};

static void pause_ns(long ns)
{
	const struct timespec t = { 0, ns };

	nanosleep(&t, NULL);
}

#define PARTS(does, kind)                                   \
	static void does##_##kind(struct job *job);         \
	NOINLINE void even_##does##_##kind(struct job *job) \
	{                                                   \
		does##_##kind(job);                         \
		KEEP_FRAME;                                 \
	}                                                   \
	NOINLINE void odd_##does##_##kind(struct job *job)  \
	{                                                   \
		does##_##kind(job);                         \
		KEEP_FRAME;                                 \
	}                                                   \
	NOINLINE static void does##_##kind(struct job *job)

/* --- by a word in memory --- */

static void wait_word(struct job *job, int flag)
{
	int seen;

	while ((seen = __atomic_load_n(&job->word, __ATOMIC_SEQ_CST)) < job->round)
		syscall(SYS_futex, &job->word, FUTEX_WAIT | flag, seen, NULL, NULL, 0);
}

static void give_word(struct job *job, int flag)
{
	__atomic_store_n(&job->word, job->given, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &job->word, FUTEX_WAKE | flag, 1, NULL, NULL, 0);
}

PARTS(wait, futex)
{
	wait_word(job, FUTEX_PRIVATE_FLAG);
	KEEP_FRAME;
}

PARTS(give, futex)
{
	give_word(job, FUTEX_PRIVATE_FLAG);
	KEEP_FRAME;
}

PARTS(wait, shared)
{
	wait_word(job, 0);
	KEEP_FRAME;
}

PARTS(give, shared)
{
	give_word(job, 0);
	KEEP_FRAME;
}

PARTS(wait, condition)
{
	pthread_mutex_lock(&job->lock);
	while (job->word < job->round)
		pthread_cond_wait(&job->changed, &job->lock);
	pthread_mutex_unlock(&job->lock);
}

PARTS(give, condition)
{
	pthread_mutex_lock(&job->lock);
	job->word = job->given;
	pthread_mutex_unlock(&job->lock);
	pthread_cond_signal(&job->changed);
	KEEP_FRAME;
}

/* --- by a file --- */

#define FILE_PARTS(kind, type, wait_call, give_call) \
	PARTS(wait, kind)                            \
	{                                            \
		type byte;                           \
                                                     \
		if (wait_call != sizeof(byte))       \
			abort();                     \
	}                                            \
	PARTS(give, kind)                            \
	{                                            \
		const type byte = 1;                 \
                                                     \
		if (give_call != sizeof(byte))       \
			abort();                     \
	}

FILE_PARTS(pipe, char, read(job->read_fd, &byte, sizeof(byte)),
	   write(job->write_fd, &byte, sizeof(byte)))
FILE_PARTS(event, long, read(job->read_fd, &byte, sizeof(byte)),
	   write(job->write_fd, &byte, sizeof(byte)))
FILE_PARTS(tcp, char, recv(job->read_fd, &byte, sizeof(byte), 0),
	   send(job->write_fd, &byte, sizeof(byte), 0))

PARTS(wait, sleep)
{
	(void)job;
	pause_ns(PAUSE_NS);
}

#define BOTH(does, kind)                                  \
	{                                                 \
		even_##does##_##kind, odd_##does##_##kind \
	}
#define JOB(kind)                                                                      \
	{                                                                              \
		.name = #kind, .wait = BOTH(wait, kind), .give = BOTH(give, kind),     \
		.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER \
	}

static struct job models[] = {
	JOB(futex),
	JOB(shared),
	JOB(condition),
	JOB(pipe),
	JOB(event),
	JOB(tcp),
	{ .name = "sleep", .wait = BOTH(wait, sleep) },
};

#define JOBS (sizeof(models) / sizeof(models[0]))

/* --- who does it --- */

static void set_name(const char *letter, const struct job *job)
{
	char name[16];

	snprintf(name, sizeof(name), "%s-%s", letter, job->name);
	prctl(PR_SET_NAME, name);
}

/* The last round is given when there are no more. */
NOINLINE void job_wait(struct job *job)
{
	for (job->round = 1; !__atomic_load_n(&job->ends, __ATOMIC_SEQ_CST); job->round++)
		job->wait[job->round & 1](job);
	KEEP_FRAME;
}

NOINLINE void job_give(struct job *job)
{
	for (job->given = 1;; job->given++) {
		int ends = __atomic_load_n(&job->ends, __ATOMIC_SEQ_CST);

		pause_ns(PAUSE_NS);
		job->give[job->given & 1](job);
		if (ends)
			break;
	}
	KEEP_FRAME;
}

static void *wait_main(void *data)
{
	struct job *job = data;

	set_name("w", job);
	job->tid = gettid();
	job_wait(job);
	return NULL;
}

static void *give_main(void *data)
{
	struct job *job = data;

	set_name("g", job);
	job->giver_pid = getpid();
	job->giver_tid = gettid();
	job_give(job);
	return NULL;
}

/* --- the program --- */

static void connect_tcp(struct job *job)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(address);

	if (bind(listener, (struct sockaddr *)&address, len) < 0 || listen(listener, 1) < 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &len) < 0)
		abort();
	job->write_fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(job->write_fd, (struct sockaddr *)&address, len) < 0)
		abort();
	job->read_fd = accept(listener, NULL, NULL);
	close(listener);
}

static void open_files(struct job *jobs)
{
	for (size_t i = 0; i < JOBS; i++) {
		struct job *job = &jobs[i];
		int fds[2];

		if (job->wait[0] == even_wait_pipe && pipe(fds) == 0) {
			job->read_fd = fds[0];
			job->write_fd = fds[1];
		}
		if (job->wait[0] == even_wait_event)
			job->read_fd = job->write_fd = eventfd(0, EFD_SEMAPHORE);
		if (job->wait[0] == even_wait_tcp)
			connect_tcp(job);
	}
}

static pid_t start_giver(struct job *job, pthread_t *thread)
{
	pid_t pid = 0;

	if (job->wait[0] != even_wait_shared) {
		if (pthread_create(thread, NULL, give_main, job))
			abort();
		return 0;
	}
	pid = fork();
	if (pid)
		return pid;
	give_main(job);
	exit(0);
}

int main(int argc, char **argv)
{
	const long ms = argc > 1 ? atol(argv[1]) : 1000;
	const struct timespec length = { ms / 1000, ms % 1000 * 1000000L };
	struct job *jobs = mmap(NULL, sizeof(models), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_t waiting[JOBS], giving[JOBS];
	pid_t child = 0;

	if (jobs == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < JOBS; i++)
		jobs[i] = models[i];
	open_files(jobs);
	puts("ready");
	fflush(stdout);
	getchar();
	for (size_t i = 0; i < JOBS; i++) {
		pid_t pid = jobs[i].give[0] ? start_giver(&jobs[i], &giving[i]) : 0;

		child = pid ? pid : child;
		if (pthread_create(&waiting[i], NULL, wait_main, &jobs[i]))
			abort();
	}
	nanosleep(&length, NULL);
	for (size_t i = 0; i < JOBS; i++)
		__atomic_store_n(&jobs[i].ends, 1, __ATOMIC_SEQ_CST);
	for (size_t i = 0; i < JOBS; i++) {
		pthread_join(waiting[i], NULL);
		if (jobs[i].give[0] && !(child && jobs[i].wait[0] == even_wait_shared))
			pthread_join(giving[i], NULL);
	}
	waitpid(child, NULL, 0);
	for (size_t i = 0; i < JOBS; i++)
		printf("%s %d %d %d\n", jobs[i].name, jobs[i].tid, jobs[i].giver_pid,
		       jobs[i].giver_tid);
	puts("done");
	fflush(stdout);
	getchar();
	return 0;
}
