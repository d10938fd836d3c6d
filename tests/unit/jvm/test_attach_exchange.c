/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
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
	assert_int_equal(attach_build_request("a-command-of-17-c", NULL, &request, &err), -E2BIG);
	assert_int_equal(attach_build_request("a-command-of-16-", NULL, &request, &err), 0);
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

/* --- a JVM in a thread --- */

struct peer {
	pthread_t thread;
	int fd;
	uint64_t wait_ms, write; /* bytes, after so long */
	uint64_t read;		 /* bytes, before that */
	bool close;
};

static void *serve(void *data)
{
	static char chunk[65536];
	struct peer *peer = data;
	const struct timespec wait = { 0, (long)peer->wait_ms * 1000000 };

	nanosleep(&wait, NULL);
	for (uint64_t left = peer->read; left;) {
		ssize_t n = read(peer->fd, chunk, MIN(left, sizeof(chunk)));

		if (n <= 0)
			break;
		left -= (uint64_t)n;
	}
	for (uint64_t left = peer->write; left;) {
		ssize_t n = write(peer->fd, chunk, MIN(left, sizeof(chunk)));

		if (n <= 0)
			break;
		left -= (uint64_t)n;
	}
	if (peer->close)
		close(peer->fd);
	return NULL;
}

/* What comes of a request of so many bytes. */
static int exchange_with(struct peer *peer, size_t request_bytes, uint64_t timeout_ns,
			 struct strbuf *reply)
{
	_cleanup_strbuf_ struct strbuf request = STRBUF_INIT;
	int pair[2], flags, r;

	open_pair(pair);
	flags = fcntl(pair[1], F_GETFL);
	fcntl(pair[1], F_SETFL, flags & ~O_NONBLOCK);
	peer->fd = pair[1];
	strbuf_grow(&request, request_bytes);
	memset(request.buf, 'r', request_bytes);
	request.len = request_bytes;
	assert_int_equal(pthread_create(&peer->thread, NULL, serve, peer), 0);
	r = attach_exchange(pair[0], &request, clock_now_ns() + timeout_ns, reply);
	close(pair[0]);
	pthread_join(peer->thread, NULL);
	if (!peer->close)
		close(pair[1]);
	return r;
}

/* More than the socket holds: the rest is sent when there is room, and not before its time is over. */
static void a_request_that_has_to_wait(void **state)
{
	_cleanup_strbuf_ struct strbuf reply = STRBUF_INIT;
	struct peer reads = { .read = 4 << 20, .wait_ms = 20, .write = 3, .close = true };
	struct peer sleeps = { .wait_ms = 80 };

	(void)state;
	assert_int_equal(exchange_with(&reads, 4 << 20, 20 * NSEC_PER_SEC, &reply), 0);
	assert_int_equal(reply.len, 3);
	assert_int_equal(exchange_with(&sleeps, 4 << 20, 30 * NSEC_PER_MSEC, &reply), -ETIMEDOUT);
}

/* A reply may be large, but not without end. */
static void replies_of_all_sizes(void **state)
{
	static const uint64_t sizes[] = { 1, 4095, 4096, 4097, 64 << 10 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		_cleanup_strbuf_ struct strbuf reply = STRBUF_INIT;
		struct peer peer = { .write = sizes[i], .read = 5, .close = true };

		assert_int_equal(exchange_with(&peer, 5, 20 * NSEC_PER_SEC, &reply), 0);
		assert_int_equal(reply.len, sizes[i]);
	}
	for (uint64_t more = 1; more <= 5000; more += 4999) {
		_cleanup_strbuf_ struct strbuf reply = STRBUF_INIT;
		struct peer peer = { .write = (64 << 10) + more, .read = 5, .close = true };

		signal(SIGPIPE, SIG_IGN);
		assert_int_equal(exchange_with(&peer, 5, 20 * NSEC_PER_SEC, &reply), -E2BIG);
	}
}

/* It goes without having read what it was asked. */
static void a_jvm_that_breaks_off(void **state)
{
	_cleanup_strbuf_ struct strbuf reply = STRBUF_INIT;
	struct peer peer = { .wait_ms = 20, .close = true };

	(void)state;
	assert_int_equal(exchange_with(&peer, 5, 20 * NSEC_PER_SEC, &reply), -ECONNRESET);
}

static void note_alarm(int signal)
{
	(void)signal;
}

/* A signal is no answer. */
static void signals_do_not_matter(void **state)
{
	_cleanup_strbuf_ struct strbuf reply = STRBUF_INIT;
	struct peer peer = { .wait_ms = 60, .read = 5, .write = 4, .close = true };
	const struct sigaction action = { .sa_handler = note_alarm };
	const struct itimerval often = { { 0, 3000 }, { 0, 3000 } }, never = { { 0, 0 }, { 0, 0 } };

	(void)state;
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	setitimer(ITIMER_REAL, &often, NULL);
	assert_int_equal(exchange_with(&peer, 5, 20 * NSEC_PER_SEC, &reply), 0);
	setitimer(ITIMER_REAL, &never, NULL);
	assert_int_equal(reply.len, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(request_has_three_arguments),
		cmocka_unit_test(what_a_jvm_would_not_take_is_refused),
		cmocka_unit_test(takes_the_whole_reply),
		cmocka_unit_test(gives_up_at_the_deadline),
		cmocka_unit_test(the_jvm_may_die_meanwhile),
		cmocka_unit_test(a_request_that_has_to_wait),
		cmocka_unit_test(replies_of_all_sizes),
		cmocka_unit_test(a_jvm_that_breaks_off),
		cmocka_unit_test(signals_do_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
