// SPDX-License-Identifier: Apache-2.0
/* What comes from a debuginfod is checked: the other side is the test, which says and sends what it likes. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "elf/debuginfod/debuginfod.h"
#include "elf/debuginfod/debuginfod_serve.h"
#include "elf/reader/reader.h"
#include "wall/pass_fd.h"

static char own_id[BUILD_ID_BYTES];

static int open_self(void)
{
	return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

/* Answers one question with RESULT, LEN bytes of it, and what PATH opens. */
static struct debuginfod answering(int result, size_t len, const char *path)
{
	struct debuginfod it = { .until_ns = clock_now_ns() + 5 * NSEC_PER_SEC };
	struct debuginfod_said said = { result };
	struct debuginfod_ask ask;
	int pair[2], fd = -1;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	it.socket = pair[0];
	it.pid = fork();
	assert_true(it.pid >= 0);
	if (it.pid == 0) {
		close(pair[0]);
		if (pass_message_receive(pair[1], &ask, sizeof(ask), &fd) != sizeof(ask))
			_exit(1);
		if (len)
			pass_message_send(pair[1], &said, len, path ? open(path, O_RDONLY) : -1);
		else
			pause();
		_exit(0);
	}
	close(pair[1]);
	return it;
}

static int fetched(struct debuginfod it, const char *build_id)
{
	int r = debuginfod_fetch(&it, build_id);

	if (r >= 0) {
		close(r);
		r = 0;
	}
	debuginfod_end(&it);
	return r;
}

#define WHOLE sizeof(struct debuginfod_said)

static void only_with_its_build_id(void **state)
{
	char other[BUILD_ID_BYTES];

	(void)state;
	memcpy(other, own_id, sizeof(other));
	other[0] = other[0] == 'a' ? 'b' : 'a';
	assert_int_equal(fetched(answering(0, WHOLE, "/proc/self/exe"), own_id), 0);
	assert_int_equal(fetched(answering(0, WHOLE, "/proc/self/exe"), other), -EBADMSG);
	other[0] = own_id[0];
	other[2] = '\0'; /* the beginning of it */
	assert_int_equal(fetched(answering(0, WHOLE, "/proc/self/exe"), other), -EBADMSG);
	assert_int_equal(fetched(answering(0, WHOLE, "/etc/passwd"), own_id), -EBADMSG);
}

static void only_a_file(void **state)
{
	(void)state;
	assert_int_equal(fetched(answering(0, WHOLE, NULL), own_id), -EBADMSG);
	assert_int_equal(fetched(answering(0, WHOLE, "/"), own_id), -EBADMSG);
	assert_int_equal(fetched(answering(0, WHOLE, "/dev/zero"), own_id), -EBADMSG);
}

static void what_it_says(void **state)
{
	struct debuginfod it;

	(void)state;
	assert_int_equal(fetched(answering(-ENOENT, WHOLE, NULL), own_id), -ENODATA);
	assert_int_equal(fetched(answering(-ENOENT, WHOLE, "/proc/self/exe"), own_id), -ENODATA);
	assert_int_equal(fetched(answering(7, WHOLE, "/proc/self/exe"), own_id), -ENODATA);
	/* It has gone, or talks of something else: nobody is asked again. */
	it = answering(0, 1, "/proc/self/exe");
	assert_int_equal(debuginfod_fetch(&it, own_id), -ETIMEDOUT);
	assert_int_equal(it.socket, -1);
	assert_int_equal(debuginfod_fetch(&it, own_id), -ETIMEDOUT);
	debuginfod_end(&it);
}

static void one_that_is_late(void **state)
{
	struct debuginfod it = answering(0, 0, NULL);

	(void)state;
	it.until_ns = clock_now_ns() + NSEC_PER_SEC / 10;
	assert_int_equal(debuginfod_fetch(&it, own_id), -ETIMEDOUT);
	assert_int_equal(it.socket, -1);
	assert_int_equal(waitpid(it.pid, NULL, WNOHANG),
			 -1); /* it has been ended, and waited for */
}

/* The time for all of them begins with the first question: one that is ready before a recording waits as long as that takes. */
static void its_time_begins_with_a_question(void **state)
{
	struct debuginfod it = answering(0, WHOLE, "/proc/self/exe");
	uint64_t before = clock_now_ns();
	int fd;

	(void)state;
	it.until_ns = 0;
	fd = debuginfod_fetch(&it, own_id);
	assert_true(fd >= 0);
	close(fd);
	assert_in_range(it.until_ns, before + DEBUGINFOD_ALL_SECONDS * NSEC_PER_SEC,
			clock_now_ns() + DEBUGINFOD_ALL_SECONDS * NSEC_PER_SEC);
	before = it.until_ns;
	assert_int_equal(debuginfod_fetch(&it, own_id), -ETIMEDOUT);
	assert_int_equal(it.until_ns, before);
	debuginfod_end(&it);
}

/* Nothing that is no build id comes before a server, or into a path. */
static void what_is_no_build_id(void **state)
{
	static const char *const ids[] = { "", "abc", "../../../etc/passwd0", "ABCD", "ab/d" };
	char too_long[2 * BUILD_ID_BYTES + 1] = "";
	struct debuginfod it = answering(0, WHOLE, "/proc/self/exe");

	(void)state;
	memset(too_long, 'a', 2 * BUILD_ID_BYTES);
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		assert_int_equal(debuginfod_fetch(&it, ids[i]), -ENODATA);
	assert_int_equal(debuginfod_fetch(&it, too_long), -ENODATA);
	assert_int_equal(fetched(it, own_id), 0); /* the first question of it */
}

static void nobody_to_ask(void **state)
{
	static const char *const urls[] = { NULL, "", "  " };
	struct debuginfod it;
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(urls); i++) {
		unsetenv("DEBUGINFOD_URLS");
		if (urls[i])
			setenv("DEBUGINFOD_URLS", urls[i], 1);
		assert_int_equal(debuginfod_begin(&it, &err), -EINVAL);
		assert_non_null(strstr(err.hint, "DEBUGINFOD_URLS"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_with_its_build_id),
		cmocka_unit_test(only_a_file),
		cmocka_unit_test(what_it_says),
		cmocka_unit_test(one_that_is_late),
		cmocka_unit_test(its_time_begins_with_a_question),
		cmocka_unit_test(what_is_no_build_id),
		cmocka_unit_test(nobody_to_ask),
	};
	_cleanup_close_ int fd = open_self();

	if (reader_build_id(fd, 0, own_id) < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
