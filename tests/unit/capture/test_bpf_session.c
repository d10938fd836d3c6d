// SPDX-License-Identifier: Apache-2.0
/* How large each map is made, what the BPF programs are told, and why they were refused. libbpf is the test's. */
#include "bpf_session_world.h"

#include <linux/perf_event.h>

#include "capture/map_bytes.h"

static void sizes_of_maps(void **state)
{
	struct bpf_session_options options = usual(NULL, 0);
	struct bpf_session *session;
	struct table_sizes sizes;

	(void)state;
	strbuf_addch(&f.log, '\n');
	session = opened(&options);
	table_sizes_choose(64 << 20, CPUS, &sizes);
	expect_line("rings: is %d\n", RINGS_FD);
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
	assert_null(strstr(f.log.buf, "_threads"));
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

/* libbpf reads the kernel's types itself where we cannot. */
static void types_of_the_kernel(void **state)
{
	struct bpf_session_options options = usual(NULL, 0);

	(void)state;
	strbuf_addch(&f.log, '\n');
	bpf_session_free(opened(&options));
	expect_line("open, types by ours\ntypes %d\n", 0);
	assert_null(strstr(f.log.buf, "libbpf\n"));
	f.types_error = -EOPNOTSUPP;
	bpf_session_free(opened(&options));
	expect_line("types %d\nopen, types by libbpf\n", -EOPNOTSUPP);
}

/* What was loaded beside libbpf is asked for its descriptor; where that is refused libbpf loads all, and says why. */
static void programs_that_are_loaded_beside_each_other(void **state)
{
	static const struct capture_event event = { .trigger = WIRE_TRIGGER_UPROBE };
	struct bpf_session_options options = usual(&event, 1);
	struct bpf_session *session;
	struct err err = { 0 };
	int alone, beside;

	(void)state;
	session = opened(&options);
	alone = bpf_session_prog_fd(session, WIRE_TRIGGER_UPROBE);
	assert_int_equal(bpf_session_prog_fd(session, WIRE_TRIGGER_PERF), -1);
	bpf_session_free(session);
	f.loads_beside = true;
	session = opened(&options);
	beside = bpf_session_prog_fd(session, WIRE_TRIGGER_UPROBE);
	assert_int_equal(beside, alone + 7);
	assert_int_equal(f.beside_cpus, CPUS - 2);
	assert_int_equal(f.beside, 1);
	bpf_session_free(session);
	assert_int_equal(f.beside, 0);
	f.beside_error = -E2BIG;
	strbuf_reset(&f.log);
	session = opened(&options);
	assert_int_equal(f.beside, 0);
	assert_int_equal(bpf_session_prog_fd(session, WIRE_TRIGGER_UPROBE), alone);
	assert_non_null(strstr(strstr(f.log.buf, "load\n") + 1, "load\nattach\n"));
	bpf_session_free(session);
	f.load_error = -EACCES;
	assert_int_equal(bpf_session_open(&options, &session, &err), -EACCES);
	assert_int_equal(f.beside, 0);
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

/* Who has left since it began is noted, also when it has ended; until somebody had to make room. */
static void since_when_all_are_noted(void **state)
{
	static const struct capture_event event = { .trigger = WIRE_TRIGGER_OFFCPU };
	struct bpf_session_options options = usual(&event, 1);
	struct bpf_session *session = opened(&options);

	(void)state;
	bpf_session_set_sampling(session, 77);
	assert_int_equal(bpf_session_yields_since(session), 77);
	bpf_session_set_sampling(session, 0);
	assert_int_equal(bpf_session_yields_since(session), 77);
	f.bss.yields_made_room = true;
	assert_int_equal(bpf_session_yields_since(session), 0);
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

static void a_process(void **state)
{
	struct bpf_session_options options = usual(NULL, 0);
	struct bpf_session *session = opened(&options);
	struct wire_process found;

	(void)state;
	f.found = (struct wire_process){ 17, 3, 99 };
	assert_int_equal(bpf_session_find_process(session, 17, &found), 0);
	assert_memory_equal(&found, &f.found, sizeof(found));
	assert_int_equal(bpf_session_find_process(session, 18, &found), -ENOENT);
	f.run_error = -EPERM;
	assert_int_equal(bpf_session_find_process(session, 17, &found), -EPERM);
	bpf_session_free(session);
}

static const struct capture_event clock_event = { .type = PERF_TYPE_SOFTWARE,
						  .config = PERF_COUNT_SW_CPU_CLOCK,
						  .period = 10000000 };

/* Each map by its name, whatever its number is. */
static void descriptors(void **state)
{
	static const char *const names[] = {
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
		[BPF_SESSION_YIELDS] = "yields",
		[BPF_SESSION_YIELDS_SINCE] = "yields_since",
		[BPF_SESSION_UNMOUNTED_OWED] = "unmounted_owed",
	};
	struct bpf_session_options options = usual(&clock_event, 1);
	struct bpf_session *session;
	int number;

	(void)state;
	options.follow_memory = true; /* else there is room for none */
	session = opened(&options);
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		number = bpf_session_map_fd(session, (enum bpf_session_map)i) - FIRST_FD;
		assert_in_range(number, 1, f.skeleton->map_cnt);
		assert_string_equal(f.skeleton->maps[number - 1].name, names[i]);
		assert_int_equal(bpf_session_map_entries(session, (enum bpf_session_map)i),
				 1000 + number);
	}
	number = bpf_session_prog_fd(session, WIRE_TRIGGER_PERF) / 1000 - 1;
	assert_in_range(number, 0, f.skeleton->prog_cnt - 1);
	assert_string_equal(f.skeleton->progs[number].name, "sample");
	assert_int_equal(bpf_session_prog_fd(session, WIRE_TRIGGER_UPROBE), -1); /* not loaded */
	bpf_session_free(session);
	bpf_session_free(NULL);
}

static void figures_of_a_run(void **state)
{
	struct bpf_session_options options = usual(&clock_event, 1);
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
	f.reuse_error = -EINVAL;
	expect_refusal(-EINVAL, "cannot give its rings to the BPF program: Invalid argument", "");
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
		cmocka_unit_test_setup(types_of_the_kernel, set_up),
		cmocka_unit_test_setup(programs_that_are_loaded_beside_each_other, set_up),
		cmocka_unit_test_setup(edges_of_a_window, set_up),
		cmocka_unit_test_setup(cpus_that_are_sampled, set_up),
		cmocka_unit_test_setup(misses_while_sampling, set_up),
		cmocka_unit_test_setup(since_when_all_are_noted, set_up),
		cmocka_unit_test_setup(no_targets, set_up),
		cmocka_unit_test_setup(sampling, set_up),
		cmocka_unit_test_setup(a_process, set_up),
		cmocka_unit_test_setup(descriptors, set_up),
		cmocka_unit_test_setup(figures_of_a_run, set_up),
		cmocka_unit_test_setup(bytes_of_maps, set_up),
		cmocka_unit_test_setup(refused, set_up),
		cmocka_unit_test_setup(last_warning_is_the_hint, set_up),
	};

	return cmocka_run_group_tests_name("bpf_session", tests, NULL, NULL);
}
