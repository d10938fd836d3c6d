// SPDX-License-Identifier: Apache-2.0
/* The last line of a recording, and --stats: nothing that was dropped is left out of them. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cmd/record_stats.h"

static void expect_line(const struct recorder_result *result, const char *wanted)
{
	const struct event_sums none = { 0 };
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

	record_stats_format_line(&line, "x.jfr", result, &none);
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

static void test_one_sample_each(void **state)
{
	const struct recorder_result result = {
		.samples = 0, .processes = 2, .jvms = 2, .capture = { .side_lost = 2 }
	};

	(void)state;
	expect_line(&result, "x.jfr: 0 samples, 2 processes, 2 JVMs, - complete stacks, 0 lost, "
			     "2 side-band records lost");
}

static void test_unknown_processes_only(void **state)
{
	struct recorder_result result = { .samples = 1, .complete = 1, .processes = 1, .lost = 9 };

	(void)state;
	result.capture.counters[WIRE_COUNTER_LOST_UNKNOWN] = 9;
	expect_line(&result, "x.jfr: 1 sample, 1 process, 0 JVMs, 100.00 % complete stacks, 9 lost "
			     "(9 of unknown processes)");
}

/* Of several events each has its figures; one event of bytes says so too. */
static void test_events_by_name(void **state)
{
	static char cpu[] = "cpu", alloc[] = "alloc", faults[] = "page-faults";
	static char ns[] = "nanoseconds", bytes[] = "bytes", counts[] = "count";
	struct event_sums_row rows[] = {
		{ cpu, ns, { 5369, 7, 0 } },
		{ alloc, bytes, { 1, 3 << 20, 9 } },
		{ faults, counts, { 0, 0, 0 } },
	};
	const struct recorder_result result = { .samples = 5370, .complete = 5370, .processes = 2 };
	static const char rest[] = ", 2 processes, 0 JVMs, 100.00 % complete stacks, 0 lost";

	static const struct {
		size_t first, count;
		const char *wanted;
	} cases[] = {
		{ 0, 3, "x.jfr: 5,369 cpu samples, 1 alloc sample (3 MB), 0 page-faults samples" },
		{ 1, 1, "x.jfr: 1 alloc sample (3 MB)" },
		{ 0, 1, "x.jfr: 5,370 samples" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_strbuf_ struct strbuf line = STRBUF_INIT, wanted = STRBUF_INIT;
		struct event_sums sums = { 0 };

		sums.rows.items = rows + cases[i].first;
		sums.rows.len = cases[i].count;
		strbuf_addf(&wanted, "%s%s", cases[i].wanted, rest);
		record_stats_format_line(&line, "x.jfr", &result, &sums);
		assert_string_equal(strbuf_str(&line), strbuf_str(&wanted));
	}
}

static const char every_figure[] = "{\n"
				   "  \"version\": \"" HOSTPROF_VERSION "\",\n"
				   "  \"start_ns\": 116,\n"
				   "  \"elapsed_ns\": 102,\n"
				   "  \"interrupted\": true,\n"
				   "  \"command_exit\": 7,\n"
				   "  \"samples\": 8000,\n"
				   "  \"complete\": 6000,\n"
				   "  \"complete_share\": 0.75,\n"
				   "  \"lost\": 101,\n"
				   "  \"process_count\": 103,\n"
				   "  \"jvms\": 104,\n"
				   "  \"jvms_with_agent\": 105,\n"
				   "  \"late_samples\": 109,\n"
				   "  \"merge_stall_ns\": 110,\n"
				   "  \"wall\": {\n"
				   "    \"late\": 117,\n"
				   "    \"refused\": 118,\n"
				   "    \"brokers_lost\": 119,\n"
				   "    \"first_pid\": 120,\n"
				   "    \"cpu_ns\": 121\n"
				   "  },\n"
				   "  \"readers\": {\n"
				   "    \"late\": 122,\n"
				   "    \"deaths\": 123,\n"
				   "    \"files_given_up\": 124,\n"
				   "    \"first_file\": \"/a/b\",\n"
				   "    \"cpu_ns\": 125\n"
				   "  },\n"
				   "  \"own_cpu_ns\": 106,\n"
				   "  \"peak_rss_bytes\": 107,\n"
				   "  \"memory_limit_bytes\": 108,\n"
				   "  \"reasons\": {\n"
				   "    \"complete\": 114,\n"
				   "    \"no-thread-start\": 115\n"
				   "  },\n"
				   "  \"losses\": {\n"
				   "    \"ring\": {\n"
				   "      \"samples\": 200,\n"
				   "      \"weight\": 300\n"
				   "    },\n"
				   "    \"nested\": {\n"
				   "      \"samples\": 201,\n"
				   "      \"weight\": 301\n"
				   "    },\n"
				   "    \"invalid\": {\n"
				   "      \"samples\": 202,\n"
				   "      \"weight\": 302\n"
				   "    },\n"
				   "    \"unknown\": {\n"
				   "      \"samples\": 403,\n"
				   "      \"weight\": 404\n"
				   "    }\n"
				   "  },\n"
				   "  \"capture\": {\n"
				   "    \"samples\": 400,\n"
				   "    \"lost\": 401,\n"
				   "    \"filtered\": 402,\n"
				   "    \"lost_unknown\": 403,\n"
				   "    \"lost_unknown_weight\": 404,\n"
				   "    \"gaps\": 405,\n"
				   "    \"gap_ns\": 406,\n"
				   "    \"no_books\": 407,\n"
				   "    \"misses\": 408,\n"
				   "    \"misses_dropped\": 409,\n"
				   "    \"row_frames\": 410,\n"
				   "    \"hot_frames\": 411,\n"
				   "    \"fp_frames\": 412,\n"
				   "    \"jit_frames\": 413,\n"
				   "    \"java_frames\": 414,\n"
				   "    \"java_hot_frames\": 415,\n"
				   "    \"anchors\": 416,\n"
				   "    \"frozen\": 417,\n"
				   "    \"frozen_frames\": 418,\n"
				   "    \"misses_cut\": 419,\n"
				   "    \"misses_bytes\": 420,\n"
				   "    \"misses_ns\": 421,\n"
				   "    \"inferred_frames\": 422,\n"
				   "    \"new_code\": 423,\n"
				   "    \"read_frames\": 424,\n"
				   "    \"not_kept\": 425,\n"
				   "    \"offcpu_spans\": 426,\n"
				   "    \"offcpu_taken\": 427,\n"
				   "    \"offcpu_short\": 428,\n"
				   "    \"offcpu_ns\": 429,\n"
				   "    \"offcpu_late\": 430,\n"
				   "    \"offcpu_no_books\": 431,\n"
				   "    \"receivers\": 432,\n"
				   "    \"receivers_unknown\": 433,\n"
				   "    \"compiling\": 434,\n"
				   "    \"compiling_unknown\": 435,\n"
				   "    \"contention_waits\": 436,\n"
				   "    \"contention_ns\": 437,\n"
				   "    \"contention_ours\": 438,\n"
				   "    \"contention_no_books\": 439,\n"
				   "    \"offcpu_virtual\": 440,\n"
				   "    \"offcpu_virtual_unseen\": 441,\n"
				   "    \"offcpu_wakers\": 442,\n"
				   "    \"offcpu_wakers_dropped\": 443,\n"
				   "    \"lock_wakers\": 444,\n"
				   "    \"lock_wakers_dropped\": 445,\n"
				   "    \"lock_yields\": 446,\n"
				   "    \"lock_yields_unseen\": 447,\n"
				   "    \"side_lost\": 111,\n"
				   "    \"unobserved_ns\": 118,\n"
				   "    \"suspended_ns\": 119,\n"
				   "    \"throttled_times\": 120,\n"
				   "    \"throttled_ns\": 121,\n"
				   "    \"bpf_run_ns\": 1000,\n"
				   "    \"bpf_run_count\": 800,\n"
				   "    \"bpf_ns_per_run\": 1.25,\n"
				   "    \"map_bytes\": 112,\n"
				   "    \"cpus\": 113\n"
				   "  },\n"
				   "  \"events\": [\n"
				   "    {\n"
				   "      \"name\": \"cpu\",\n"
				   "      \"unit\": \"nanoseconds\",\n"
				   "      \"period\": 1010,\n"
				   "      \"samples\": 41,\n"
				   "      \"weight\": 501,\n"
				   "      \"objects\": 0\n"
				   "    },\n"
				   "    {\n"
				   "      \"name\": \"alloc\",\n"
				   "      \"unit\": \"bytes\",\n"
				   "      \"period\": 0,\n"
				   "      \"samples\": 42,\n"
				   "      \"weight\": 502,\n"
				   "      \"objects\": 43\n"
				   "    }\n"
				   "  ],\n"
				   "  \"processes\": [\n"
				   "    {\n"
				   "      \"pid\": 4242,\n"
				   "      \"name\": \"java\",\n"
				   "      \"start_ns\": 123456789,\n"
				   "      \"exec_count\": 3,\n"
				   "      \"exe\": \"/usr/bin/java\",\n"
				   "      \"container\": \"c0ffee\",\n"
				   "      \"container_name\": \"shop\",\n"
				   "      \"container_image\": \"acme/shop:3\",\n"
				   "      \"cgroup\": \"/system.slice\",\n"
				   "      \"jvm_version\": \"25.0.3\",\n"
				   "      \"main_class\": \"com.acme.Main\",\n"
				   "      \"event\": \"cpu\",\n"
				   "      \"samples\": 40,\n"
				   "      \"complete\": 30,\n"
				   "      \"complete_share\": 0.75,\n"
				   "      \"roots\": 41,\n"
				   "      \"starts\": 41,\n"
				   "      \"starts_share\": 1,\n"
				   "      \"weight\": 500,\n"
				   "      \"lost\": 6,\n"
				   "      \"lost_weight\": 70\n"
				   "    },\n"
				   "    {\n"
				   "      \"pid\": 2,\n"
				   "      \"name\": \"kthreadd\",\n"
				   "      \"start_ns\": 0,\n"
				   "      \"exec_count\": 0,\n"
				   "      \"exe\": null,\n"
				   "      \"container\": null,\n"
				   "      \"container_name\": null,\n"
				   "      \"container_image\": null,\n"
				   "      \"cgroup\": null,\n"
				   "      \"jvm_version\": null,\n"
				   "      \"main_class\": null,\n"
				   "      \"event\": \"cpu\",\n"
				   "      \"samples\": 0,\n"
				   "      \"complete\": 0,\n"
				   "      \"complete_share\": 0,\n"
				   "      \"roots\": 0,\n"
				   "      \"starts\": 0,\n"
				   "      \"starts_share\": 0,\n"
				   "      \"weight\": 0,\n"
				   "      \"lost\": 0,\n"
				   "      \"lost_weight\": 0\n"
				   "    }\n"
				   "  ],\n"
				   "  \"counters\": [\n"
				   "    {\n"
				   "      \"name\": \"unwind.budget\",\n"
				   "      \"detail\": null,\n"
				   "      \"value\": 9\n"
				   "    },\n"
				   "    {\n"
				   "      \"name\": \"symbols.file-vanished\",\n"
				   "      \"detail\": \"/tmp/gone\",\n"
				   "      \"value\": 8\n"
				   "    }\n"
				   "  ]\n"
				   "}\n";

/* Every figure another number, so that none can stand for another one. */
static struct recorder_result one_of_each(void)
{
	struct recorder_result r = { .samples = 8000,
				     .complete = 6000,
				     .lost = 101,
				     .start_ns = 116,
				     .elapsed_ns = 102,
				     .processes = 103,
				     .jvms = 104,
				     .jvms_with_agent = 105,
				     .interrupted = true,
				     .exit_status = 7 << 8,
				     .own_cpu_ns = 106,
				     .peak_rss_bytes = 107,
				     .memory_limit_bytes = 108,
				     .late_samples = 109,
				     .merge_stall_ns = 110,
				     .wall = { .late = 117,
					       .refused = 118,
					       .lost = 119,
					       .first_pid = 120,
					       .cpu_ns = 121 },
				     .readers = { .late = 122,
						  .deaths = 123,
						  .refused = 124,
						  .first = "/a/b",
						  .cpu_ns = 125 },
				     .capture = { .side_lost = 111,
						  .unobserved_ns = 118,
						  .suspended_ns = 119,
						  .throttled_times = 120,
						  .throttled_ns = 121,
						  .bpf_run_ns = 1000,
						  .bpf_run_count = 800,
						  .map_bytes = 112,
						  .cpus = 113 } };

	r.reasons[0] = 114;
	r.reasons[UNWIND_REASON_COUNT - 1] = 115;
	for (unsigned int i = 0; i < WIRE_LOSS_COUNT; i++)
		r.losses[i] = (struct ledger_loss){ 200 + i, 300 + i };
	for (unsigned int i = 0; i < WIRE_COUNTER_COUNT; i++)
		r.capture.counters[i] = 400 + i;
	return r;
}

static void fill_profile(struct profile *p)
{
	struct profile_event cpu = { profile_string(p, "cpu"), profile_string(p, "nanoseconds"),
				     1010 };
	struct profile_event alloc = { profile_string(p, "alloc"), profile_string(p, "bytes"), 0 };
	struct profile_process java = { 4242,
					3,
					123456789,
					profile_string(p, "java"),
					profile_string(p, "/usr/bin/java"),
					profile_string(p, "c0ffee"),
					profile_string(p, "/system.slice"),
					profile_string(p, "25.0.3"),
					profile_string(p, "com.acme.Main"),
					profile_string(p, "shop"),
					profile_string(p, "acme/shop:3") };
	struct profile_process kernel = { .pid = 2, .name = profile_string(p, "kthreadd") };
	struct profile_quality quality = { .event = profile_event(p, &cpu),
					   .samples = 40,
					   .complete = 30,
					   .weight = 500,
					   .lost = 6,
					   .lost_weight = 70 };

	struct profile_frame root = { .name = profile_string(p, "clone3") };
	struct profile_thread thread = { .tid = 1 };
	uint32_t frame = profile_frame(p, &root);

	quality.process = thread.process = profile_process(p, &java);
	profile_stack(p, &frame, 1);
	profile_thread(p, &thread);
	profile_add_quality(p, &quality);
	quality = (struct profile_quality){ .process = profile_process(p, &kernel) };
	profile_add_quality(p, &quality);
	profile_add_counter(p, "unwind.budget", "", 9);
	profile_add_counter(p, "symbols.file-vanished", "/tmp/gone", 8);
	profile_add(p, &(struct profile_sample){ .weight = 501, .count = 41 });
	profile_add(p, &(struct profile_sample){ .weight = 502,
						 .count = 42,
						 .objects = 43,
						 .event = profile_event(p, &alloc) });
}

/* What is written for RESULT; caller frees. */
static char *written(const struct recorder_result *result, const struct profile *p)
{
	char path[] = "/tmp/hostprof-test-XXXXXX";
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct err err = { 0 };
	int fd = mkstemp(path);

	assert_int_equal(record_stats_write(path, result, p, &err), 0);
	assert_int_equal(file_read(path, 65536, &text), 0);
	unlink(path);
	close(fd);
	return strbuf_take(&text);
}

static void test_every_figure_is_written(void **state)
{
	struct recorder_result result = one_of_each();
	struct profile p;
	char *text;

	(void)state;
	profile_init(&p);
	fill_profile(&p);
	text = written(&result, &p);
	assert_string_equal(text, every_figure);
	free(text);
	profile_release(&p);
}

static void test_nothing_was_taken(void **state)
{
	struct recorder_result result = { .exit_status = 9 };
	struct profile p;
	char *text;

	(void)state;
	profile_init(&p);
	text = written(&result, &p);
	assert_non_null(strstr(text, "\"command_signal\": 9,"));
	assert_null(strstr(text, "command_exit"));
	assert_non_null(strstr(text, "\"complete_share\": 0,"));
	assert_non_null(strstr(text, "\"bpf_ns_per_run\": 0,"));
	assert_non_null(strstr(text, "\"interrupted\": false,"));
	assert_non_null(strstr(text, "\"reasons\": {},"));
	assert_non_null(strstr(text, "\"processes\": [],"));
	free(text);
	profile_release(&p);
}

static void test_no_place_to_write(void **state)
{
	struct recorder_result result = { 0 };
	struct err err = { 0 };
	struct profile p;

	(void)state;
	profile_init(&p);
	assert_int_equal(record_stats_write("/nonexistent/x", &result, &p, &err), -ENOENT);
	assert_int_equal(record_stats_write("/dev/full", &result, &p, &err), -ENOSPC);
	assert_string_equal(err.text, "cannot write /dev/full: No space left on device");
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_lost),
		cmocka_unit_test(test_lost_from_rings),
		cmocka_unit_test(test_every_loss_is_told),
		cmocka_unit_test(test_one_other_loss),
		cmocka_unit_test(test_one_sample_each),
		cmocka_unit_test(test_unknown_processes_only),
		cmocka_unit_test(test_events_by_name),
		cmocka_unit_test(test_every_figure_is_written),
		cmocka_unit_test(test_nothing_was_taken),
		cmocka_unit_test(test_no_place_to_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
