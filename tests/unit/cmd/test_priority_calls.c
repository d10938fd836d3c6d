// SPDX-License-Identifier: Apache-2.0
/* What the kernel is asked for when the event loop goes first, is over its limit, and is done. */
#include "test.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "cmd/drive/priority.h"

#define TID 77

static struct {
	int policy, nice;
	bool may_not; /* real-time policies */
	bool may_not_reset;
	struct rlimit limit;
	struct sigaction action;
	char log[512];
} f;

static void note(const char *format, ...)
{
	size_t len = strlen(f.log);
	va_list ap;

	va_start(ap, format);
	vsnprintf(f.log + len, sizeof(f.log) - len, format, ap);
	va_end(ap);
}

/* --- in place of the kernel --- */

int sched_getscheduler(pid_t pid)
{
	assert_int_equal(pid, 0);
	return f.policy;
}

int getpriority(__priority_which_t which, id_t who)
{
	assert_int_equal(which, PRIO_PROCESS);
	assert_int_equal(who, 0);
	return f.nice;
}

int setpriority(__priority_which_t which, id_t who, int nice)
{
	assert_int_equal(which, PRIO_PROCESS);
	note("nice %u %d;", who, nice);
	return 0;
}

int sched_setscheduler(pid_t pid, int policy, const struct sched_param *param)
{
	const char *name = (policy & ~SCHED_RESET_ON_FORK) == SCHED_RR ? "rr" : "other";

	note("%s%s %d %d;", name, policy & SCHED_RESET_ON_FORK ? "+reset" : "", pid,
	     param->sched_priority);
	return ((policy & ~SCHED_RESET_ON_FORK) == SCHED_RR && f.may_not) || f.may_not_reset ? -1
											     : 0;
}

pid_t gettid(void)
{
	return TID;
}

int sigaction(int signo, const struct sigaction *action, struct sigaction *before)
{
	assert_int_equal(signo, SIGXCPU);
	if (before)
		*before = f.action;
	f.action = *action;
	return 0;
}

int getrlimit(__rlimit_resource_t resource, struct rlimit *limit)
{
	assert_int_equal(resource, RLIMIT_RTTIME);
	*limit = f.limit;
	return 0;
}

int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
	assert_int_equal(resource, RLIMIT_RTTIME);
	f.limit = *limit;
	return 0;
}

/* --- */

static int set_up(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	f.limit = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
	f.action.sa_handler = SIG_IGN;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	priority_restore();
	return 0;
}

static void expect_log(const char *wanted)
{
	assert_string_equal(f.log, wanted);
	f.log[0] = '\0';
}

static void raised_and_restored(void **state)
{
	(void)state;
	priority_raise();
	expect_log("rr+reset 77 1;nice 0 -10;");
	assert_int_equal(f.limit.rlim_cur, 1000000);
	assert_true(f.limit.rlim_max == RLIM_INFINITY);
	assert_int_equal(f.action.sa_flags, SA_RESTART);
	/* It works for too long. */
	f.action.sa_handler(SIGXCPU);
	expect_log("other+reset 77 0;");
	priority_restore();
	expect_log("nice 77 0;other 77 0;");
	assert_true(f.limit.rlim_cur == RLIM_INFINITY);
	assert_ptr_equal(f.action.sa_handler, SIG_IGN);
	priority_restore();
	expect_log("");
}

/* It has given up the right meanwhile: what takes none is done. */
static void restored_without_the_right(void **state)
{
	(void)state;
	priority_raise();
	f.log[0] = '\0';
	f.may_not_reset = true;
	priority_restore();
	expect_log("nice 77 0;other 77 0;other+reset 77 0;");
}

/* A service manager, or a CI, may have given a better nice value to all that it starts. */
static void better_than_usual_before(void **state)
{
	(void)state;
	f.nice = -5;
	priority_raise();
	expect_log("rr+reset 77 1;nice 0 -10;");
	f.action.sa_handler(SIGXCPU);
	expect_log("other+reset 77 0;");
	priority_restore();
	expect_log("nice 77 -5;other 77 0;");
	f.nice = -15;
	f.may_not = true;
	priority_raise();
	expect_log("rr+reset 77 1;other+reset 77 0;nice 0 -15;");
	priority_restore();
	expect_log("nice 77 -15;other 77 0;");
}

/* A limit that is lower already stays; one that cannot be warned of is none to work under. */
static void limits(void **state)
{
	(void)state;
	f.limit = (struct rlimit){ 5000, 1000001 };
	priority_raise();
	expect_log("rr+reset 77 1;nice 0 -10;");
	assert_int_equal(f.limit.rlim_cur, 5000);
	priority_restore();
	f.log[0] = '\0';
	f.limit = (struct rlimit){ 1000000, 1000000 };
	priority_raise();
	expect_log("other+reset 77 0;nice 0 -10;");
	assert_int_equal(f.limit.rlim_cur, 1000000);
}

static void not_allowed(void **state)
{
	(void)state;
	f.may_not = true;
	priority_raise();
	expect_log("rr+reset 77 1;other+reset 77 0;nice 0 -10;");
	priority_restore();
	f.log[0] = '\0';
	f.may_not_reset = true;
	priority_raise();
	expect_log("rr+reset 77 1;other+reset 77 0;");
}

/* Who started hostprof with a priority meant it. */
static void one_that_was_chosen(void **state)
{
	(void)state;
	f.nice = 1;
	priority_raise();
	f.nice = 0;
	f.policy = SCHED_BATCH;
	priority_raise();
	priority_restore();
	expect_log("");
	assert_true(f.limit.rlim_cur == RLIM_INFINITY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(raised_and_restored, set_up, tear_down),
		cmocka_unit_test_setup_teardown(restored_without_the_right, set_up, tear_down),
		cmocka_unit_test_setup_teardown(better_than_usual_before, set_up, tear_down),
		cmocka_unit_test_setup_teardown(limits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(not_allowed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_that_was_chosen, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("priority_calls", tests, NULL, NULL);
}
