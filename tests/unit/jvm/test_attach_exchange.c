/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "jvm/attach/attach_exchange.h"

static void request_has_three_arguments(void **state)
{
	static const char wanted[] = "1\0load\0/a.so\0true\0";
	const char *const args[] = { "/a.so", "true", NULL };
	_cleanup_strbuf_ struct strbuf request = STRBUF_INIT;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(attach_build_request("load", args, &request, &err), 0);
	assert_int_equal(request.len, sizeof(wanted));
	assert_memory_equal(request.buf, wanted, sizeof(wanted));
	strbuf_reset(&request);
	assert_int_equal(attach_build_request("threaddump", NULL, &request, &err), 0);
	assert_int_equal(request.len, 2 + 11 + 3);
}

static void what_a_jvm_would_not_take_is_refused(void **state)
{
	_cleanup_strbuf_ struct strbuf request = STRBUF_INIT;
	char long_argument[1100];
	const char *const args[] = { long_argument, NULL, NULL };
	struct err err = { 0 };

	(void)state;
	memset(long_argument, 'x', sizeof(long_argument));
	long_argument[1024] = 0;
	assert_int_equal(attach_build_request("load", args, &request, &err), 0);
	long_argument[1024] = 'x';
	long_argument[1025] = 0;
	assert_int_equal(attach_build_request("load", args, &request, &err), -E2BIG);
	assert_string_equal(err.text,
			    "an argument of 1025 bytes is too long for a JVM (at most 1024)");
	assert_int_equal(attach_build_request("a-command-of-17-c", args, &request, &err), -E2BIG);
}

static void open_pair(int pair[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
}

static void takes_the_whole_reply(void **state)
{
	_cleanup_strbuf_ struct strbuf request = STRBUF_INIT, reply = STRBUF_INIT;
	char seen[16] = "";
	int pair[2];

	(void)state;
	open_pair(pair);
	strbuf_addstr(&request, "hello");
	assert_int_equal(write(pair[1], "0\nreturn code: 0\n", 17), 17);
	shutdown(pair[1], SHUT_WR);
	assert_int_equal(attach_exchange(pair[0], &request, clock_now_ns() + NSEC_PER_SEC, &reply),
			 0);
	assert_string_equal(strbuf_str(&reply), "0\nreturn code: 0\n");
	assert_int_equal(read(pair[1], seen, sizeof(seen)), 5);
	assert_string_equal(seen, "hello");
	close(pair[0]);
	close(pair[1]);
}

static void gives_up_at_the_deadline(void **state)
{
	_cleanup_strbuf_ struct strbuf request = STRBUF_INIT, reply = STRBUF_INIT;
	uint64_t begin = clock_now_ns();
	int pair[2];

	(void)state;
	open_pair(pair);
	strbuf_addstr(&request, "hello");
	assert_int_equal(write(pair[1], "0\n", 2), 2);
	assert_int_equal(attach_exchange(pair[0], &request, begin + 50 * NSEC_PER_MSEC, &reply),
			 -ETIMEDOUT);
	assert_in_range(clock_now_ns() - begin, 50 * NSEC_PER_MSEC, 2 * NSEC_PER_SEC);
	close(pair[0]);
	close(pair[1]);
}

static void the_jvm_may_die_meanwhile(void **state)
{
	_cleanup_strbuf_ struct strbuf request = STRBUF_INIT, reply = STRBUF_INIT;
	int pair[2];

	(void)state;
	open_pair(pair);
	strbuf_addstr(&request, "hello");
	close(pair[1]);
	assert_int_equal(attach_exchange(pair[0], &request, clock_now_ns() + NSEC_PER_SEC, &reply),
			 -EPIPE);
	close(pair[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(request_has_three_arguments),
		cmocka_unit_test(what_a_jvm_would_not_take_is_refused),
		cmocka_unit_test(takes_the_whole_reply),
		cmocka_unit_test(gives_up_at_the_deadline),
		cmocka_unit_test(the_jvm_may_die_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
