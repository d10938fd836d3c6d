/* SPDX-License-Identifier: Apache-2.0 */
/* The C library's functions for priorities: who calls from the test is what the test says, and what threads set is noted. Included once per test. */
#ifndef HOSTPROF_TESTS_FAKE_SCHEDULER_H
#define HOSTPROF_TESTS_FAKE_SCHEDULER_H

#include "test.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>

static struct {
	int policy, nice; /* of who starts a thread */
	/* That a thread has set for itself. */
	atomic_int policy_set, priority_set, nice_set;
	atomic_int calmed; /* the tid that was given the usual policy; 0: none */
} scheduler;

int sched_getscheduler(pid_t pid)
{
	assert_int_equal(pid, 0);
	return scheduler.policy;
}

int sched_setscheduler(pid_t pid, int policy, const struct sched_param *param)
{
	if (pid == 0) {
		scheduler.policy_set = policy;
		scheduler.priority_set = param->sched_priority;
	} else {
		assert_int_equal(policy, SCHED_OTHER);
		assert_int_equal(param->sched_priority, 0);
		scheduler.calmed = pid;
	}
	return 0;
}

int getpriority(__priority_which_t which, id_t who)
{
	return which == PRIO_PROCESS && who == 0 ? scheduler.nice : 99;
}

int setpriority(__priority_which_t which, id_t who, int nice)
{
	scheduler.nice_set = which == PRIO_PROCESS && who == 0 ? nice : 99;
	return 0;
}

#endif
