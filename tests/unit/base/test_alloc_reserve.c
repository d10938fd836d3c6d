// SPDX-License-Identifier: Apache-2.0
/* The end of memory: what is kept back for it, in a process that has no more. */
#include "test.h"

#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/macros.h"

#define RESERVE (16U << 20)
#define PIECE	(1U << 20)
#define ENOUGH	256 /* pieces, far more than the limit leaves */

/* No more addresses than there are, and a few. */
static void limit_memory(void)
{
	struct rlimit limit;
	unsigned long pages;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f || fscanf(f, "%lu", &pages) != 1)
		_exit(90);
	fclose(f);
	limit.rlim_cur = limit.rlim_max = pages * 4096 + 32 * PIECE;
	if (setrlimit(RLIMIT_AS, &limit))
		_exit(91);
}

/* Returns how FN's process ended. */
static int status_of(void (*fn)(void))
{
	int status;
	pid_t pid;

	if (SANITIZED) /* its addresses are no measure of memory */
		skip();
	pid = fork();
	if (pid == 0) {
		alloc_reserve(RESERVE);
		limit_memory();
		fn();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static unsigned int take_until_short(void)
{
	unsigned int taken = 0;

	while (!alloc_is_short() && taken < ENOUGH) {
		memset(xmalloc(PIECE), 1, PIECE);
		taken++;
	}
	return taken;
}

static void take_then_end(void)
{
	char *text;

	if (take_until_short() == ENOUGH)
		_exit(10);
	/* What the end needs is there, of every kind. */
	for (unsigned int i = 0; i < RESERVE / PIECE / 2; i++)
		memset(xcalloc(1, PIECE), 1, PIECE);
	text = xstrdup("text");
	text = xrealloc(text, 1000);
	if (strcmp(text, "text") || !xstrndup(text, 2))
		_exit(11);
}

static void *take_in_thread(void *data)
{
	(void)data;
	take_until_short();
	return NULL;
}

static void take_in_a_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, take_in_thread, NULL))
		_exit(12);
	pthread_join(thread, NULL);
	if (!alloc_is_short())
		_exit(13);
}

static void take_too_much(void)
{
	take_until_short();
	for (unsigned int i = 0; i < ENOUGH; i++)
		memset(xmalloc(PIECE), 1, PIECE);
	_exit(14);
}

static void take_without(void)
{
	alloc_drop_reserve();
	take_until_short();
	_exit(15);
}

static void the_first_failure_gets_it(void **state)
{
	(void)state;
	assert_int_equal(status_of(take_then_end), 0);
	assert_int_equal(status_of(take_in_a_thread), 0);
}

static void behind_it_is_the_end(void **state)
{
	(void)state;
	assert_int_equal(status_of(take_too_much), 1);
	assert_int_equal(status_of(take_without), 1);
}

static void it_is_given_back(void **state)
{
	(void)state;
	alloc_reserve(RESERVE);
	assert_false(alloc_is_short());
	alloc_drop_reserve();
	alloc_drop_reserve();
	assert_false(alloc_is_short());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_failure_gets_it),
		cmocka_unit_test(behind_it_is_the_end),
		cmocka_unit_test(it_is_given_back),
	};

	return cmocka_run_group_tests_name("alloc_reserve", tests, NULL, NULL);
}
