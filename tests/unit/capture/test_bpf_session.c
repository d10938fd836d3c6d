// SPDX-License-Identifier: Apache-2.0
/* How large each map is made, what the BPF programs are told, and why they were refused. libbpf is the test's. */
#include "fake_libbpf.h"

#include <linux/perf_event.h>

static int set_up(void **state)
{
	(void)state;
	strbuf_release(&f.log);
	memset(&f, 0, sizeof(f));
	return 0;
}

static struct bpf_session_options usual(const struct capture_event *events, unsigned int count)
{
	return (struct bpf_session_options){
		.settings = { .budget_ns = 11,
			      .cgroup_id = 12,
			      .self_tgid = 13,
			      .filter_tgids = 1,
			      .include_idle = 1 },
		.events = events,
		.event_count = count,
		.possible_cpus = CPUS,
		.online_cpus = CPUS - 2,
		.ring_bytes = 1 << 20,
		.miss_copy_bytes = WIRE_MISS_MAX_COPY - 50000,
		.table_bytes = 64 << 20,
	};
}

static struct bpf_session *opened(const struct bpf_session_options *options)
{
	struct bpf_session *session;
	struct err err = { 0 };

	assert_int_equal(bpf_session_open(options, &session, &err), 0);
	return session;
}

/* Is LINE, a text with numbers, in the log? */
static void expect_line(const char *format, ...)
{
	char line[128];
	va_list ap;

	line[0] = '\n';
	va_start(ap, format);
	vsnprintf(line + 1, sizeof(line) - 1, format, ap);
	va_end(ap);
	if (!strstr(strbuf_str(&f.log), line))
		fail_msg("no '%s' in: %s", line + 1, strbuf_str(&f.log));
}

static void sizes_of_maps(void **state)
{
	struct bpf_session_options options = usual(NULL, 0);
	struct bpf_session *session;
	struct table_sizes sizes;

	(void)state;
	strbuf_addch(&f.log, '\n');
	session = opened(&options);
	table_sizes_choose(64 << 20, CPUS, &sizes);
	expect_line("rings: %d entries\n", CPUS);
	expect_line("scratches: %d entries\n", CPUS * WIRE_SCRATCH_LEVELS);
	expect_line("miss_buffers: values of %d\n", VALUE_BYTES - 50000);
	expect_line("miss_buffers: %d entries\n", CPUS - 2);
	expect_line("blocks: %u entries\n", sizes.blocks);
	expect_line("rules: %u entries\n", sizes.rules);
	expect_line("ranges: %u entries\n", sizes.ranges);
	expect_line("pages: %u entries\n", sizes.pages);
	expect_line("spaces: %u entries\n", sizes.spaces);
	expect_line("hots: %d entries\n", CPUS * WIRE_HOT_ENTRIES);
	expect_line("hot_codes: %u entries\n", CPUS * sizes.hot_codes);
	expect_line("hot_methods: %d entries\n", CPUS * WIRE_HOT_METHODS);
	expect_line("load\nattach\n");
	assert_null(strstr(f.log.buf, "targets"));
	assert_int_equal(f.rodata.hot_code_count, sizes.hot_codes);
	assert_int_equal(f.rodata.miss_copy_bytes, WIRE_MISS_MAX_COPY - 50000);
	assert_int_equal(f.rodata.miss_buffer_count, CPUS - 2);
	bpf_session_free(session);
	assert_true(f.destroyed);
}

static void what_programs_are_told(void **state)
{
	struct capture_event events[3] = { 0 };
	struct bpf_session_options options = usual(events, 3);
	struct err err = { 0 };

	(void)state;
	assert_int_equal(capture_event_parse("page-faults", 99, &events[0], &err), 0);
	assert_int_equal(capture_event_parse("cpu", 99, &events[1], &err), 0);
	assert_int_equal(capture_event_parse("context-switches", 99, &events[2], &err), 0);
	bpf_session_free(opened(&options));
	assert_memory_equal(&f.rodata.settings, &options.settings, sizeof(options.settings));
	assert_int_equal(f.rodata.ring_wakeup_bytes, 1 << 18);
	assert_false(f.rodata.event_is_clock[0]);
	assert_true(f.rodata.event_is_clock[1]);
	assert_false(f.rodata.event_is_clock[2]);
	assert_false(f.rodata.event_is_clock[3]);
}

