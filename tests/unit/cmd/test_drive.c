// SPDX-License-Identifier: Apache-2.0
/* A run from the command line: what ends it, its command, its progress. The recorder is the test's. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "cmd/drive/drive.h"
#include "cmd/drive/priority.h"

#define MS NSEC_PER_MSEC

static struct {
	struct strbuf log;
	struct capture_options asked;
	uint32_t pids[4];
	struct loop *loop;
	int fail_at_open, fail_at_finish;
	int signal; /* sent when it starts */
	unsigned int progresses;
	struct drive_progress progress;
	bool ignores_sigpipe, ignores_sigxfsz;
} run;

static void note(const char *text)
{
	strbuf_addf(&run.log, "%s ", text);
}

/* --- in place of session/ --- */

static bool action_is(int signo, void (*handler)(int))
{
	struct sigaction action;

	return !sigaction(signo, NULL, &action) && action.sa_handler == handler;
}

int recorder_open(const struct recorder_options *options, struct loop *loop,
		  struct recorder **ret_recorder, struct err *err)
{
	note("open");
	assert_non_null(loop);
	run.loop = loop;
	run.asked = options->capture;
	run.ignores_sigpipe = action_is(SIGPIPE, SIG_IGN);
	run.ignores_sigxfsz = action_is(SIGXFSZ, SIG_IGN);
	for (unsigned int i = 0; i < options->capture.pid_count && i < 4; i++)
		run.pids[i] = options->capture.pids[i];
	if (run.fail_at_open)
		return err_set(err, run.fail_at_open, "no capture");
	*ret_recorder = (struct recorder *)0x1000;
	return 0;
}

void recorder_start(struct recorder *recorder)
{
	assert_non_null(recorder);
	note("start");
	if (run.signal)
		kill(getpid(), run.signal);
}

void recorder_get_figures(const struct recorder *recorder, struct recorder_figures *ret_figures)
{
	assert_non_null(recorder);
	*ret_figures = (struct recorder_figures){ 14, 13, 15, 21 };
}

int recorder_finish(struct recorder *recorder, struct recorder_result *ret_result, struct err *err)
{
	assert_non_null(recorder);
	note("finish");
	*ret_result = (struct recorder_result){ .samples = 16 };
	return run.fail_at_finish ? err_set(err, run.fail_at_finish, "no end") : 0;
}

void recorder_free(struct recorder *recorder)
{
	note(recorder ? "free" : "free-none");
}

void priority_raise(void)
{
	note("raise");
}

void priority_restore(void)
{
	note("restore");
}

/* --- */

static void see_progress(const struct drive_progress *progress)
{
	run.progresses++;
	run.progress = *progress;
}

static int setup(void **state)
{
	(void)state;
	memset(&run, 0, sizeof(run));
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	strbuf_release(&run.log);
	return 0;
}

static int drive(const struct drive_options *options, struct recorder_result *result)
{
	struct err err = { 0 };
	int r;

	strbuf_reset(&run.log);
	memset(result, 0xee, sizeof(*result));
	r = drive_run(options, result, &err);
	assert_int_equal(r, err.code);
	return r;
}

/* --- */

static void some_time(void **state)
{
	struct drive_options options = { .duration_ns = 120 * MS };
	struct recorder_result result;
	uint64_t begin_ns = clock_now_ns();

	(void)state;
	assert_int_equal(drive(&options, &result), 0);
	assert_in_range(clock_now_ns() - begin_ns, 120 * MS, 60000 * MS);
	assert_string_equal(strbuf_str(&run.log), "raise open start restore finish restore free ");
	assert_int_equal(result.samples, 16);
	assert_false(result.interrupted);
	assert_int_equal(result.exit_status, 0);
	assert_int_equal(run.asked.pid_count, 0);
}

