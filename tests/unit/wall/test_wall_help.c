// SPDX-License-Identifier: Apache-2.0
/* Helpers that answer, die, or never come back; and the end of a run, which waits for none of them. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/rights.h"
#include "wall/pass_fd.h"
#include "wall/wall.h"

#define LONG_NS (30 * NSEC_PER_SEC)
#define SOON_NS (20 * NSEC_PER_SEC) /* what is at once may take long on a busy host */

/* What the helper does is told by the first letter. */
static void help(int socket, int fd)
{
	char request[8] = "";
	uint64_t rights = rights_permitted();
	int none;

	pass_message_receive(socket, request, sizeof(request), &none);
	switch (*request) {
	case 'e': pass_message_send(socket, request, strlen(request), fd); break;
	case 'r': pass_message_send(socket, &rights, sizeof(rights), -1); break;
	case 'd': raise(SIGKILL); break;
	default:
		for (;;)
			pause();
	}
}

static int with_help(void **state)
{
	struct err err;

	(void)state;
	return wall_begin(NULL, help, &err);
}

static int without(void **state)
{
	(void)state;
	wall_end();
	return 0;
}

static int64_t ask(const char *request, int fd, uint64_t wait_ns, void *answer, size_t size,
		   int *ret_fd)
{
	const struct wall_message message = { request, strlen(request), fd, answer, size };

	return wall_help((uint32_t)getpid(), &message, clock_now_ns() + wait_ns, ret_fd);
}

static int null_fd(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void an_answer_and_a_file(void **state)
{
	_cleanup_close_ int fd = memfd_create("given", MFD_CLOEXEC), back = -1;
	char answer[8] = "";

	(void)state;
	assert_int_equal(write(fd, "text", 4), 4);
	assert_int_equal(ask("echo", fd, LONG_NS, answer, sizeof(answer), &back), 4);
	assert_string_equal(answer, "echo");
	assert_int_equal(pread(back, answer, 4, 0), 4);
	assert_memory_equal(answer, "text", 4);
	assert_int_equal(fcntl(back, F_GETFD), FD_CLOEXEC);
}

static void one_that_dies(void **state)
{
	_cleanup_close_ int fd = null_fd();
	char answer[8];
	int back;

	(void)state;
	assert_int_equal(ask("die", fd, LONG_NS, answer, sizeof(answer), &back), -ECHILD);
	assert_int_equal(back, -1);
	assert_int_equal(ask("echo", fd, LONG_NS, answer, sizeof(answer), &back), 4);
	close(back);
}

static void one_that_never_answers(void **state)
{
	_cleanup_close_ int fd = null_fd();
	uint64_t begin_ns = clock_now_ns();
	struct wall_figures figures;
	char answer[8];
	int back;

	(void)state;
	assert_int_equal(ask("wait", fd, 50 * NSEC_PER_MSEC, answer, sizeof(answer), &back),
			 -ETIMEDOUT);
	/* Not asked for a while, neither by a broker. */
	assert_int_equal(ask("echo", fd, LONG_NS, answer, sizeof(answer), &back), -EBUSY);
	wall_get_figures(&figures);
	assert_int_equal(figures.late, 1);
	assert_int_equal(figures.lost, 1);
	assert_int_equal(figures.first_pid, getpid());
	assert_true(clock_now_ns() - begin_ns < SOON_NS);
}

/* However much time there was. */
static void the_end_waits_for_none(void **state)
{
	_cleanup_close_ int fd = null_fd();
	uint64_t begin_ns = clock_now_ns();
	char answer[8];
	int back;

	(void)state;
	wall_end_at(begin_ns);
	assert_int_equal(wall_until(begin_ns + LONG_NS), begin_ns);
	assert_int_equal(wall_until(begin_ns - 1), begin_ns - 1);
	assert_int_equal(ask("wait", fd, LONG_NS, answer, sizeof(answer), &back), -ETIMEDOUT);
	assert_true(clock_now_ns() - begin_ns < SOON_NS);
	wall_end_at(0);
	assert_int_equal(wall_until(begin_ns + LONG_NS), begin_ns + LONG_NS);
}

static void what_a_helper_has(void **state)
{
	_cleanup_close_ int fd = null_fd();
	uint64_t rights = ~0ULL;
	int back;

	(void)state;
	assert_int_equal(ask("rights", fd, LONG_NS, &rights, sizeof(rights), &back),
			 sizeof(rights));
	assert_int_equal(rights & ~(RIGHTS_OF_NURSERY | RIGHTS_TO_ATTACH), 0);
	assert_int_equal(rights & RIGHTS_TO_ATTACH, rights_permitted() & RIGHTS_TO_ATTACH);
}

static void none_without_a_wall(void **state)
{
	struct err err;
	char answer[8];
	int back;

	(void)state;
	assert_int_equal(ask("echo", 0, LONG_NS, answer, sizeof(answer), &back), -EOPNOTSUPP);
	assert_int_equal(wall_begin(NULL, NULL, &err), 0);
	assert_int_equal(ask("echo", 0, LONG_NS, answer, sizeof(answer), &back), -EOPNOTSUPP);
	wall_end();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, with_help, without)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_answer_and_a_file),   TEST(one_that_dies),
		TEST(one_that_never_answers), TEST(the_end_waits_for_none),
		TEST(what_a_helper_has),      cmocka_unit_test(none_without_a_wall),
	};

	return cmocka_run_group_tests_name("wall_help", tests, NULL, NULL);
}
