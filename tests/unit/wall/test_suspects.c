// SPDX-License-Identifier: Apache-2.0
/* Who is asked again, and when; sockets stand for brokers, which come back when their other end is closed. */
#include "test.h"

#include <string.h>
#include <unistd.h>

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "wall/suspects.h"

#define NOW    (1000 * NSEC_PER_SEC)
#define NOBODY 0x7ffffff0U /* pids that there are none of: one user, the same */

static struct {
	struct suspects suspects;
	int ends[SUSPECTS_AT_ALL]; /* what brokers have */
	unsigned int count;
} w;

static int begin(void **state)
{
	(void)state;
	memset(&w, 0, sizeof(w));
	return 0;
}

static int end(void **state)
{
	(void)state;
	suspects_release(&w.suspects);
	for (unsigned int i = 0; i < w.count; i++)
		if (w.ends[i] >= 0)
			close(w.ends[i]);
	return 0;
}

static void lose(uint32_t pid, uint64_t now_ns)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	w.ends[w.count++] = pair[1];
	suspects_note_late(&w.suspects, pid, pair[0], now_ns);
}

static void come_back(unsigned int i)
{
	close(w.ends[i]);
	w.ends[i] = -1;
}

static bool may_ask(uint32_t pid, uint64_t seconds)
{
	return suspects_may_ask(&w.suspects, pid, NOW + seconds * NSEC_PER_SEC);
}

static void each_time_later(void **state)
{
	(void)state;
	assert_true(may_ask(NOBODY, 0));
	lose(NOBODY, NOW);
	assert_false(may_ask(NOBODY, 0));
	assert_true(may_ask(NOBODY + 1, 0));
	assert_true(may_ask(0, 0)); /* our own files */
	assert_true(may_ask(NOBODY, 1));
	lose(NOBODY, NOW + NSEC_PER_SEC);
	assert_false(may_ask(NOBODY, 2));
	assert_true(may_ask(NOBODY, 3));
	assert_int_equal(w.suspects.refused, 2);
	assert_int_equal(w.suspects.late, 2);
	assert_int_equal(w.suspects.first_pid, NOBODY);
	/* After a long time it may be another process. */
	assert_true(may_ask(NOBODY, 1000));
	lose(NOBODY, NOW + 1000 * NSEC_PER_SEC);
	assert_true(may_ask(NOBODY, 1001));
}

/* One that was late for a moment is asked again at once, but not for ever. */
static void as_soon_as_it_is_back(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < SUSPECTS_FORGIVEN; i++) {
		lose(NOBODY, NOW);
		assert_false(may_ask(NOBODY, 0));
		come_back(i);
		assert_true(may_ask(NOBODY, 0));
	}
	lose(NOBODY, NOW);
	come_back(SUSPECTS_FORGIVEN);
	assert_false(may_ask(NOBODY, 0));
	assert_true(may_ask(NOBODY, 1));
	lose(NOBODY, NOW + NSEC_PER_SEC);
	come_back(SUSPECTS_FORGIVEN + 1);
	assert_false(may_ask(NOBODY, 2));
	assert_true(may_ask(NOBODY, 3));
	/* Another one's broker is nothing to it. */
	lose(NOBODY + 1, NOW);
	lose(NOBODY + 2, NOW);
	come_back(SUSPECTS_FORGIVEN + 2);
	assert_true(may_ask(NOBODY + 1, 0));
	assert_false(may_ask(NOBODY + 2, 0));
}

static void one_users_brokers(void **state)
{
	const uint32_t self = (uint32_t)getpid();

	(void)state;
	for (uint32_t i = 0; i < SUSPECTS_PER_USER; i++) {
		assert_true(may_ask(NOBODY + 100, 0));
		lose(NOBODY + i, NOW);
	}
	/* All of that user's, and nobody else. */
	assert_false(may_ask(NOBODY + 100, 0));
	assert_true(may_ask(self, 0));
	come_back(2);
	assert_true(may_ask(NOBODY + 100, 0));
	assert_int_equal(w.suspects.lost.len, SUSPECTS_PER_USER - 1);
}

/* A child that is another user, until it is killed; -1: that is not possible here. */
static pid_t start_as(uid_t uid)
{
	int ready[2];
	pid_t child;
	char byte;
	bool good;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		if (setresuid(uid, uid, uid) == 0 && write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	good = read(ready[0], &byte, 1) == 1;
	close(ready[0]);
	if (!good)
		waitpid(child, NULL, 0);
	return good ? child : -1;
}

static void users_are_told_apart(void **state)
{
	pid_t child = start_as(4711);

	(void)state;
	if (child < 0)
		skip();
	assert_int_equal(suspects_user((uint32_t)child), 4711);
	assert_int_equal(suspects_user((uint32_t)getpid()), getuid());
	assert_int_equal(suspects_user(NOBODY), UINT32_MAX);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void not_all_can_be_lost(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < SUSPECTS_AT_ALL; i++) {
		assert_true(may_ask((uint32_t)getpid(), 0));
		lose(NOBODY + i, NOW);
	}
	assert_false(may_ask((uint32_t)getpid(), 0));
	come_back(7);
	assert_true(may_ask((uint32_t)getpid(), 0));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_time_later),	    TEST(as_soon_as_it_is_back), TEST(one_users_brokers),
		TEST(users_are_told_apart), TEST(not_all_can_be_lost),
	};

	return cmocka_run_group_tests_name("suspects", tests, NULL, NULL);
}
