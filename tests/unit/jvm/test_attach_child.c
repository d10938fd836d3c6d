// SPDX-License-Identifier: Apache-2.0
/* The child that acts with a target's ids: what comes back from it, and when it is given up. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "jvm/attach/attach_target.h"

#define NOBODY 65534U

static struct attach_target own_target(void)
{
	struct attach_target target = ATTACH_TARGET_INIT;

	target.pid = (uint32_t)getpid();
	target.uid = geteuid();
	target.gid = getegid();
	return target;
}

static int run(const struct attach_target *target,
	       int (*fn)(const struct attach_target *target, void *data, int *ret_fd), void *data,
	       int *ret_fd)
{
	int r = attach_target_run(target, fn, data, clock_now_ns() + 5 * NSEC_PER_SEC, ret_fd);

	/* No child is left. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	return r;
}

static int say_code(const struct attach_target *target, void *data, int *ret_fd)
{
	(void)target;
	(void)ret_fd;
	return *(int *)data;
}

static void test_codes(void **state)
{
	struct attach_target target = own_target();
	int codes[] = { 0, 7, -EBUSY, -10000 }, fd = 5;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		assert_int_equal(run(&target, say_code, &codes[i], &fd), codes[i]);
		assert_int_equal(fd, -1);
	}
}

static int open_zero(const struct attach_target *target, void *data, int *ret_fd)
{
	(void)target;
	*ret_fd = open(data, O_RDONLY | O_CLOEXEC);
	return 0;
}

static void test_descriptor(void **state)
{
	struct attach_target target = own_target();
	char path[] = "/dev/zero", byte = 1;
	int fd;

	(void)state;
	assert_int_equal(run(&target, open_zero, path, &fd), 0);
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(read(fd, &byte, 1), 1);
	assert_int_equal(byte, 0);
	close(fd);
}

static int check_ids(const struct attach_target *target, void *data, int *ret_fd)
{
	uid_t real, effective, saved;
	gid_t groups[8];
	sigset_t blocked;

	(void)data;
	(void)ret_fd;
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	getresuid(&real, &effective, &saved);
	if (real != target->uid || effective != target->uid || saved != target->uid)
		return 1;
	getresgid(&real, &effective, &saved);
	if (real != target->gid || effective != target->gid || saved != target->gid)
		return 2;
	if ((target->uid || target->gid) && (getgroups(8, groups) != 1 || groups[0] != target->gid))
		return 3;
	return sigismember(&blocked, SIGINT) && sigismember(&blocked, SIGTERM) ? 0 : 4;
}

/* Those of the target, for good and in this child alone; Ctrl-C waits until it has tidied up. */
static void test_ids(void **state)
{
	struct attach_target target = own_target();
	uid_t before = geteuid();
	int fd;

	(void)state;
	if (before != 0)
		skip();
	assert_int_equal(run(&target, check_ids, NULL, &fd), 0);
	target.gid = NOBODY;
	target.uid = NOBODY;
	assert_int_equal(run(&target, check_ids, NULL, &fd), 0);
	target.uid = 0;
	assert_int_equal(run(&target, check_ids, NULL, &fd), 0);
	target.uid = NOBODY;
	target.gid = getegid();
	assert_int_equal(run(&target, check_ids, NULL, &fd), 0);
	assert_int_equal(geteuid(), before);
}

static int leave(const struct attach_target *target, void *data, int *ret_fd)
{
	(void)target;
	(void)data;
	(void)ret_fd;
	_exit(3);
	return 0;
}

static int sleep_long(const struct attach_target *target, void *data, int *ret_fd)
{
	(void)target;
	(void)data;
	(void)ret_fd;
	return pause();
}

static void test_no_answer(void **state)
{
	struct attach_target target = own_target();
	uint64_t begin = clock_now_ns();
	int fd;

	(void)state;
	errno = EBUSY;
	assert_int_equal(run(&target, leave, NULL, &fd), -EIO);
	assert_int_equal(attach_target_run(&target, sleep_long, NULL, clock_now_ns(), &fd),
			 -ETIMEDOUT);
	assert_int_equal(fd, -1);
	/* It had half a second more to tidy up. */
	assert_true(clock_now_ns() - begin >= 500 * NSEC_PER_MSEC);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codes),
		cmocka_unit_test(test_descriptor),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_no_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
