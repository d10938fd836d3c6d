// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "capture/event.h"

static struct capture_event parse(const char *name, uint32_t hz)
{
	struct capture_event event;
	struct err err = { 0 };

	if (capture_event_parse(name, hz, &event, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	assert_string_equal(event.name, name);
	return event;
}

static void test_cpu_has_a_fixed_period(void **state)
{
	struct capture_event e = parse("cpu", 997);

	(void)state;
	assert_int_equal(e.type, PERF_TYPE_SOFTWARE);
	assert_int_equal(e.config, PERF_COUNT_SW_CPU_CLOCK);
	assert_int_equal(e.period, 1000000000 / 997);
	assert_int_equal(e.freq_hz, 0);
	assert_string_equal(e.unit, "nanoseconds");
	assert_true(capture_event_is_clock(&e));
	assert_false(e.fell_back);
	assert_int_equal(parse("cpu-clock", 1).period, 1000000000);
	assert_int_equal(parse("cpu-clock", 20000).period, 50000);
	assert_int_equal(parse("task-clock", 99).config, PERF_COUNT_SW_TASK_CLOCK);
}

static void test_software_events_count(void **state)
{
	struct capture_event e = parse("page-faults", 99);

	(void)state;
	assert_int_equal(e.config, PERF_COUNT_SW_PAGE_FAULTS);
	assert_int_equal(e.period, 64);
	assert_int_equal(parse("page-faults", 9999).period, 64);
	assert_int_equal(parse("major-faults", 99).period, 1);
	assert_string_equal(e.unit, "count");
	assert_false(capture_event_is_clock(&e));
	assert_int_equal(parse("minor-faults", 99).config, PERF_COUNT_SW_PAGE_FAULTS_MIN);
	assert_int_equal(parse("major-faults", 99).config, PERF_COUNT_SW_PAGE_FAULTS_MAJ);
	assert_int_equal(parse("context-switches", 99).config, PERF_COUNT_SW_CONTEXT_SWITCHES);
	assert_int_equal(parse("cpu-migrations", 99).config, PERF_COUNT_SW_CPU_MIGRATIONS);
}

/* The same event where there is a PMU, the clock and a note where there is none. */
static void expect_hardware(const char *name, uint32_t type, uint64_t config)
{
	struct capture_event e = parse(name, 250);

	if (capture_has_pmu()) {
		assert_int_equal(e.type, type);
		assert_int_equal(e.config, config);
		assert_int_equal(e.freq_hz, 250);
		assert_string_equal(e.unit, "count");
		assert_false(e.fell_back);
	} else {
		assert_true(e.fell_back);
		assert_true(capture_event_is_clock(&e));
		assert_int_equal(e.period, 4000000);
		assert_int_equal(e.freq_hz, 0);
		assert_string_equal(e.unit, "nanoseconds");
	}
}

static void test_hardware_events(void **state)
{
	(void)state;
	expect_hardware("cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	expect_hardware("instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	expect_hardware("cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES);
	expect_hardware("cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES);
	expect_hardware("branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	expect_hardware("branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES);
	expect_hardware("r1a8", PERF_TYPE_RAW, 0x1a8);
	expect_hardware("rFFFFFFFFFFFFFFFF", PERF_TYPE_RAW, UINT64_MAX);
}

static void test_probes_weigh_one(void **state)
{
	struct capture_event e;

	(void)state;
	if (access("/sys/bus/event_source/devices/uprobe", F_OK) != 0)
		skip();
	e = parse("uprobe:libc.so.6:malloc", 997);
	assert_int_equal(e.trigger, WIRE_TRIGGER_UPROBE);
	assert_int_equal(e.period, 1);
	assert_int_equal(e.freq_hz, 0);
	assert_string_equal(e.unit, "count");
	assert_string_equal(e.probe.function, "malloc");
	assert_false(capture_event_is_clock(&e));
	assert_false(e.fell_back);
}

static void test_allocations_have_an_interval(void **state)
{
	struct capture_event e = parse("alloc", 997), other;
	struct err err = { 0 };

	(void)state;
	assert_true(capture_event_is_alloc(&e));
	assert_false(capture_event_is_clock(&e));
	assert_int_equal(e.period, 524288);
	assert_int_equal(e.freq_hz, 0);
	assert_string_equal(e.unit, "bytes");
	assert_int_equal(capture_event_parse("alloc=64k", 99, &other, &err), 0);
	assert_string_equal(other.name, "alloc");
	assert_int_equal(other.period, 65536);
	assert_int_equal(capture_event_parse("alloc=1k", 99, &other, &err), 0);
	assert_int_equal(capture_event_parse("alloc=1G", 99, &other, &err), 0);
	assert_false(
		capture_event_is_alloc(&(struct capture_event){ .trigger = WIRE_TRIGGER_RAW }));
}

static void test_waits_have_a_least_length(void **state)
{
	struct capture_event e = parse("offcpu", 997), other;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(e.trigger, WIRE_TRIGGER_OFFCPU);
	assert_int_equal(e.least_ns, 1000000);
	assert_int_equal(e.period, 0);
	assert_int_equal(e.freq_hz, 0);
	assert_string_equal(e.unit, "nanoseconds");
	assert_false(capture_event_is_clock(&e));
	assert_int_equal(capture_event_parse("offcpu=20us", 99, &other, &err), 0);
	assert_string_equal(other.name, "offcpu");
	assert_int_equal(other.least_ns, 20000);
	assert_int_equal(capture_event_parse("offcpu=0", 99, &other, &err), 0);
	assert_int_equal(other.least_ns, 0);
	assert_int_equal(capture_event_parse("offcpu=60s", 99, &other, &err), 0);
	for (unsigned int t = 0; t < WIRE_TRIGGER_COUNT; t++)
		assert_int_equal(capture_event_needs(&e, (enum wire_trigger)t),
				 t == WIRE_TRIGGER_OFFCPU || t == WIRE_TRIGGER_OFFCPU_WAKING ||
					 t == WIRE_TRIGGER_OFFCPU_WAKER ||
					 t == WIRE_TRIGGER_OFFCPU_YIELD);
	/* No virtual thread waits for a mutex without its carrier. */
	other = parse("nativelock", 99);
	assert_true(capture_event_has_waits(&other));
	assert_false(capture_event_needs(&other, WIRE_TRIGGER_OFFCPU_YIELD));
}

static void test_wall_is_a_clock_with_waits(void **state)
{
	struct capture_event e = parse("wall", 997), other;
	struct err err = { 0 };

	(void)state;
	assert_true(capture_event_is_wall(&e));
	assert_true(capture_event_is_clock(&e));
	assert_true(capture_event_has_waits(&e));
	assert_int_equal(e.period, 10000000);
	assert_int_equal(e.least_ns, 0);
	assert_int_equal(e.freq_hz, 0);
	assert_string_equal(e.name, "wall");
	assert_string_equal(e.unit, "nanoseconds");
	assert_int_equal(capture_event_parse("wall=50us", 99, &other, &err), 0);
	assert_string_equal(other.name, "wall");
	assert_int_equal(other.period, 50000);
	assert_int_equal(capture_event_parse("wall=1s", 99, &other, &err), 0);
	for (unsigned int t = 0; t < WIRE_TRIGGER_COUNT; t++)
		assert_int_equal(
			capture_event_needs(&e, (enum wire_trigger)t),
			t == WIRE_TRIGGER_PERF || t == WIRE_TRIGGER_OFFCPU ||
				t == WIRE_TRIGGER_OFFCPU_WAKING || t == WIRE_TRIGGER_OFFCPU_WAKER ||
				t == WIRE_TRIGGER_OFFCPU_YIELD || t == WIRE_TRIGGER_OFFCPU_PARKED);
	e = parse("offcpu", 997);
	assert_true(capture_event_has_waits(&e));
	assert_false(capture_event_is_wall(&e));
	e = parse("cpu", 997);
	assert_false(capture_event_has_waits(&e));
}

static void test_locks_have_a_least_length(void **state)
{
	struct capture_event e = parse("lock", 997), other;
	struct err err = { 0 };

	(void)state;
	assert_true(capture_event_is_lock(&e));
	assert_false(capture_event_is_alloc(&e));
	assert_int_equal(e.least_ns, 10000);
	assert_int_equal(e.period, 0);
	assert_string_equal(e.unit, "nanoseconds");
	assert_int_equal(capture_event_parse("lock=2ms", 99, &other, &err), 0);
	assert_string_equal(other.name, "lock");
	assert_int_equal(other.least_ns, 2000000);
	for (unsigned int t = 0; t < WIRE_TRIGGER_COUNT; t++)
		assert_int_equal(capture_event_needs(&e, (enum wire_trigger)t),
				 t == WIRE_TRIGGER_LOCK_AGENT || t == WIRE_TRIGGER_LOCK_BEGIN ||
					 t == WIRE_TRIGGER_LOCK_PARK ||
					 t == WIRE_TRIGGER_LOCK_YIELD ||
					 t == WIRE_TRIGGER_LOCK_WAKER);
	other = parse("offcpu", 99);
	assert_false(capture_event_is_lock(&other));
}

/* An allocation is told by the programs of allocations, any of them; others have one each. */
static void test_programs_of_events(void **state)
{
	struct capture_event alloc = parse("alloc", 99), cpu = parse("cpu", 99);

	(void)state;
	for (unsigned int t = 0; t < WIRE_TRIGGER_COUNT; t++) {
		enum wire_trigger trigger = (enum wire_trigger)t;

		assert_int_equal(capture_event_needs(&alloc, trigger),
				 t >= WIRE_TRIGGER_ALLOC_AGENT);
		assert_int_equal(capture_event_needs(&cpu, trigger), t == WIRE_TRIGGER_PERF);
	}
}

static void expect_refused(const char *name, uint32_t hz, const char *sentence)
{
	struct capture_event event = { .name = "untouched" };
	struct err err = { 0 };

	assert_int_equal(capture_event_parse(name, hz, &event, &err), -EINVAL);
	assert_int_equal(err.code, -EINVAL);
	if (!strstr(err.text, sentence))
		fail_msg("'%s' is not in '%s'", sentence, err.text);
	assert_string_equal(event.name, "untouched");
}

static void test_refusals(void **state)
{
	static const char *const names[] = { "",
					     "cpus",
					     "CPU",
					     "r",
					     "rxyz",
					     "rNNN",
					     "r0x10",
					     "r+1",
					     "r 1",
					     "r1a8 ",
					     "r11112222333344445",
					     "a-name-that-is-longer-than-any-event-has" };
	struct capture_event event;
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		expect_refused(names[i], 99, "unknown event");
	capture_event_parse("cpus", 99, &event, &err);
	assert_non_null(strstr(err.hint, "page-faults"));
	assert_non_null(strstr(err.hint, "known events: cpu, "));
	assert_non_null(strstr(err.hint, "rNNN"));
	assert_non_null(strstr(err.hint, "uprobe:LIB:FUNC"));
	expect_refused("uprobe:lib", 99, "does not say what to probe");
	expect_refused("sched:", 99, "is no tracepoint's name");
	expect_refused("allocs", 99, "unknown event");
	expect_refused("alloc=", 99, "does not say after how many bytes");
	expect_refused("alloc=often", 99, "does not say after how many bytes");
	expect_refused("alloc=1023", 99, "does not say after how many bytes");
	expect_refused("alloc=1073741825", 99, "does not say after how many bytes");
	expect_refused("offcpus", 99, "unknown event");
	expect_refused("locks", 99, "unknown event");
	expect_refused("lock=61s", 99, "does not say how long a wait must be");
	expect_refused("safepoint=", 99, "does not say how long a wait must be");
	expect_refused("safepoints", 99, "unknown event");
	expect_refused("offcpu=", 99, "does not say how long a wait must be");
	expect_refused("offcpu=long", 99, "does not say how long a wait must be");
	expect_refused("offcpu=61s", 99, "does not say how long a wait must be");
	expect_refused("walls", 99, "unknown event");
	expect_refused("wall=", 99, "does not say how much time");
	expect_refused("wall=2s", 99, "does not say how much time");
	expect_refused("wall=49us", 99, "does not say how much time");
	expect_refused("cpu=", 99, "'' is no period of 'cpu'");
	expect_refused("cpu=2s", 99, "from 50us to 1s");
	expect_refused("cpu=49us", 99, "from 50us to 1s");
	expect_refused("page-faults=0", 99, "'0' is no period");
	expect_refused("page-faults=x", 99, "'x' is no period");
	expect_refused("page-faults=-1", 99, "'-1' is no period");
	expect_refused("page-fault=1", 99, "unknown event");
	expect_refused("mem:a:r", 99, "does not say what to watch");
	expect_refused("mem:0x1001/4", 99, "is no multiple of 4");
	expect_refused("usdt:a", 99, "which probe of which file");
	expect_refused("kprobe:", 99, "which kernel function");
	expect_refused("cpu", 0, "0 Hz");
	expect_refused("cpu", 20001, "20001 Hz");
}

/* As perf and async-profiler call them, too. */
static void test_other_names(void **state)
{
	static const struct {
		const char *name, *other;
	} names[] = { { "faults", "page-faults" },
		      { "cs", "context-switches" },
		      { "migrations", "cpu-migrations" },
		      { "cpu-cycles", "cycles" },
		      { "branch-instructions", "branches" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct capture_event e = parse(names[i].name, 99),
				     other = parse(names[i].other, 99);

		assert_int_equal(e.type, other.type);
		assert_int_equal(e.config, other.config);
		assert_int_equal(e.period, other.period);
	}
	assert_int_equal(parse("alignment-faults", 99).config, PERF_COUNT_SW_ALIGNMENT_FAULTS);
	assert_int_equal(parse("emulation-faults", 99).period, 1);
	assert_int_equal(parse("cgroup-switches", 99).config, PERF_COUNT_SW_CGROUP_SWITCHES);
}

static struct capture_event parse_period(const char *name, const char *its_name)
{
	struct capture_event event;
	struct err err = { 0 };

	if (capture_event_parse(name, 997, &event, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	assert_string_equal(event.name, its_name);
	return event;
}

/* Whatever -F says. */
static void test_periods(void **state)
{
	struct capture_event e = parse_period("mem:0x1000/4:w=100", "mem:0x1000/4:w");

	(void)state;
	assert_int_equal(e.period, 100);
	assert_true(capture_event_is_breakpoint(&e));
	assert_int_equal(parse_period("mem:0x1000/4=5", "mem:0x1000/4").period, 5);
	assert_int_equal(parse_period("page-faults=1", "page-faults").period, 1);
	assert_int_equal(parse_period("cs=1.5k", "cs").period, 1500);
	assert_int_equal(parse_period("cpu=1ms", "cpu").period, 1000000);
	assert_int_equal(parse_period("cpu=50us", "cpu").period, 50000);
	assert_int_equal(parse_period("task-clock=1s", "task-clock").period, 1000000000);
	if (!capture_has_pmu())
		return;
	e = parse_period("cycles=1M", "cycles");
	assert_int_equal(e.period, 1000000);
	assert_int_equal(e.freq_hz, 0);
}

static void test_breakpoints(void **state)
{
	struct capture_event e = parse("mem:counter:w", 99);

	(void)state;
	assert_true(capture_event_is_breakpoint(&e));
	assert_false(capture_event_is_clock(&e));
	assert_int_equal(e.period, 1);
	assert_int_equal(e.freq_hz, 0);
	assert_string_equal(e.unit, "count");
	assert_int_equal(e.trigger, WIRE_TRIGGER_PERF);
	assert_int_equal(e.breakpoint.count, 0); /* the caller looks it up */
	e = parse("mem:0x1230+4", 99);
	assert_int_equal(e.breakpoint.count, 1);
	assert_int_equal(e.breakpoint.places[0].address, 0x1234);
	assert_int_equal(e.breakpoint.places[0].tgid, 0);
	e = parse("page-faults", 99);
	assert_false(capture_event_is_breakpoint(&e));
}

static void test_probes_at_entries(void **state)
{
	const struct capture_event tracepoint = { .trigger = WIRE_TRIGGER_TRACEPOINT };
	struct capture_event e = { .trigger = WIRE_TRIGGER_UPROBE };

	(void)state;
	assert_true(capture_event_is_at_entry(&e));
	assert_false(capture_event_is_at_entry(&tracepoint));
	strcpy(e.usdt.name, "x");
	assert_false(capture_event_is_at_entry(&e));
	e = (struct capture_event){ .trigger = WIRE_TRIGGER_UPROBE, .probe = { .plus = 1 } };
	assert_false(capture_event_is_at_entry(&e));
	e.probe = (struct uprobe){ .is_return = true };
	assert_false(capture_event_is_at_entry(&e));
}

static void test_lists(void **state)
{
	static const struct {
		const char *list;
		size_t len;
	} lists[] = { { "", 0 },
		      { "cpu", 3 },
		      { "cpu,alloc", 3 },
		      { "cpu/event=1,umask=2/,cpu", 20 },
		      { "cpu/event=1,umask=2/=1000,cpu", 25 },
		      { "cpu/event=1,umask=2", 19 },
		      { "cpu,cpu/event=1,umask=2/", 3 },
		      { "mem:a/4,mem:b/4", 7 },
		      { "sched:sched_switch,cpu", 18 },
		      { "kprobe:f,cpu", 8 },
		      { "uprobe:/a,b/c:f,cpu", 19 },
		      { "uretprobe:a:f,cpu", 17 },
		      { "usdt:/a,b/c:p:n,cpu", 19 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (capture_event_len(lists[i].list) != lists[i].len)
			fail_msg("%s: %zu", lists[i].list, capture_event_len(lists[i].list));
}

/* Nobody looks for an event that the help does not name. */
static void test_help_names_all(void **state)
{
	_cleanup_strbuf_ struct strbuf help = STRBUF_INIT;
	const struct capture_event_row *row;

	(void)state;
	for (row = capture_event_rows; row->name; row++)
		if (row->help)
			strbuf_addf(&help, "%s %s,", row->name, row->help);
	for (row = capture_event_rows; row->name; row++)
		if (!strstr(strbuf_str(&help), row->name))
			fail_msg("no help on %s", row->name);
}

static void test_native_memory(void **state)
{
	struct capture_event event = parse("malloc", 99);
	struct err err = { 0 };

	(void)state;
	assert_int_equal(event.period, 512 << 10);
	assert_string_equal(event.unit, "bytes");
	assert_true(capture_event_is_malloc(&event));
	assert_false(capture_event_is_alloc(&event));
	assert_true(capture_event_needs(&event, WIRE_TRIGGER_MALLOC));
	assert_true(capture_event_needs(&event, WIRE_TRIGGER_MALLOC_RETURN));
	assert_false(capture_event_needs(&event, WIRE_TRIGGER_ALLOC_AGENT));
	assert_false(capture_event_needs(&event, WIRE_TRIGGER_PERF));
	assert_int_equal(capture_event_parse("malloc=64k", 99, &event, &err), 0);
	assert_int_equal(event.period, 64 << 10);
	assert_string_equal(event.name, "malloc");
	assert_int_equal(capture_event_parse("malloc=0", 99, &event, &err), 0);
	assert_int_equal(event.period, 0);
	assert_int_equal(capture_event_parse("malloc=1000", 99, &event, &err), -EINVAL);
	assert_string_equal(err.hint, "intervals go from 1k to 1G, as in malloc=64k; 0: each call");
	assert_int_equal(capture_event_parse("malloc=", 99, &event, &err), -EINVAL);
	assert_int_equal(capture_event_parse("malloc=2G", 99, &event, &err), -EINVAL);
	assert_int_equal(capture_event_parse("alloc=0", 99, &event, &err), -EINVAL);
	assert_int_equal(capture_event_parse("mallocs", 99, &event, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpu_has_a_fixed_period),
		cmocka_unit_test(test_software_events_count),
		cmocka_unit_test(test_hardware_events),
		cmocka_unit_test(test_probes_weigh_one),
		cmocka_unit_test(test_allocations_have_an_interval),
		cmocka_unit_test(test_programs_of_events),
		cmocka_unit_test(test_wall_is_a_clock_with_waits),
		cmocka_unit_test(test_waits_have_a_least_length),
		cmocka_unit_test(test_locks_have_a_least_length),
		cmocka_unit_test(test_other_names),
		cmocka_unit_test(test_periods),
		cmocka_unit_test(test_breakpoints),
		cmocka_unit_test(test_probes_at_entries),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_help_names_all),
		cmocka_unit_test(test_native_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
