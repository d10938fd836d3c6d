// SPDX-License-Identifier: Apache-2.0
/* stream: what goes to standard output, what is said of the run, and its exit code. */
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "capture/preflight/preflight.h"
#include "cmd/cmd.h"
#include "cmd/drive/drive.h"
#include "command_run.h"

static int preflight_error, run_error;
static int reader_fd = -1;
static struct profile profile;

/* --- in place of capture/ and session/ --- */

static bool is_hurried;

void drive_hurry(char *const *command)
{
	is_hurried = !command || command[0];
}

int preflight_explain(struct err *err)
{
	assert_true(is_hurried);
	return preflight_error ? err_set(err, preflight_error, "not on this host") : 0;
}

int drive_run(const struct drive_options *options, struct recorder_result *ret_result,
	      struct err *err)
{
	const struct sinks *sinks = &options->recorder.sinks;
	const struct sink_sums sums = { .samples = 12 };
	int r;

	assert_int_equal(sinks->count, 2); /* sums, stream */
	*ret_result = (struct recorder_result){ .samples = 12, .complete = 12, .processes = 2 };
	if (run_error)
		return err_set(err, run_error, "it broke");
	if (reader_fd >= 0) /* it has left */
		close(reader_fd);
	r = sinks_begin(sinks, &profile, true, err);
	return r < 0 ? r : sinks_end(sinks, &profile, &sums, err);
}

#define expect(line, wanted) assert_string_equal(command_run(cmd_stream, line), wanted)

static int set_up(void **state)
{
	(void)state;
	preflight_error = run_error = 0;
	is_hurried = false;
	profile_release(&profile);
	profile_init(&profile);
	return 0;
}

/* --- */

static void lines_and_a_last_word(void **state)
{
	const char *said;

	(void)state;
	said = command_run(cmd_stream, "stream -d 1");
	assert_memory_equal(said, "{\"type\":\"begin\",", 16);
	assert_non_null(strstr(said, "\n{\"type\":\"end\","));
	assert_non_null(strstr(said,
			       "\nhostprof: standard output: 12 samples, 2 processes, 0 JVMs, "
			       "100.00 % complete stacks, 0 lost\nexit 0\n"));
	expect("stream --format collapsed",
	       "# hostprof-stream 1 collapsed\n# end\n"
	       "hostprof: standard output: 12 samples, 2 processes, 0 JVMs, "
	       "100.00 % complete stacks, 0 lost\nexit 0\n");
}

static void refusals(void **state)
{
	(void)state;
	run_error = -EIO;
	expect("stream", "hostprof: it broke\nexit 1\n");
	run_error = -EPERM;
	expect("stream", "hostprof: it broke\nexit 3\n");
	run_error = -EPIPE; /* of something else */
	expect("stream", "hostprof: it broke\nexit 1\n");
	preflight_error = -EPERM;
	expect("stream", "hostprof: not on this host\nexit 3\n");
}

/* Standard output is a pipe that nobody reads. */
static int without_reader(int argc, char **argv)
{
	int fds[2];

	if (pipe(fds) < 0)
		return 99;
	close(fds[0]);
	dup2(fds[1], STDOUT_FILENO);
	return cmd_stream(argc, argv);
}

/* The reader leaves when the run has begun. */
static int with_a_short_reader(int argc, char **argv)
{
	int fds[2];

	signal(SIGPIPE, SIG_IGN);
	if (pipe(fds) < 0)
		return 99;
	dup2(fds[1], STDOUT_FILENO);
	reader_fd = fds[0];
	return cmd_stream(argc, argv);
}

static void readers_that_leave(void **state)
{
	(void)state;
	assert_string_equal(command_run(without_reader, "stream"), "exit 0\n");
	assert_string_equal(command_run(with_a_short_reader, "stream"), "exit 0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(lines_and_a_last_word, set_up),
		cmocka_unit_test_setup(refusals, set_up),
		cmocka_unit_test_setup(readers_that_leave, set_up),
	};

	return cmocka_run_group_tests_name("cmd_stream", tests, NULL, NULL);
}
