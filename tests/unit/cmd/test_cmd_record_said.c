// SPDX-License-Identifier: Apache-2.0
/* record: what is said of a run that is the test's. */
#include "record_world.h"

#include "terminal.h"

static void statistics(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	(void)state;
	expect("record -o a.jfr --stats a.json", "hostprof: a.jfr: " LAST_LINE "exit 0\n");
	assert_int_equal(file_read("a.json", 65536, &text), 0);
	assert_non_null(strstr(strbuf_str(&text), "\"samples\": 12,"));
	assert_non_null(strstr(strbuf_str(&text), "\"main_class\": \"com.acme.Main\""));
	expect("record -o a.jfr --stats /dev/full",
	       "hostprof: cannot write /dev/full: No space left on device\n"
	       "exit 1\n");
	assert_string_equal(names_left(), "a.jfr a.json ");
}

static void end_of_the_command(void **state)
{
	(void)state;
	result.exit_status = 3 << 8;
	expect("record -o a.jfr -- prog x", "hostprof: prog ended with exit code 3\n"
					    "hostprof: a.jfr: " LAST_LINE "exit 0\n");
	expect("record -o a.jfr", "hostprof: a.jfr: " LAST_LINE "exit 0\n");
	result.exit_status = 9;
	expect("record -o a.jfr -- prog x", "hostprof: prog ended by signal 9\n"
					    "hostprof: a.jfr: " LAST_LINE "exit 0\n");
	result.exit_status = 0;
	expect("record -o a.jfr -- prog x", "hostprof: a.jfr: " LAST_LINE "exit 0\n");
	names_left();
}

static void agents_and_inlining(void **state)
{
	(void)state;
	result.jvms = 2;
	result.jvms_with_agent = 1;
	expect("record -o a.jfr",
	       "hostprof: a.jfr: 12 cpu samples, 1 alloc sample (4 kB), 1 live sample (1 kB), 2 processes, 2 JVMs (1 with agent), 83.33 % complete stacks, 1 lost (1 of unknown processes)\n"
	       "exit 0\n");
	result.jvms_without_inlining = 1;
	expect("record -o a.jfr",
	       "hostprof: 1 JVM does not tell from outside what was inlined; --agent=always shows it\n"
	       "hostprof: a.jfr: 12 cpu samples, 1 alloc sample (4 kB), 1 live sample (1 kB), 2 processes, 2 JVMs (1 with agent), 83.33 % complete stacks, 1 lost (1 of unknown processes)\n"
	       "exit 0\n");
	result.jvms_without_inlining = 2;
	expect("record -o a.jfr",
	       "hostprof: 2 JVMs do not tell from outside what was inlined; --agent=always shows it\n"
	       "hostprof: a.jfr: 12 cpu samples, 1 alloc sample (4 kB), 1 live sample (1 kB), 2 processes, 2 JVMs (1 with agent), 83.33 % complete stacks, 1 lost (1 of unknown processes)\n"
	       "exit 0\n");
	result.jvms_without_inlining = 0;
	result.agents_refused = 1;
	result.refused_pid = 42;
	snprintf(result.refusal, sizeof(result.refusal), "it runs with -Xrs");
	expect("record -o a.jfr",
	       "hostprof: warning: JVM 42: it runs with -Xrs; its code is named from outside\n"
	       "hostprof: a.jfr: 12 cpu samples, 1 alloc sample (4 kB), 1 live sample (1 kB), 2 processes, 2 JVMs (1 with agent), 83.33 % complete stacks, 1 lost (1 of unknown processes)\n"
	       "exit 0\n");
	result.agents_refused = 2;
	expect("record -o a.jfr",
	       "hostprof: warning: JVM 42: it runs with -Xrs (and other JVMs, see the report); its code is named from outside\n"
	       "hostprof: a.jfr: 12 cpu samples, 1 alloc sample (4 kB), 1 live sample (1 kB), 2 processes, 2 JVMs (1 with agent), 83.33 % complete stacks, 1 lost (1 of unknown processes)\n"
	       "exit 0\n");
	result.agents_refused = 0;
	result.jvms_with_agent = 2;
	expect("record -o a.jfr",
	       "hostprof: a.jfr: 12 cpu samples, 1 alloc sample (4 kB), 1 live sample (1 kB), 2 processes, 2 JVMs (2 with agent), 83.33 % complete stacks, 1 lost (1 of unknown processes)\n"
	       "exit 0\n");
	names_left();
}

