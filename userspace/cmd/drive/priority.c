/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/drive/priority.h"

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/macros.h"
#include "capture/urgent_thread.h"

#define RAISED_NICE (-10)
/*
 * One who does not sleep for so long has too much to do to be before all others: the kernel tells
 * (RLIMIT_RTTIME). A recording at 99 Hz works for some milliseconds at a time, 0.1 s when it starts.
 */
#define MOST_AT_ONCE_USEC 1000000

static struct {
	pid_t tid; /* 0: none is raised */
	int nice_before;
	struct rlimit limit_before;
	struct sigaction action_before;
} raised;

/* Its children have the usual policy, and nice 0 unless it was worse. */
static int set_policy(pid_t tid, int policy)
{
	const struct sched_param param = { .sched_priority = sched_get_priority_min(policy) };

	return sched_setscheduler(tid, policy | SCHED_RESET_ON_FORK, &param);
}

/* Runs in any thread; which one worked for so long is not said. */
static void on_too_long(int signo)
{
	(void)signo;
	(void)set_policy(raised.tid, SCHED_OTHER);
	urgent_threads_calm();
}

/* False: one who is over the limit would not be told but killed, by the hard limit. */
static bool watch(void)
{
	struct sigaction action = { .sa_handler = on_too_long, .sa_flags = SA_RESTART };
	struct rlimit limit;

	sigaction(SIGXCPU, &action, &raised.action_before);
	getrlimit(RLIMIT_RTTIME, &raised.limit_before);
	limit = raised.limit_before;
	if (limit.rlim_cur > MOST_AT_ONCE_USEC)
		limit.rlim_cur = MOST_AT_ONCE_USEC;
	setrlimit(RLIMIT_RTTIME, &limit);
	return limit.rlim_max > MOST_AT_ONCE_USEC;
}

void priority_raise(void)
{
	int nice = getpriority(PRIO_PROCESS, 0);

	if (sched_getscheduler(0) != SCHED_OTHER || nice > 0)
		return;
	raised.tid = gettid();
	raised.nice_before = nice;
	if (!(watch() && set_policy(raised.tid, SCHED_RR) == 0) &&
	    set_policy(raised.tid, SCHED_OTHER) < 0)
		return;
	/* Also of a real-time thread, which falls back to it when the right to set it is gone. */
	(void)setpriority(PRIO_PROCESS, 0, MIN(nice, RAISED_NICE));
}

void priority_restore(void)
{
	const struct sched_param param = { 0 };

	if (!raised.tid)
		return;
	(void)setpriority(PRIO_PROCESS, (id_t)raised.tid, raised.nice_before);
	/* Without the right to it the policy of children stays. */
	if (sched_setscheduler(raised.tid, SCHED_OTHER, &param) < 0)
		(void)set_policy(raised.tid, SCHED_OTHER);
	setrlimit(RLIMIT_RTTIME, &raised.limit_before);
	sigaction(SIGXCPU, &raised.action_before, NULL);
	raised.tid = 0;
}