static void edges_of_a_window(void **state)
{
	struct capture_event events[1] = { 0 }, edge = { .trigger = WIRE_TRIGGER_UPROBE };
	struct bpf_session_options options = usual(events, 1);
	struct err err = { 0 };

	(void)state;
	assert_int_equal(capture_event_parse("cpu", 99, &events[0], &err), 0);
	strbuf_addch(&f.log, '\n');
	bpf_session_free(opened(&options));
	assert_false(f.rodata.window_has_begin || f.rodata.window_has_end);
	expect_line("windows: %d entries\n", 1);
	assert_null(strstr(f.log.buf, "window 1"));
	options.window.end = &edge;
	bpf_session_free(opened(&options));
	assert_true(!f.rodata.window_has_begin && f.rodata.window_has_end);
	expect_line("close_window 1\n");
	assert_null(strstr(f.log.buf, "open_window 1"));
	options.window.begin = &edge;
	bpf_session_free(opened(&options));
	assert_true(f.rodata.window_has_begin && f.rodata.window_has_end);
	expect_line("open_window 1\n");
}

/* Each trigger's program is loaded when an event needs it; the frames of a function are not there at its entry. */
static void programs_of_triggers(void **state)
{
	static const struct capture_event events[] = {
		{ .trigger = WIRE_TRIGGER_UPROBE },
		{ .trigger = WIRE_TRIGGER_UPROBE, .probe = { .plus = 4 } },
		{ .trigger = WIRE_TRIGGER_UPROBE, .probe = { .is_return = true } },
		{ .trigger = WIRE_TRIGGER_TRACEPOINT },
		{ .trigger = WIRE_TRIGGER_RAW },
		{ .trigger = WIRE_TRIGGER_OFFCPU, .least_ns = 20000000 },
		{ .trigger = WIRE_TRIGGER_ALLOC_AGENT },
		{ .trigger = WIRE_TRIGGER_MALLOC, .period = 4711 },
		{ .trigger = WIRE_TRIGGER_KPROBE },
		{ .trigger = WIRE_TRIGGER_TRACEPOINT },
		{ .trigger = WIRE_TRIGGER_LOCK_AGENT, .least_ns = 10000 },
		{ .trigger = WIRE_TRIGGER_SAFEPOINT, .least_ns = 30000 },
		{ .trigger = WIRE_TRIGGER_JIT, .least_ns = 40000 },
		{ .trigger = WIRE_TRIGGER_CLASS_LOAD },
		{ .trigger = WIRE_TRIGGER_GC, .least_ns = 50000 },
	};
	struct bpf_session_options options = usual(events, ARRAY_SIZE(events));
	struct bpf_session *session;

	(void)state;
	strbuf_addch(&f.log, '\n');
	session = opened(&options);
	expect_line("offcpu_threads: %d entries\n", WIRE_OFFCPU_THREADS);
	expect_line(
		"sample_uprobe 1\nsample_tracepoint 1\nsample_kprobe 1\nsample_raw 1\nsample_malloc 1\n"
		"sample_offcpu 1\nnote_waking 1\nsample_lock_agent 1\nsample_lock_park 1\nsample_safepoint 1\nsample_jit 1\nnote_compiler 1\nsample_gc 1\nsample_class_load 1\nsample_alloc_agent 1\n"
		"sample_alloc_new_tlab 1\nsample_alloc_outside 1\n");
	assert_null(strstr(f.log.buf, "sample 1"));
	for (unsigned int t = 0; t < WIRE_TRIGGER_COUNT; t++)
		assert_int_equal(
			bpf_session_prog_fd(session, (enum wire_trigger)t) >= 1000,
			t != WIRE_TRIGGER_MALLOC_RETURN && t != WIRE_TRIGGER_OFFCPU_PARKED &&
				t != WIRE_TRIGGER_WINDOW_BEGIN && t != WIRE_TRIGGER_WINDOW_END &&
				t != WIRE_TRIGGER_MALLOC_SESSION);
	assert_true(f.rodata.event_at_entry[0]);
	assert_false(f.rodata.event_at_entry[1]);
	assert_false(f.rodata.event_at_entry[2]);
	assert_false(f.rodata.event_at_entry[3]);
	assert_int_equal(f.rodata.trigger_event[WIRE_TRIGGER_RAW], 4);
	assert_int_equal(f.rodata.malloc_interval, 4711);
	assert_int_equal(f.rodata.trigger_event[WIRE_TRIGGER_MALLOC_RETURN], 7);
	/* An allocation may be told by any of them. */
	for (unsigned int t = WIRE_TRIGGER_ALLOC_AGENT; t < WIRE_TRIGGER_COUNT; t++)
		assert_int_equal(f.rodata.trigger_event[t], 6);
	/* So may a lock. */
	assert_int_equal(f.rodata.trigger_event[WIRE_TRIGGER_LOCK_AGENT], 10);
	assert_int_equal(f.rodata.trigger_event[WIRE_TRIGGER_LOCK_PARK], 10);
	assert_int_equal(f.rodata.trigger_event[WIRE_TRIGGER_OFFCPU], 5);
	assert_int_equal(f.rodata.offcpu_least_ns, 20000000);
	assert_int_equal(f.rodata.safepoint_least_ns, 30000);
	assert_int_equal(f.rodata.jit_least_ns, 40000);
	assert_int_equal(f.rodata.gc_least_ns, 50000);
	assert_int_equal(f.rodata.park_least_ns, 10000);
	assert_int_equal(f.rodata.offcpu_step_ns, 20000000);
	assert_int_equal(f.rodata.offcpu_doubled, WIRE_OFFCPU_STEP_DOUBLED);
	assert_false(f.rodata.offcpu_keeps_sums);
	assert_int_equal(bpf_session_list_parked(session), -ENODATA);
	bpf_session_free(session);
}

