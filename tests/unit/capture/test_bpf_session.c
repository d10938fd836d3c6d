// SPDX-License-Identifier: Apache-2.0
/* How large each map is made, what the BPF programs are told, and why they were refused. libbpf is the test's. */
#include "test.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "capture/bpf_session.h"
#include "capture/preflight/preflight.h"
#include "capture/table_sizes.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#include "hostprof.skel.h"
#pragma GCC diagnostic pop

#define CPUS		    6
#define VALUE_BYTES	    2000000 /* of miss_buffers as it was compiled */
#define FIRST_FD	    500
#define MAX_MAPS	    32
#define MAX_ENTRIES_OF(map) (1000 + (uint32_t)map_number(map))

static struct {
	libbpf_print_fn_t print;
	struct bpf_object_skeleton *skeleton;
	struct hostprof_bpf__rodata rodata;
	struct hostprof_bpf__bss bss;
	struct strbuf log;
	int open_error, load_error, attach_error, preflight_error, info_error;
	const char *warnings[4];
	bool destroyed;
	int real_fd; /* of two maps */
	uint64_t misses;
} f;

/* --- in place of libbpf and the preflight --- */

/* A map is its number, from 1 on; so is a program, in thousands. */
static size_t map_number(const struct bpf_map *map)
{
	return (size_t)map;
}

static const char *map_name(const struct bpf_map *map)
{
	return f.skeleton->maps[map_number(map) - 1].name;
}

static void warn(enum libbpf_print_level level, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	f.print(level, format, ap);
	va_end(ap);
}

static int end_with(int error)
{
	for (int i = 0; i < 4 && f.warnings[i]; i++)
		warn(LIBBPF_WARN, "%s", f.warnings[i]);
	warn(LIBBPF_INFO, "libbpf: %s", "no warning\n");
	return error;
}

int bpf_object__open_skeleton(struct bpf_object_skeleton *s,
			      const struct bpf_object_open_opts *opts)
{
	(void)opts;
	f.skeleton = s;
	if (f.open_error)
		return end_with(f.open_error);
	*s->obj = (struct bpf_object *)0x10;
	for (int i = 0; i < s->map_cnt; i++) {
		*s->maps[i].map = (struct bpf_map *)(size_t)(i + 1);
		if (!strcmp(s->maps[i].name, "hostprof.rodata"))
			*s->maps[i].mmaped = &f.rodata;
		if (!strcmp(s->maps[i].name, "hostprof.bss"))
			*s->maps[i].mmaped = &f.bss;
	}
	for (int i = 0; i < s->prog_cnt; i++)
		*s->progs[i].prog = (struct bpf_program *)(size_t)(i * 1000 + 1000);
	return 0;
}

int bpf_object__load_skeleton(struct bpf_object_skeleton *s)
{
	(void)s;
	strbuf_addstr(&f.log, "load\n");
	return f.load_error ? end_with(f.load_error) : 0;
}

int bpf_object__attach_skeleton(struct bpf_object_skeleton *s)
{
	(void)s;
	strbuf_addstr(&f.log, "attach\n");
	return f.attach_error ? end_with(f.attach_error) : 0;
}

void bpf_object__destroy_skeleton(struct bpf_object_skeleton *s)
{
	if (!s)
		return;
	f.destroyed = true;
	free(s->maps);
	free(s->progs);
	free(s);
}

libbpf_print_fn_t libbpf_set_print(libbpf_print_fn_t fn)
{
	f.print = fn;
	return NULL;
}

int bpf_map__set_max_entries(struct bpf_map *map, __u32 max_entries)
{
	strbuf_addf(&f.log, "%s: %u entries\n", map_name(map), max_entries);
	return 0;
}

__u32 bpf_map__max_entries(const struct bpf_map *map)
{
	return MAX_ENTRIES_OF(map);
}

int bpf_map__set_value_size(struct bpf_map *map, __u32 size)
{
	strbuf_addf(&f.log, "%s: values of %u\n", map_name(map), size);
	return 0;
}

