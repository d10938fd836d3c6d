// SPDX-License-Identifier: Apache-2.0
/* What a run from the command line hangs into its event loop, and what it does when one of its steps fails. */
#include "recorder_steps.h"

static char program[] = "program";
static char *argv[] = { program, NULL };

static int record(const struct drive_options *options)
{
	struct recorder_result result = { .processes = 4711 };
	int r;

	strbuf_reset(&run.log);
	run.timer_count = run.limits_set = 0;
	run.recorder = run.drive = NULL;
	run.signals[0] = '\0';
	err = (struct err){ 0 };
	r = drive_run(options, &result, &err);
	assert_int_equal(result.processes, r < 0 ? 4711 : 0); /* a failure leaves it alone */
	return r;
}

static void see_progress(const struct drive_progress *progress)
{
	run.progresses++;
	run.progress = *progress;
}

/* --- */

static void what_is_in_the_loop(void **state)
{
	struct drive_options options = { .progress = see_progress };
	char signals[64];

	(void)state;
	assert_int_equal(record(&options), 0);
	snprintf(signals, sizeof(signals), "%d %d %d %d %d ", SIGINT, SIGTERM, SIGHUP, SIGQUIT,
		 SIGCHLD);
	assert_string_equal(run.signals, signals);
	assert_int_equal(run.timer_count, 4);
	assert_int_equal(run.timers[0].period_ns, 50 * MS);
	assert_int_equal(run.timers[1].period_ns, 1000 * MS);
	assert_int_equal(run.timers[2].period_ns, 1000 * MS);
	assert_int_equal(run.timers[3].period_ns, 500 * MS);
	assert_int_equal(run.deadline_ns, 0);
	/* As asked for. */
	options.recorder.flush_ns = 7;
	options.progress = NULL;
	options.duration_ns = 5000 * MS;
	assert_int_equal(record(&options), 0);
	assert_int_equal(run.timer_count, 3);
	assert_int_equal(run.timers[1].period_ns, 7);
	assert_int_equal(run.deadline_ns, fake_begun_ns + 5000 * MS);
	assert_true(run.tuned > 0);
}

/* Each of them once. */
static void all_of_it(void)
{
	run.on_fd(run.recorder);
	assert_int_equal(run.drains, 1);
	run.timers[0].fn(run.timers[0].data);
	assert_int_equal(run.turns, 1);
	run.timers[1].fn(run.timers[1].data);
	assert_int_equal(run.flushes, 1);
	run.timers[2].fn(run.timers[2].data);
	assert_int_equal(run.cpus, 1);
	fake_advance(300 * MS);
	run.timers[3].fn(run.timers[3].data);
	assert_int_equal(run.progresses, 1);
	assert_int_equal(run.progress.elapsed_ns, 300 * MS);
	assert_int_equal(run.progress.figures.samples, 14);
	assert_int_equal(run.drains + run.turns + run.flushes + run.cpus, 4);
	assert_int_equal(run.quits, 0);
	run.on_deadline(run.drive);
	assert_int_equal(run.quits, 1);
}

static void what_it_does(void **state)
{
	const struct drive_options options = { .progress = see_progress, .duration_ns = 1 };

	(void)state;
	run.in_loop = all_of_it;
	assert_int_equal(record(&options), 0);
	assert_int_equal(run.progresses, 1);
}

static void its_command(void)
{
	run.on_signal(SIGCHLD, run.drive); /* a child of another's */
	assert_int_equal(run.quits, 0);
	run.has_ended = true;
	run.on_signal(SIGCHLD, run.drive);
	assert_int_equal(run.quits, 1);
}

static void only_its_commands_end_is_its_end(void **state)
{
	const struct drive_options options = { .command = argv };

	(void)state;
	run.in_loop = its_command;
	assert_int_equal(record(&options), 0);
	assert_int_equal(run.quits, 1);
	assert_string_equal(
		strbuf_str(&run.log),
		"loop prepare open snapshot wait init begin meet fd edge timer0 timer1 timer2 signals "
		"start parked go run restore look stop forget finish "
		"restore forget release free free-loop ");
}