/* A clock, and all waits: short ones by chance. */
static void programs_of_wall(void **state)
{
	static const struct capture_event events[] = {
		{ .trigger = WIRE_TRIGGER_RAW },
		{ .type = PERF_TYPE_SOFTWARE,
		  .config = PERF_COUNT_SW_CPU_CLOCK,
		  .period = 20000000,
		  .is_wall = true },
	};
	struct bpf_session_options options = usual(events, 2);
	struct bpf_session *session;

	(void)state;
	strbuf_addch(&f.log, '\n');
	session = opened(&options);
	expect_line("offcpu_threads: %d entries\n", WIRE_OFFCPU_THREADS);
	expect_line("sample_raw 1\nsample_offcpu 1\nnote_waking 1\nlist_parked 1\n");
	assert_true(f.rodata.event_is_clock[1]);
	assert_true(f.rodata.event_is_wall[1]);
	assert_false(f.rodata.event_is_wall[0]);
	assert_int_equal(f.rodata.trigger_event[WIRE_TRIGGER_OFFCPU], 1);
	assert_int_equal(f.rodata.offcpu_least_ns, 0);
	assert_int_equal(f.rodata.offcpu_step_ns, 20000000);
	assert_int_equal(f.rodata.offcpu_doubled, WIRE_OFFCPU_STEP_DOUBLED);
	assert_true(f.rodata.offcpu_keeps_sums);
	f.iterator = 33;
	assert_int_equal(bpf_session_list_parked(session), 33);
	f.iterator = -1;
	assert_int_equal(bpf_session_list_parked(session), -EPERM);
	bpf_session_free(session);
}

/* Memory that is followed has a program for returns, or one for all where the kernel can. */
static void programs_of_native_memory(void **state)
{
	static const struct capture_event event = { .trigger = WIRE_TRIGGER_MALLOC };
	struct bpf_session_options options = usual(&event, 1);
	struct bpf_session *session;

	(void)state;
	options.follow_memory = true;
	strbuf_addch(&f.log, '\n');
	session = opened(&options);
	expect_line("sample_malloc 1\nnote_malloc_return 1\n");
	assert_int_equal(bpf_session_prog_fd(session, WIRE_TRIGGER_MALLOC_SESSION), -1);
	bpf_session_free(session);
	strbuf_reset(&f.log);
	strbuf_addch(&f.log, '\n');
	options.has_sessions = true;
	session = opened(&options);
	expect_line("sample_malloc_session 1\n");
	expect_line("sample_malloc_session of 57\n");
	assert_int_equal(bpf_session_prog_fd(session, WIRE_TRIGGER_MALLOC), -1);
	assert_int_equal(bpf_session_prog_fd(session, WIRE_TRIGGER_MALLOC_RETURN), -1);
	bpf_session_free(session);
	options.follow_memory = false;
	session = opened(&options);
	assert_int_equal(bpf_session_prog_fd(session, WIRE_TRIGGER_MALLOC), -1);
	bpf_session_free(session);
}

