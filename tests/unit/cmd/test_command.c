/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "cmd/drive/command.h"

static void wait_for(struct command *command)
{
	struct timespec step = { 0, 2000000 };

	for (int i = 0; i < 2000 && !command_reap(command); i++)
		nanosleep(&step, NULL);
	assert_true(command->exited);
}

static void test_runs_and_reports(void **state)
{
	char *const argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, (char[]){ "exit 7" }, NULL };
	struct command command = COMMAND_INIT;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(command_prepare(&command, argv, &err), 0);
	assert_false(command_reap(&command));
	assert_int_equal(command_go(&command, "sh", &err), 0);
	wait_for(&command);
	assert_int_equal(WEXITSTATUS(command.exit_status), 7);
	command_release(&command);
}

static void test_no_such_program(void **state)
{
	char *const argv[] = { (char[]){ "/nonexistent/program" }, NULL };
	struct command command = COMMAND_INIT;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(command_prepare(&command, argv, &err), 0);
	assert_int_equal(command_go(&command, argv[0], &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/program"));
	command_release(&command);
}

/* A hostprof that gives up, or dies, must not let the command run. */
static void test_closing_the_pipe_does_not_run_it(void **state)
{
	char *const argv[] = { (char[]){ "true" }, NULL };
	struct command command = COMMAND_INIT;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(command_prepare(&command, argv, &err), 0);
	closep(&command.go_fd);
	command.go_fd = -1;
	wait_for(&command);
	assert_int_equal(WEXITSTATUS(command.exit_status), 127);
	command_release(&command);
}

static void test_release_ends_it(void **state)
{
	char *const argv[] = { (char[]){ "sleep" }, (char[]){ "100" }, NULL };
	struct command command = COMMAND_INIT;
	struct err err = { 0 };
	pid_t pid;

	(void)state;
	assert_int_equal(command_prepare(&command, argv, &err), 0);
	assert_int_equal(command_go(&command, "sleep", &err), 0);
	pid = command.pid;
	command_release(&command);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs_and_reports),
		cmocka_unit_test(test_no_such_program),
		cmocka_unit_test(test_closing_the_pipe_does_not_run_it),
		cmocka_unit_test(test_release_ends_it),
	};

	return cmocka_run_group_tests_name("command", tests, NULL, NULL);
}
