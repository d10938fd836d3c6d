// SPDX-License-Identifier: Apache-2.0
/* The last line of a recording: nothing that was dropped is left out of it. */
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "cmd/record_stats.h"

static void expect_line(const struct recorder_result *result, const char *wanted)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

	record_stats_format_line(&line, "x.jfr", result);
	assert_string_equal(strbuf_str(&line), wanted);
}

static void test_nothing_lost(void **state)
{
	const struct recorder_result result = {
		.samples = 2000, .complete = 1999, .processes = 2, .jvms = 1, .jvms_with_agent = 1
	};

	(void)state;
	expect_line(&result,
		    "x.jfr: 2,000 samples, 2 processes, 1 JVM (1 with agent), 99.95 % complete "
		    "stacks, 0 lost");
}

static void test_lost_from_rings(void **state)
{
	struct recorder_result result = { .samples = 1, .complete = 1, .processes = 1, .lost = 7 };

	(void)state;
	result.losses[WIRE_LOSS_RING].count = 7;
	expect_line(&result,
		    "x.jfr: 1 sample, 1 process, 0 JVMs, 100.00 % complete stacks, 7 lost");
}

static void test_every_loss_is_told(void **state)
{
	struct recorder_result result = { .samples = 10,
					  .complete = 10,
					  .processes = 1,
					  .lost = 1017,
					  .late_samples = 4,
					  .capture = { .side_lost = 1 } };

	(void)state;
	result.losses[WIRE_LOSS_RING].count = 7;
	result.losses[WIRE_LOSS_NESTED].count = 3;
	result.losses[WIRE_LOSS_INVALID].count = 2;
	result.capture.counters[WIRE_COUNTER_LOST_UNKNOWN] = 1005;
	expect_line(&result,
		    "x.jfr: 10 samples, 1 process, 0 JVMs, 100.00 % complete stacks, "
		    "1,017 lost (7 ring, 3 nested, 2 invalid, 1,005 of unknown processes), "
		    "4 late, 1 side-band record lost");
}

static void test_one_other_loss(void **state)
{
	struct recorder_result result = { .samples = 1, .complete = 1, .processes = 1, .lost = 3 };

	(void)state;
	result.losses[WIRE_LOSS_NESTED].count = 3;
	expect_line(&result, "x.jfr: 1 sample, 1 process, 0 JVMs, 100.00 % complete stacks, 3 lost "
			     "(3 nested)");
}

/* When and how long, for whoever compares with other clocks. */
static void test_start_and_length_are_written(void **state)
{
	const struct recorder_result result = { .start_ns = 7000000001, .elapsed_ns = 5000000002 };
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[] = "/tmp/hostprof-stats-XXXXXX";
	struct profile profile;
	struct err err = { 0 };
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	profile_init(&profile);
	assert_int_equal(record_stats_write(path, &result, &profile, &err), 0);
	profile_release(&profile);
	assert_int_equal(file_read(path, 1 << 20, &text), 0);
	unlink(path);
	assert_non_null(strstr(strbuf_str(&text), "\"start_ns\": 7000000001,"));
	assert_non_null(strstr(strbuf_str(&text), "\"elapsed_ns\": 5000000002,"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_lost),
		cmocka_unit_test(test_lost_from_rings),
		cmocka_unit_test(test_every_loss_is_told),
		cmocka_unit_test(test_one_other_loss),
		cmocka_unit_test(test_start_and_length_are_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