static void time_that_nobody_saw(void **state)
{
	(void)state;
	result.capture.unobserved_ns = 1200000000;
	result.capture.unobserved_times = 2;
	result.capture.suspended_ns = 90000000000;
	result.capture.throttled_times = 3;
	expect("record -o a.jfr",
	       "hostprof: warning: cpus went offline and came back: up to 1.2 s of them were not observed\n"
	       "hostprof: warning: the kernel stopped events 3 times that came too fast (kernel.perf_event_max_sample_rate)\n"
	       "hostprof: warning: the host was suspended for 90 s\n"
	       "hostprof: a.jfr: " LAST_LINE "exit 0\n");
	names_left();
}

static void what_is_in_no_sample(void **state)
{
	struct capture_event_figures *figures = &result.capture.events[0];

	(void)state;
	*figures = (struct capture_event_figures){ 1000, 29, 1000, 971 };
	expect("record -o a.jfr -e page-faults", "hostprof: a.jfr: " LAST_LINE "exit 0\n");
	*figures = (struct capture_event_figures){ 1000, 30, 1000, 500 };
	expect("record -o a.jfr -e page-faults",
	       "hostprof: warning: 3 % of what 'page-faults' counted is in no sample: it came too fast, or other BPF programs were running\n"
	       "hostprof: warning: 'page-faults' did not count for 50 % of the time: there are more events than the cpu has counters\n"
	       "hostprof: a.jfr: " LAST_LINE "exit 0\n");
	names_left();
}

static void a_counter_that_is_not_there(void **state)
{
	(void)state;
	expect("record -o a.jfr -e cycles",
	       capture_has_pmu()
		       ? "hostprof: a.jfr: " LAST_LINE "exit 0\n"
		       : "hostprof: warning: there is no hardware counter (PMU) here: cycles is "
			 "sampled by cpu-clock\nhostprof: a.jfr: " LAST_LINE "exit 0\n");
	names_left();
}

/* What the terminal of standard error got, on standard output. */
static int with_progress(int argc, char **argv)
{
	char buf[4096];
	ssize_t n;
	int rc;

	dup2(terminal_open(), STDERR_FILENO);
	rc = cmd_record(argc, argv);
	fcntl(terminal_master, F_SETFL, O_NONBLOCK);
	while ((n = read(terminal_master, buf, sizeof(buf))) > 0)
		if (write(STDOUT_FILENO, buf, (size_t)n) != n)
			return 99;
	return rc;
}

static void progress_on_a_terminal(void **state)
{
	(void)state;
	shows_progress = true;
	progress = (struct drive_progress){
		.elapsed_ns = 12345678901,
		.duration_ns = 60000000000,
		.figures = { .samples = 1234, .lost = 5678, .processes = 9, .jvms = 8 },
	};
	assert_string_equal(command_run(with_progress, "record -o a.jfr"),
			    "\r\033[K12.3 s of 60 s: 1,234 samples, 9 processes, 8 JVMs, 5,678 lost"
			    "\r\033[Khostprof: a.jfr: " LAST "\r\nexit 0\n");
	progress.duration_ns = 0;
	assert_non_null(strstr(command_run(with_progress, "record -o a.jfr"),
			       "\033[K12.3 s: 1,234 samples"));
	names_left();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(statistics, set_up),
		cmocka_unit_test_setup(end_of_the_command, set_up),
		cmocka_unit_test_setup(agents_and_inlining, set_up),
		cmocka_unit_test_setup(time_that_nobody_saw, set_up),
		cmocka_unit_test_setup(what_is_in_no_sample, set_up),
		cmocka_unit_test_setup(a_counter_that_is_not_there, set_up),
		cmocka_unit_test_setup(progress_on_a_terminal, set_up),
	};

	return cmocka_run_group_tests_name("cmd_record_said", tests, make_dir, remove_dir);
}