__u32 bpf_map__value_size(const struct bpf_map *map)
{
	assert_string_equal(map_name(map), "miss_buffers");
	return VALUE_BYTES;
}

int bpf_map__fd(const struct bpf_map *map)
{
	if (f.real_fd)
		return map_number(map) <= 2 ? f.real_fd : -1;
	return FIRST_FD + (int)map_number(map);
}

struct bpf_map *bpf_object__next_map(const struct bpf_object *obj, const struct bpf_map *map)
{
	assert_ptr_equal(obj, (struct bpf_object *)0x10);
	if (map && (int)map_number(map) == f.skeleton->map_cnt)
		return NULL;
	return (struct bpf_map *)(map ? map_number(map) + 1 : 1);
}

int bpf_program__set_autoload(struct bpf_program *prog, bool autoload)
{
	strbuf_addf(&f.log, "%s %d\n", f.skeleton->progs[(size_t)prog / 1000 - 1].name, autoload);
	return 0;
}

int bpf_program__fd(const struct bpf_program *prog)
{
	return (int)(size_t)prog;
}

int bpf_obj_get_info_by_fd(int fd, void *info, __u32 *len)
{
	struct bpf_prog_info *told = info;

	assert_int_equal(*len, sizeof(*told));
	assert_int_equal(fd % 1000, 0);
	if (fd != 1000)
		told->recursion_misses = f.misses;
	told->run_time_ns = 4321;
	told->run_cnt = 17;
	return f.info_error;
}

int preflight_explain(struct err *err)
{
	if (!f.preflight_error)
		return 0;
	err_set(err, f.preflight_error, "cap_bpf is missing");
	return err_hint(err, "be root");
}

/* --- */

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
	struct capture_event events[3];
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

/* Each trigger's program is loaded when an event needs it; the frames of a function are not there at its entry. */
static void programs_of_triggers(void **state)
{
	static const struct capture_event events[] = {
		{ .trigger = WIRE_TRIGGER_UPROBE },
		{ .trigger = WIRE_TRIGGER_UPROBE, .probe = { .plus = 4 } },
		{ .trigger = WIRE_TRIGGER_UPROBE, .probe = { .is_return = true } },
		{ .trigger = WIRE_TRIGGER_TRACEPOINT },
		{ .trigger = WIRE_TRIGGER_RAW },
	};
	struct bpf_session_options options = usual(events, 5);
	struct bpf_session *session;

	(void)state;
	strbuf_addch(&f.log, '\n');
	session = opened(&options);
	expect_line("sample_uprobe 1\nsample_tracepoint 1\nsample_raw 1\n");
	assert_null(strstr(f.log.buf, "sample 1"));
	for (unsigned int t = 0; t < WIRE_TRIGGER_COUNT; t++)
		assert_true(bpf_session_prog_fd(session, (enum wire_trigger)t) >= 1000);
	assert_true(f.rodata.event_at_entry[0]);
	assert_false(f.rodata.event_at_entry[1]);
	assert_false(f.rodata.event_at_entry[2]);
	assert_false(f.rodata.event_at_entry[3]);
	assert_int_equal(f.rodata.trigger_event[WIRE_TRIGGER_RAW], 4);
	bpf_session_free(session);
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
		[BPF_SESSION_RINGS] = "rings",	       [BPF_SESSION_COUNTERS] = "counters",
		[BPF_SESSION_TARGETS] = "targets",     [BPF_SESSION_JVMS] = "jvms",
		[BPF_SESSION_FAR_BLOBS] = "far_blobs", [BPF_SESSION_LOST] = "lost",
		[BPF_SESSION_BLOCKS] = "blocks",       [BPF_SESSION_RULES] = "rules",
		[BPF_SESSION_RANGES] = "ranges",       [BPF_SESSION_PAGES] = "pages",
		[BPF_SESSION_SPACES] = "spaces",
	};
	struct bpf_session_options options = usual(NULL, 0);
	struct bpf_session *session = opened(&options);

	(void)state;
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
