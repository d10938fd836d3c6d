// SPDX-License-Identifier: Apache-2.0
/* A recorder on a loop whose time is the test's: how often it turns, and that it leaves. */
#include "recorder_steps.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"

static unsigned int sink_turns;
static int sink_error;

static int sink_turn(void *self, struct err *turn_err)
{
	(void)self;
	sink_turns++;
	return sink_error ? err_set(turn_err, sink_error, "nobody reads") : 0;
}

static void sink_arrived(void *self, const struct profile *profile,
			 const struct sink_sample *sample)
{
	(void)self, (void)profile, (void)sample;
	fail();
}

static const struct sink_ops calm_ops = { .turn = sink_turn };
static const struct sink_ops hurried_ops = { .turn = sink_turn, .arrived = sink_arrived };

static struct recorder *open_with(struct recorder_options *options, const struct sink_ops *ops)
{
	struct recorder *recorder = NULL;

	*options = (struct recorder_options){ 0 };
	sinks_add(&options->sinks, (struct sink){ ops, NULL });
	sink_turns = 0;
	sink_error = 0;
	assert_int_equal(recorder_open(options, LOOP, &recorder, &err), 0);
	assert_ptr_equal(recorder, run.recorder);
	recorder_start(recorder);
	return recorder;
}

static void turn(struct recorder *recorder, uint64_t after_ns, unsigned int turns,
		 unsigned int drains)
{
	fake_advance(after_ns);
	recorder_turn(recorder);
	assert_int_equal(run.turns, turns);
	assert_int_equal(run.drains, drains);
	assert_int_equal(sink_turns, turns + drains);
}

/* The rest of a turn is wanted every 50 ms, and the timer comes every 20 ms. */
static void a_hurried_turn_is_a_drain(void **state)
{
	struct recorder_options options;
	struct recorder *recorder = open_with(&options, &hurried_ops);

	(void)state;
	assert_int_equal(run.timers[0].period_ns, 20 * MS);
	turn(recorder, 60 * MS, 1, 0);
	turn(recorder, 20 * MS, 1, 1);
	turn(recorder, 10 * MS - 1, 1, 2);
	turn(recorder, 1, 2, 2);
	turn(recorder, 30 * MS, 3, 2);
	recorder_free(recorder);
}

static void a_calm_turn_is_whole(void **state)
{
	struct recorder_options options;
	struct recorder *recorder = open_with(&options, &calm_ops);

	(void)state;
	assert_int_equal(run.timers[0].period_ns, 50 * MS);
	turn(recorder, 0, 1, 0);
	turn(recorder, 0, 2, 0);
	turn(recorder, 1, 3, 0);
	recorder_free(recorder);
}

/* Half as many, where next to nothing comes, and as many again when it does. */
static void turns_of_a_calm_host(void **state)
{
	const struct {
		bool is_calm;
		uint64_t period_ns;
	} turns[] = { { false, 50 * MS }, { true, 100 * MS }, { true, 100 * MS },
		      { false, 50 * MS }, { false, 50 * MS }, { true, 100 * MS } };
	struct recorder_options options;
	struct recorder *recorder = open_with(&options, &calm_ops);
	const struct timer *timer = &run.timers[0];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(turns); i++) {
		run.is_calm = turns[i].is_calm;
		fake_advance(timer->period_ns);
		timer->fn(timer->data);
		assert_int_equal(run.turns, i + 1);
		assert_int_equal(timer->period_ns, turns[i].period_ns);
	}
	assert_int_equal(run.drains, 0);
	run.is_calm = false;
	recorder_free(recorder);
}

/* Who empties the rings meanwhile is told what the loop does. */
static void while_the_loop_waits(void **state)
{
	struct recorder_options options;
	struct recorder *recorder = open_with(&options, &calm_ops);

	(void)state;
	run.waits_told = 0;
	for (unsigned int i = 0; i < 4; i++) {
		run.on_wait(i % 2, run.recorder);
		assert_int_equal(run.waits, i % 2);
	}
	assert_int_equal(run.waits_told, 4);
	recorder_free(recorder);
}