/* --cpu: a bit for each. */
static void cpus_that_are_sampled(void **state)
{
	bool has[70] = { [1] = true, [69] = true };
	const struct cpu_list cpus = { has, 70 };
	struct bpf_session_options options = usual(NULL, 0);

	(void)state;
	bpf_session_free(opened(&options));
	assert_false(f.rodata.settings.filter_cpus);
	options.cpus = &cpus;
	bpf_session_free(opened(&options));
	assert_true(f.rodata.settings.filter_cpus);
	assert_int_equal(f.rodata.cpus_wanted[0], 2);
	assert_int_equal(f.rodata.cpus_wanted[1], 1 << 5);
	assert_int_equal(f.rodata.cpus_wanted[2], 0);
}

/* Those of the program before sampling began, and after it ended, are nobody's loss. */
static void misses_while_sampling(void **state)
{
	static const struct capture_event event = { .trigger = WIRE_TRIGGER_TRACEPOINT };
	struct bpf_session_options options = usual(&event, 1);
	struct bpf_session *session = opened(&options);

	(void)state;
	f.misses = 100;
	assert_int_equal(bpf_session_missed(session), 0);
	bpf_session_set_sampling(session, 77);
	assert_int_equal(bpf_session_missed(session), 0);
	f.misses = 107;
	assert_int_equal(bpf_session_missed(session), 7);
	bpf_session_set_sampling(session, 0);
	f.misses = 200;
	assert_int_equal(bpf_session_missed(session), 7);
	bpf_session_free(session);
}

static void no_targets(void **state)
{
	struct bpf_session_options options = usual(NULL, 0);

	(void)state;
	options.settings.filter_tgids = 0;
	bpf_session_free(opened(&options));
	expect_line("targets: 1 entries\n");
}

static void sampling(void **state)
{
	struct bpf_session_options options = usual(NULL, 0);
	struct bpf_session *session = opened(&options);

	(void)state;
	assert_false(f.bss.sampling);
	bpf_session_set_sampling(session, 77);
	assert_true(f.bss.sampling);
	assert_int_equal(f.bss.sampling_since_ns, 77);
	bpf_session_set_sampling(session, 0);
	assert_false(f.bss.sampling);
	bpf_session_free(session);
}

/* Each map by its name, whatever its number is. */
static void descriptors(void **state)
{
	static const char *const names[] = {
		[BPF_SESSION_RINGS] = "rings",
		[BPF_SESSION_COUNTERS] = "counters",
		[BPF_SESSION_TARGETS] = "targets",
		[BPF_SESSION_JVMS] = "jvms",
		[BPF_SESSION_FAR_BLOBS] = "far_blobs",
		[BPF_SESSION_LOST] = "lost",
		[BPF_SESSION_BLOCKS] = "blocks",
		[BPF_SESSION_RULES] = "rules",
		[BPF_SESSION_RANGES] = "ranges",
		[BPF_SESSION_PAGES] = "pages",
		[BPF_SESSION_SPACES] = "spaces",
		[BPF_SESSION_TLAB_JVMS] = "tlab_jvms",
		[BPF_SESSION_PARKING_JVMS] = "parking_jvms",
		[BPF_SESSION_PHASE_JVMS] = "phase_jvms",
		[BPF_SESSION_MALLOC_KEPT] = "malloc_kept",
		[BPF_SESSION_OFFCPU_THREADS] = "offcpu_threads",
	};
	struct bpf_session_options options = usual(NULL, 0);
	struct bpf_session *session;

	(void)state;
	options.follow_memory = true; /* else there is room for none */
	session = opened(&options);
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		int number = bpf_session_map_fd(session, (enum bpf_session_map)i) - FIRST_FD;

		assert_in_range(number, 1, f.skeleton->map_cnt);
		assert_string_equal(f.skeleton->maps[number - 1].name, names[i]);
		assert_int_equal(bpf_session_map_entries(session, (enum bpf_session_map)i),
				 1000 + number);
	}
	assert_int_equal(bpf_session_prog_fd(session, WIRE_TRIGGER_PERF), 1000);
	assert_int_equal(bpf_session_prog_fd(session, WIRE_TRIGGER_UPROBE), -1); /* not loaded */
	bpf_session_free(session);
	bpf_session_free(NULL);
}