/* --- failures --- */

static const char *log_of(const struct drive_options *options, const char *failing)
{
	char text[64];

	run.failing = failing;
	assert_int_equal(record(options), -EIO);
	snprintf(text, sizeof(text), "%s failed", failing);
	assert_string_equal(err.text, text);
	return strbuf_str(&run.log);
}

/* Of a step that fails, this is all that comes after it. */
static void expect_after(const struct drive_options *options, const char *failing,
			 const char *expected)
{
	const char *after = strstr(log_of(options, failing), failing);

	assert_non_null(after);
	assert_string_equal(after + strlen(failing), expected);
}

/* What was opened is released, and nothing is begun. */
static void what_cannot_be_opened(void **state)
{
	static const char *const sources[] = { "init",	 "begin",  "fd",    "edge",
					       "timer0", "timer1", "timer2" };
	const struct drive_options options = { .command = argv, .progress = see_progress };

	(void)state;
	assert_string_equal(log_of(&options, "loop"), "loop restore no-loop ");
	assert_string_equal(log_of(&options, "prepare"), "loop prepare restore free-loop ");
	assert_string_equal(log_of(&options, "open"),
			    "loop prepare open forget release no-capture restore free-loop ");
	expect_after(&options, "snapshot", " forget release no-processes free restore free-loop ");
	expect_after(&options, "wait", " forget release no-processes free restore free-loop ");
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		expect_after(&options, sources[i], " forget release free restore free-loop ");
	expect_after(&options, "signals", " restore forget release free free-loop ");
	expect_after(&options, "timer3", " restore forget release free free-loop ");
}

/* It is sampled already: what there is is written, and the first reason told. */
static void what_fails_after_the_start(void **state)
{
	static const char *const steps[] = { "go", "deadline", "run" };
	const struct drive_options options = { .command = argv, .duration_ns = 1 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		expect_after(
			&options, steps[i],
			" restore look stop forget finish restore forget release free free-loop ");
	assert_non_null(strstr(log_of(&options, "finish"), "run restore look stop forget finish "));
}

static void a_flush(void)
{
	run.timers[1].fn(run.timers[1].data);
	assert_int_equal(run.quits, 1);
}

/* A full disk: the end cannot be written either. */
static void a_flush_that_fails(void **state)
{
	const struct drive_options options = { 0 };

	(void)state;
	run.in_loop = a_flush;
	assert_non_null(
		strstr(log_of(&options, "flush"),
		       "flush run restore stop forget restore forget release free free-loop "));
}

/* --- descriptors --- */

static rlim_t limit_of(rlim_t cur, rlim_t max)
{
	const struct drive_options options = { 0 };

	run.limits_set = 0;
	run.limit = (struct rlimit){ cur, max };
	assert_int_equal(record(&options), 0);
	assert_int_equal(run.limit.rlim_max, max);
	return run.limits_set ? run.limit.rlim_cur : 0;
}

static void more_descriptors(void **state)
{
	(void)state;
	assert_int_equal(limit_of(1024, 1 << 20), 65536);
	assert_int_equal(limit_of(1024, 4096), 4096);
	assert_int_equal(limit_of(65535, 65536), 65536);
	assert_int_equal(limit_of(65536, 1 << 20), 0);
	assert_int_equal(limit_of(1 << 20, 1 << 20), 0);
	run.limit_error = -1;
	assert_int_equal(limit_of(1024, 1 << 20), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_in_the_loop),
		TEST(what_it_does),
		TEST(only_its_commands_end_is_its_end),
		TEST(what_cannot_be_opened),
		TEST(what_fails_after_the_start),
		TEST(a_flush_that_fails),
		TEST(more_descriptors),
	};

	return cmocka_run_group_tests_name("drive_loop", tests, NULL, NULL);
}