/* One that is hurried is as often as ever. */
static void turns_of_a_calm_host_in_a_hurry(void **state)
{
	struct recorder_options options;
	struct recorder *recorder = open_with(&options, &hurried_ops);

	(void)state;
	run.is_calm = true;
	fake_advance(60 * MS);
	run.timers[0].fn(run.timers[0].data);
	fake_advance(20 * MS);
	run.timers[0].fn(run.timers[0].data);
	assert_int_equal(run.turns, 1);
	assert_int_equal(run.drains, 1);
	assert_int_equal(run.timers[0].period_ns, 20 * MS);
	run.is_calm = false;
	recorder_free(recorder);
}

/* In a turn, in one that only drains, and when the rings say so: the loop ends, and it is told. */
static void a_sink_that_fails(void **state)
{
	struct recorder_options options;
	struct recorder_result result;

	(void)state;
	for (int way = 0; way < 3; way++) {
		struct recorder *recorder;

		run.quits = run.timer_count = 0;
		recorder = open_with(&options, &hurried_ops);
		fake_advance(60 * MS);
		recorder_turn(recorder);
		assert_int_equal(run.quits, 0);
		sink_error = -EPIPE;
		if (way == 0)
			fake_advance(60 * MS);
		if (way < 2)
			recorder_turn(recorder);
		else
			run.on_fd(run.recorder);
		assert_int_equal(run.quits, 1);
		strbuf_reset(&run.log);
		assert_int_equal(recorder_finish(recorder, &result, &err), -EPIPE);
		assert_string_equal(err.text, "nobody reads");
		assert_string_equal(strbuf_str(&run.log), "stop forget ");
		recorder_free(recorder);
	}
}

/* Allocates all there is: returns how a process ends whose recorder then turns and finishes. */
static void run_out_of_memory(void)
{
	struct rlimit limit = { 256U << 20, 256U << 20 };
	struct recorder_options options;
	struct recorder *recorder = open_with(&options, &calm_ops);
	struct recorder_result result;

	recorder_turn(recorder);
	if (run.quits || prlimit(0, RLIMIT_AS, &limit, NULL))
		_exit(2);
	while (!alloc_is_short())
		xmalloc(1 << 20);
	recorder_turn(recorder);
	if (run.quits != 1)
		_exit(3);
	strbuf_reset(&run.log);
	if (recorder_finish(recorder, &result, &err) != -ENOMEM)
		_exit(4);
	if (strcmp(strbuf_str(&run.log), "stop forget finish ") != 0)
		_exit(5);
	recorder_free(recorder);
	_exit(alloc_is_short() ? 6 : 0);
}

/* The loop ends, and all that was taken goes to the sinks. */
static void memory_runs_out(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	if (SANITIZED) /* its addresses are no measure of memory */
		skip();
	pid = fork();
	if (pid == 0)
		run_out_of_memory();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Those of virtual threads are looked for wherever waits are wanted. */
static void waits(void **state)
{
	static const struct {
		struct capture_event event;
		bool waits, locks;
	} rows[] = {
		{ { .trigger = WIRE_TRIGGER_PERF }, false, false },
		{ { .trigger = WIRE_TRIGGER_OFFCPU }, true, false },
		{ { .trigger = WIRE_TRIGGER_PERF, .is_wall = true }, true, false },
		{ { .trigger = WIRE_TRIGGER_OFFCPU, .only_locks = true }, false, false },
		{ { .trigger = WIRE_TRIGGER_LOCK_AGENT }, false, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct recorder_options options = { .capture = { .events = &rows[i].event,
								 .event_count = 1 } };
		struct recorder *recorder = NULL;

		assert_int_equal(recorder_open(&options, LOOP, &recorder, &err), 0);
		assert_int_equal(run.samples_waits, rows[i].waits);
		assert_int_equal(run.samples_locks, rows[i].locks);
		recorder_free(recorder);
		run.timer_count = 0;
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_hurried_turn_is_a_drain),
		TEST(a_calm_turn_is_whole),
		TEST(turns_of_a_calm_host),
		TEST(while_the_loop_waits),
		TEST(turns_of_a_calm_host_in_a_hurry),
		TEST(a_sink_that_fails),
		TEST(memory_runs_out),
		TEST(waits),
	};

	return cmocka_run_group_tests_name("recorder_loop", tests, NULL, NULL);
}