static void figures_of_a_run(void **state)
{
	struct bpf_session_options options = usual(NULL, 0);
	struct bpf_session *session = opened(&options);
	uint64_t ns, count;

	(void)state;
	bpf_session_run_stats(session, &ns, &count);
	assert_int_equal(ns, 4321);
	assert_int_equal(count, 17);
	f.info_error = -1;
	bpf_session_run_stats(session, &ns, &count);
	assert_int_equal(ns, 0);
	assert_int_equal(count, 0);
	bpf_session_free(session);
}

/* A map of the kernel, where we may make one: its values are on pages of its own. */
static void bytes_of_maps(void **state)
{
	struct bpf_session_options options = usual(NULL, 0);
	struct bpf_session *session = opened(&options);
	uint64_t bytes;
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "test", 4, 1 << 12, 64, NULL);

	(void)state;
	assert_int_equal(bpf_map_bytes(-1), 0);
	assert_int_equal(bpf_map_bytes(STDIN_FILENO), 0);
	if (fd < 0) {
		bpf_session_free(session);
		skip();
	}
	bytes = bpf_map_bytes(fd);
	assert_in_range(bytes, 1 << 18, (1 << 18) + 16384);
	f.real_fd = fd;
	assert_int_equal(bpf_session_map_bytes(session), 2 * bytes);
	bpf_session_free(session);
	close(fd);
}

/* --- refusals --- */

static void expect_refusal(int rc, const char *text, const char *hint)
{
	struct bpf_session_options options = usual(NULL, 0);
	struct bpf_session *session = NULL;
	struct err err = { 0 };

	f.destroyed = false;
	assert_int_equal(bpf_session_open(&options, &session, &err), rc);
	assert_null(session);
	assert_int_equal(err.code, rc);
	assert_string_equal(err.text, text);
	assert_string_equal(err.hint, hint);
	assert_true(f.destroyed);
}

static void refused(void **state)
{
	(void)state;
	f.attach_error = -ENOENT;
	expect_refusal(-ENOENT, "cannot attach the BPF program: No such file or directory", "");
	f.load_error = -EINVAL;
	expect_refusal(-EINVAL, "cannot load the BPF program: Invalid argument", "");
	f.open_error = -ENOMEM;
	expect_refusal(-ENOMEM, "cannot open the BPF program: Cannot allocate memory", "");
	/* What is missing says it best. */
	f.preflight_error = -EPERM;
	expect_refusal(-EPERM, "cap_bpf is missing", "be root");
}

/* The last warning of libbpf's own that is one line and no advice. */
static void last_warning_is_the_hint(void **state)
{
	static const char sentence[] = "cannot load the BPF program: Invalid argument";

	(void)state;
	f.load_error = -EINVAL;
	f.warnings[0] = "libbpf: first\n";
	f.warnings[1] = "libbpf: prog 'sample': failed to load\nand more\n";
	expect_refusal(-EINVAL, sentence, "libbpf: prog 'sample': failed to load");
	f.warnings[2] = "libbpf: try raising ulimit -l\n";
	f.warnings[3] = "libbpf: prog 'sample': -- BEGIN PROG LOAD LOG --\nR0\n";
	expect_refusal(-EINVAL, sentence, "libbpf: prog 'sample': failed to load");
	f.warnings[2] = "0: (bf) r6 = r1\n";
	expect_refusal(-EINVAL, sentence, "libbpf: prog 'sample': failed to load");
	/* Of an earlier try nothing is said. */
	f.warnings[0] = NULL;
	expect_refusal(-EINVAL, sentence, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(sizes_of_maps, set_up),
		cmocka_unit_test_setup(what_programs_are_told, set_up),
		cmocka_unit_test_setup(programs_of_triggers, set_up),
		cmocka_unit_test_setup(edges_of_a_window, set_up),
		cmocka_unit_test_setup(programs_of_wall, set_up),
		cmocka_unit_test_setup(programs_of_native_memory, set_up),
		cmocka_unit_test_setup(cpus_that_are_sampled, set_up),
		cmocka_unit_test_setup(misses_while_sampling, set_up),
		cmocka_unit_test_setup(no_targets, set_up),
		cmocka_unit_test_setup(sampling, set_up),
		cmocka_unit_test_setup(descriptors, set_up),
		cmocka_unit_test_setup(figures_of_a_run, set_up),
		cmocka_unit_test_setup(bytes_of_maps, set_up),
		cmocka_unit_test_setup(refused, set_up),
		cmocka_unit_test_setup(last_warning_is_the_hint, set_up),
	};

	return cmocka_run_group_tests_name("bpf_session", tests, NULL, NULL);
}
