/* SPDX-License-Identifier: Apache-2.0 */
#include "base/loop.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

#include "base/clock.h"
#include "base/vec.h"

enum source_kind { SOURCE_FD, SOURCE_TIMER, SOURCE_DEADLINE, SOURCE_SIGNALS };

struct source {
	enum source_kind kind;
	int fd;	       /* owned unless SOURCE_FD */
	uint32_t edge; /* EPOLLET, or 0 */
	bool past;     /* met, or forgotten; its memory goes at the end of the round */
	loop_fn fn;
	loop_signal_fn signal_fn;
	void *data;
};

struct loop {
	int epoll_fd;
	VEC(struct source *) sources;		 /* owned */
	void (*wait_fn)(bool waits, void *data); /* NULL: nobody is told */
	void *wait_data;
	bool quit;
	bool have_signals;
	sigset_t old_mask;
};

int loop_new(struct loop **ret_loop, struct err *err)
{
	struct loop *loop;
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		return err_sys(err, -errno, "cannot create an event loop");
	loop = xcalloc(1, sizeof(*loop));
	loop->epoll_fd = fd;
	*ret_loop = loop;
	return 0;
}

static void source_free(struct source *source)
{
	if (source->kind != SOURCE_FD && source->fd >= 0)
		close(source->fd);
	free(source);
}

/* What came in meanwhile was meant for us: it must not kill the process once it is unblocked. */
static void signals_restore(struct loop *loop)
{
	struct signalfd_siginfo info;
	struct source **s;

	vec_for_each (s, &loop->sources)
		while ((*s)->kind == SOURCE_SIGNALS && read((*s)->fd, &info, sizeof(info)) > 0)
			;
	pthread_sigmask(SIG_SETMASK, &loop->old_mask, NULL);
}

void loop_free(struct loop *loop)
{
	struct source **s;

	if (!loop)
		return;
	if (loop->have_signals)
		signals_restore(loop);
	vec_for_each (s, &loop->sources)
		source_free(*s);
	vec_release(&loop->sources);
	close(loop->epoll_fd);
	free(loop);
}

/* Takes SOURCE over also on failure. */
static int source_add(struct loop *loop, struct source *source, struct err *err)
{
	struct epoll_event event = { .events = EPOLLIN | source->edge, .data.ptr = source };

	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, source->fd, &event) < 0) {
		int rc = -errno;

		source_free(source);
		return err_sys(err, rc, "cannot watch a descriptor");
	}
	vec_push(&loop->sources, source);
	return 0;
}

static struct source *source_new(enum source_kind kind, int fd, void *data)
{
	struct source *source = xcalloc(1, sizeof(*source));

	source->kind = kind;
	source->fd = fd;
	source->data = data;
	return source;
}

static int add_fd(struct loop *loop, int fd, uint32_t edge, loop_fn fn, void *data, struct err *err)
{
	struct source *source = source_new(SOURCE_FD, fd, data);

	source->fn = fn;
	source->edge = edge;
	return source_add(loop, source, err);
}

int loop_add_fd(struct loop *loop, int fd, loop_fn fn, void *data, struct err *err)
{
	return add_fd(loop, fd, 0, fn, data, err);
}

int loop_add_edge(struct loop *loop, int fd, loop_fn fn, void *data, struct err *err)
{
	return add_fd(loop, fd, EPOLLET, fn, data, err);
}

static struct timespec to_timespec(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC) };
}

static int timer_add(struct loop *loop, struct source *source, const struct itimerspec *when,
		     int flags, struct err *err)
{
	int rc;

	source->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (source->fd < 0 || timerfd_settime(source->fd, flags, when, NULL) < 0) {
		rc = -errno;
		source_free(source);
		return err_sys(err, rc, "cannot create a timer");
	}
	return source_add(loop, source, err);
}

/* A period of zero would disarm the timer. */
static struct itimerspec every(uint64_t period_ns)
{
	const struct timespec period = to_timespec(MAX(period_ns, 1));

	return (struct itimerspec){ period, period };
}

int loop_add_timer(struct loop *loop, uint64_t period_ns, loop_fn fn, void *data, struct err *err)
{
	struct source *source = source_new(SOURCE_TIMER, -1, data);
	const struct itimerspec when = every(period_ns);

	source->fn = fn;
	return timer_add(loop, source, &when, 0, err);
}