/* A reader that leaves is a sink's business; afterwards it is as it was. */
static void broken_pipes_kill_nobody(void **state)
{
	struct drive_options options = { .duration_ns = 1 * MS };
	struct recorder_result result;

	(void)state;
	assert_int_equal(drive(&options, &result), 0);
	assert_true(run.ignores_sigpipe);
	assert_true(action_is(SIGPIPE, SIG_DFL));
}

/* At the limit of a file's size a write fails, and what is in the file stays. */
static void a_file_limit_kills_nobody(void **state)
{
	struct drive_options options = { .duration_ns = 1 * MS };
	struct recorder_result result;

	(void)state;
	assert_int_equal(drive(&options, &result), 0);
	assert_true(run.ignores_sigxfsz);
	assert_true(action_is(SIGXFSZ, SIG_DFL));
}

static void progress(void **state)
{
	struct drive_options options = { .duration_ns = 700 * MS, .progress = see_progress };
	struct recorder_result result;

	(void)state;
	assert_int_equal(drive(&options, &result), 0);
	assert_true(run.progresses >= 1);
	assert_in_range(run.progress.elapsed_ns, 450 * MS, 60000 * MS);
	assert_int_equal(run.progress.duration_ns, 700 * MS);
	assert_int_equal(run.progress.figures.samples, 14);
	assert_int_equal(run.progress.figures.lost, 13);
}

static void a_signal_ends_it(void **state)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct drive_options options = { 0 };
	struct recorder_result result;

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		teardown(state);
		setup(state);
		run.signal = signals[i];
		signal(run.signal, SIG_DFL); /* nohup ignores one of them */
		assert_int_equal(drive(&options, &result), 0);
		assert_true(result.interrupted);
		assert_string_equal(strbuf_str(&run.log),
				    "raise open start restore finish restore free ");
	}
}

static void failures(void **state)
{
	struct drive_options options = { .duration_ns = 1 * MS };
	struct recorder_result result;

	(void)state;
	run.fail_at_finish = -EIO;
	assert_int_equal(drive(&options, &result), -EIO);
	assert_string_equal(strbuf_str(&run.log), "raise open start restore finish restore free ");
	run.fail_at_open = -EACCES;
	assert_int_equal(drive(&options, &result), -EACCES);
	assert_string_equal(strbuf_str(&run.log), "raise open restore free-none ");
}

/* --- commands --- */

/* It and its children are the targets, and its end is the run's. */
static void a_command(void **state)
{
	char name[] = "/bin/sh", flag[] = "-c", script[] = "exit 3";
	char *argv[] = { name, flag, script, NULL };
	struct drive_options options = { 0 };
	struct recorder_result result;

	(void)state;
	options.command = argv;
	assert_int_equal(drive(&options, &result), 0);
	assert_true(WIFEXITED(result.exit_status));
	assert_int_equal(WEXITSTATUS(result.exit_status), 3);
	assert_false(result.interrupted);
	assert_int_equal(run.asked.pid_count, 1);
	assert_true(run.pids[0] > 1);
	assert_true(run.asked.follow_children);
}

static void a_command_and_the_whole_host(void **state)
{
	char name[] = "true", *argv[] = { name, NULL };
	struct drive_options options = { 0 };
	struct recorder_result result;

	(void)state;
	options.command = argv;
	options.whole_host = true;
	assert_int_equal(drive(&options, &result), 0);
	assert_int_equal(run.asked.pid_count, 0);
	assert_false(run.asked.follow_children);
}

/* The time is over first: the command is ended. */
static void a_command_that_goes_on(void **state)
{
	char name[] = "sleep", seconds[] = "60", *argv[] = { name, seconds, NULL };
	struct drive_options options = { .duration_ns = 120 * MS };
	struct recorder_result result;

	(void)state;
	options.command = argv;
	assert_int_equal(drive(&options, &result), 0);
	assert_int_equal(kill((pid_t)run.pids[0], 0), -1);
}

static void a_command_that_is_not_there(void **state)
{
	char name[] = "/no/such/program", *argv[] = { name, NULL };
	struct drive_options options = { 0 };
	struct recorder_result result;

	(void)state;
	options.command = argv;
	assert_int_equal(drive(&options, &result), -ENOENT);
}