void loop_set_timer(struct loop *loop, uint64_t period_ns, loop_fn fn, const void *data)
{
	const struct itimerspec when = every(period_ns);
	struct source **s;

	vec_for_each (s, &loop->sources)
		if ((*s)->kind == SOURCE_TIMER && (*s)->fn == fn && (*s)->data == data)
			timerfd_settime((*s)->fd, 0, &when, NULL);
}

int loop_add_deadline(struct loop *loop, uint64_t deadline_ns, loop_fn fn, void *data,
		      struct err *err)
{
	struct source *source = source_new(SOURCE_DEADLINE, -1, data);
	struct itimerspec when = { .it_value = to_timespec(deadline_ns ? deadline_ns : 1) };

	source->fn = fn;
	return timer_add(loop, source, &when, TFD_TIMER_ABSTIME, err);
}

/*
 * nohup ignores SIGHUP for us; but a blocked signal is queued also when it is ignored (sig_ignored()
 * in kernel/signal.c).
 */
static bool is_hushed(int signo)
{
	struct sigaction action;

	return signo == SIGHUP && !sigaction(signo, NULL, &action) && action.sa_handler == SIG_IGN;
}

int loop_add_signals(struct loop *loop, const int *signals, int n, loop_signal_fn fn, void *data,
		     struct err *err)
{
	struct source *source;
	sigset_t mask;
	int fd;

	if (loop->have_signals)
		return err_set(err, -EBUSY, "this event loop has its signals already");
	sigemptyset(&mask);
	for (int i = 0; i < n; i++)
		if (!is_hushed(signals[i]))
			sigaddset(&mask, signals[i]);
	fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return err_sys(err, -errno, "cannot watch signals");
	pthread_sigmask(SIG_BLOCK, &mask, &loop->old_mask);
	loop->have_signals = true;
	source = source_new(SOURCE_SIGNALS, fd, data);
	source->signal_fn = fn;
	return source_add(loop, source, err);
}

static void dispatch_signals(struct source *source)
{
	struct signalfd_siginfo info;

	while (read(source->fd, &info, sizeof(info)) == sizeof(info))
		source->signal_fn((int)info.ssi_signo, source->data);
}

static void dispatch(struct source *source)
{
	uint64_t expirations;

	if (source->past)
		return;
	if (source->kind == SOURCE_SIGNALS) {
		dispatch_signals(source);
		return;
	}
	if (source->kind != SOURCE_FD &&
	    read(source->fd, &expirations, sizeof(expirations)) != sizeof(expirations))
		return;
	if (source->kind == SOURCE_DEADLINE)
		source->past = true;
	source->fn(source->data);
}

static void sweep(struct loop *loop)
{
	size_t kept = 0;

	for (size_t i = 0; i < loop->sources.len; i++) {
		if (loop->sources.items[i]->past)
			source_free(loop->sources.items[i]);
		else
			loop->sources.items[kept++] = loop->sources.items[i];
	}
	loop->sources.len = kept;
}

void loop_on_wait(struct loop *loop, void (*fn)(bool waits, void *data), void *data)
{
	loop->wait_fn = fn;
	loop->wait_data = data;
}

void loop_forget(struct loop *loop, const void *data)
{
	struct source **s;

	if (loop->wait_data == data)
		loop->wait_fn = NULL;
	vec_for_each (s, &loop->sources) {
		if ((*s)->data != data || (*s)->kind == SOURCE_SIGNALS || (*s)->past)
			continue;
		epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, (*s)->fd, NULL);
		(*s)->past = true;
	}
}

static void tell_waiting(struct loop *loop, bool waits)
{
	if (loop->wait_fn)
		loop->wait_fn(waits, loop->wait_data);
}

int loop_run(struct loop *loop, struct err *err)
{
	struct epoll_event events[16];

	loop->quit = false;
	while (!loop->quit) {
		int n;

		tell_waiting(loop, true);
		n = epoll_wait(loop->epoll_fd, events, ARRAY_SIZE(events), -1);
		n = n < 0 ? -errno : n;
		tell_waiting(loop, false);
		if (n < 0 && n != -EINTR)
			return err_sys(err, n, "cannot wait for events");
		for (int i = 0; i < n && !loop->quit; i++)
			dispatch(events[i].data.ptr);
		sweep(loop);
	}
	return 0;
}

void loop_quit(struct loop *loop)
{
	loop->quit = true;
}