/* A write into a pipe that nobody reads ends it, as in a shell. */
static void a_command_has_its_sigpipe(void **state)
{
	char name[] = "/bin/sh", flag[] = "-c", script[] = "kill -PIPE $$; exit 3";
	char *argv[] = { name, flag, script, NULL };
	struct drive_options options = { .command = argv };
	struct recorder_result result;

	(void)state;
	assert_int_equal(drive(&options, &result), 0);
	assert_true(WIFSIGNALED(result.exit_status));
	assert_int_equal(WTERMSIG(result.exit_status), SIGPIPE);
}

static void a_command_has_its_file_limit(void **state)
{
	char name[] = "/bin/sh", flag[] = "-c", script[] = "kill -XFSZ $$; exit 3";
	char *argv[] = { name, flag, script, NULL };
	struct drive_options options = { .command = argv };
	struct recorder_result result;

	(void)state;
	assert_int_equal(drive(&options, &result), 0);
	assert_true(WIFSIGNALED(result.exit_status));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

/* Its own priority is the usual one. */
static void hurry_without_a_command(void **state)
{
	char *const argv[] = { (char[]){ "true" }, NULL };

	(void)state;
	drive_hurry(argv);
	assert_string_equal(strbuf_str(&run.log), "");
	drive_hurry(NULL);
	assert_string_equal(strbuf_str(&run.log), "raise ");
}

static uint32_t begin_process(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	assert_true(pid > 0);
	return (uint32_t)pid;
}

/* Which is not its parent's to know: it need not be a child of ours, and none is waited for. */
static void until_its_processes_end(void **state)
{
	uint32_t pids[2];
	struct drive_options options = { .recorder.capture = { .pids = pids, .pid_count = 2 },
					 .duration_ns = 300 * MS };
	struct recorder_result result;
	uint64_t begin_ns = clock_now_ns();

	(void)state;
	pids[0] = begin_process();
	pids[1] = begin_process();
	kill((pid_t)pids[0], SIGKILL);
	/* One of them goes on. */
	assert_int_equal(drive(&options, &result), 0);
	assert_true(clock_now_ns() - begin_ns >= 300 * MS);
	kill((pid_t)pids[1], SIGKILL);
	options.duration_ns = 0;
	assert_int_equal(drive(&options, &result), 0);
	assert_false(result.interrupted);
	assert_int_equal(result.samples, 16);
	for (int i = 0; i < 2; i++)
		assert_int_equal(waitpid((pid_t)pids[i], NULL, 0), pids[i]);
	/* Both pids are nobody's. */
	assert_int_equal(drive(&options, &result), 0);
	assert_string_equal(run.log.buf, "raise open start restore finish restore free ");
}

/* It is none that ends: a thread's number, and one that no process can have. */
static void what_is_no_process_is_waited_for(void **state)
{
	const uint32_t pid = 0;
	struct drive_options options = { .recorder.capture = { .pids = &pid, .pid_count = 1 },
					 .duration_ns = 100 * MS };
	struct recorder_result result;
	uint64_t begin_ns = clock_now_ns();

	(void)state;
	assert_int_equal(drive(&options, &result), 0);
	assert_true(clock_now_ns() - begin_ns >= 100 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(some_time),
		TEST(until_its_processes_end),
		TEST(what_is_no_process_is_waited_for),
		TEST(broken_pipes_kill_nobody),
		TEST(a_file_limit_kills_nobody),
		TEST(progress),
		TEST(a_signal_ends_it),
		TEST(failures),
		TEST(a_command),
		TEST(a_command_and_the_whole_host),
		TEST(a_command_that_goes_on),
		TEST(a_command_that_is_not_there),
		TEST(a_command_has_its_sigpipe),
		TEST(a_command_has_its_file_limit),
		TEST(hurry_without_a_command),
	};

	return cmocka_run_group_tests_name("drive", tests, NULL, NULL);
}
