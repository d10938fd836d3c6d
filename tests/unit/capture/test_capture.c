// SPDX-License-Identifier: Apache-2.0
/* What capture asks of BPF, perf and the cpus; all of these are the test's. */
#include "capture_parts.h"

static int open_error(void)
{
	struct err err = { 0 };
	int r;

	capture_free(TAKE_PTR(f.capture));
	r = capture_open(&f.options, &f.capture, &err);
	if (r == 0)
		r = capture_wait(f.capture, &err);
	assert_int_equal(r, err.code);
	return r;
}

/* Who drains is who takes from the rings. */
static void who_drains(void **state)
{
	(void)state;
	open_capture();
	for (int i = 0; i < 4; i++) {
		capture_drainer_waits(f.capture, i % 2);
		assert_int_equal(f.taker_waits, i % 2);
	}
	assert_int_not_equal(capture_edge_fd(f.capture), capture_fd(f.capture));
}

/* --- settings --- */

static void the_usual_settings(void **state)
{
	const struct wire_settings *s = &f.session.settings;

	(void)state;
	open_capture();
	assert_int_equal(s->budget_ns, 200000);
	assert_int_equal(s->max_user_frames, WIRE_DEFAULT_USER_FRAMES);
	assert_int_equal(s->self_tgid, getpid());
	assert_false(s->filter_tgids);
	assert_false(s->follow_children);
	assert_false(s->exclude_user);
	assert_false(s->exclude_kernel);
	assert_false(s->include_idle);
	assert_false(s->frame_pointers_only);
	assert_int_equal(s->cgroup_id, 0);
	assert_int_equal(f.targets.len, 0);
	assert_int_equal(f.session.event_count, 1);
	assert_int_equal(f.session.possible_cpus, CPUS);
	assert_int_equal(f.session.online_cpus, 3); /* 0 and 2 are */
	assert_true(f.session.threads >= 1);
	assert_int_equal(f.session.rings_fd, RINGS_FD);
	assert_int_equal(f.session.ring_bytes, f.ring_bytes);
	assert_memory_equal(f.session.events, &f.event, sizeof(f.event));
	assert_int_equal(f.perf.count, 1);
	assert_int_equal(f.perf.prog_fds[WIRE_TRIGGER_PERF], PROG_FD);
	assert_false(f.perf.exclude_user);
	assert_false(f.perf.exclude_kernel);
}

/* Each option alone, so that no two are mixed up. */
static void each_setting(void **state)
{
	struct wire_settings *s = &f.session.settings;

	const struct {
		bool *option;
		wire_u8 *setting;
	} pairs[] = {
		{ &f.options.follow_children, &s->follow_children },
		{ &f.options.exclude_user, &s->exclude_user },
		{ &f.options.exclude_kernel, &s->exclude_kernel },
		{ &f.options.include_idle, &s->include_idle },
		{ &f.options.frame_pointers_only, &s->frame_pointers_only },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		*pairs[i].option = true;
		open_capture();
		*pairs[i].option = false;
		for (size_t j = 0; j < ARRAY_SIZE(pairs); j++)
			assert_int_equal(*pairs[j].setting, i == j);
		assert_int_equal(f.perf.exclude_user, i == 1);
		assert_int_equal(f.perf.exclude_kernel, i == 2);
	}
	f.options.max_depth = 17;
	f.options.table_bytes = 1234567;
	open_capture();
	assert_int_equal(s->max_user_frames, 17);
	assert_int_equal(s->budget_ns, 200000);
	assert_int_equal(f.session.table_bytes, 1234567);
}

static void some_cpus(void **state)
{
	bool has[] = { true, false, false };
	const struct cpu_list cpus = { has, 3 };
	struct capture_stats stats;

	(void)state;
	open_capture();
	assert_null(f.session.cpus);
	assert_null(f.perf.cpus);
	capture_get_stats(f.capture, &stats);
	assert_int_equal(stats.cpus, 2);
	f.options.cpus = &cpus;
	open_capture();
	assert_ptr_equal(f.session.cpus, &cpus);
	assert_ptr_equal(f.perf.cpus, &cpus);
	capture_get_stats(f.capture, &stats);
	assert_int_equal(stats.cpus, 1);
}

static void limits_of_options(void **state)
{
	struct capture_event events[WIRE_MAX_EVENTS + 1];

	(void)state;
	f.options.max_depth = WIRE_MAX_USER_FRAMES + 1;
	assert_int_equal(open_error(), -EINVAL);
	f.options.max_depth = WIRE_MAX_USER_FRAMES;
	open_capture();
	assert_int_equal(f.session.settings.budget_ns, 400000);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		events[i] = f.event;
	f.options.events = events;
	f.options.event_count = 0;
	assert_int_equal(open_error(), -EINVAL);
	f.options.event_count = WIRE_MAX_EVENTS + 1;
	assert_int_equal(open_error(), -EINVAL);
	f.options.event_count = WIRE_MAX_EVENTS;
	open_capture();
}

static void a_cgroup(void **state)
{
	(void)state;
	f.options.cgroup_path = "/sys/fs/cgroup/a/b";
	open_capture();
	assert_int_equal(f.session.settings.cgroup_id, 4321);
	assert_int_equal(f.session.settings.cgroup_level, 2);
	f.options.cgroup_path = "/nowhere";
	assert_int_equal(open_error(), -EINVAL);
}

/* Before the first sample; the program learns their start times itself. */
static void named_processes(void **state)
{
	static const uint32_t pids[] = { 17, 4242 };

	(void)state;
	f.options.pids = pids;
	f.options.pid_count = 2;
	open_capture();
	assert_true(f.session.settings.filter_tgids);
	assert_int_equal(f.targets.len, 2);
	assert_int_equal(f.targets.items[0], 17);
	assert_int_equal(f.targets.items[1], 4242);
	assert_int_equal(f.target_start, 0);
}

static void one_process(void **state)
{
	const uint32_t pid = 17;

	(void)state;
	f.options.pids = &pid;
	f.options.pid_count = 1;
	open_capture();
	assert_true(f.session.settings.filter_tgids);
	assert_int_equal(f.targets.len, 1);
}

static void all_is_closed(void **state)
{
	(void)state;
	open_capture();
	capture_start(f.capture);
	f.log[0] = '\0';
	capture_free(f.capture);
	f.capture = NULL;
	assert_string_equal(f.log, "close 0\n"
				   "close 2\n");
}

/* --- cpus --- */

static void all_cpus_that_are_online(void **state)
{
	uint64_t before_ns = clock_now_ns();

	(void)state;
	open_capture();
	assert_string_equal(f.log, "side 0\nside 2\nopen 0\nopen 2\n");
	assert_int_equal(f.sampling_since_ns, 0);
	capture_start(f.capture);
	assert_in_range(f.sampling_since_ns, before_ns, clock_now_ns());
	capture_stop(f.capture);
	assert_int_equal(f.sampling_since_ns, 0);
}

static void one_went_just_now(void **state)
{
	(void)state;
	f.open_error[2] = -ENODEV;
	open_capture();
	assert_string_equal(f.log, "side 0\nside 2\nopen 0\n");
	f.open_error[2] = -EACCES;
	assert_int_equal(open_error(), -EPERM); /* as preflight explains it */
	f.open_error[2] = -EMFILE;
	assert_int_equal(open_error(), -EMFILE);
	f.rings_error = -EPERM;
	assert_int_equal(open_error(), -EPERM);
}

/* Whoever gives up before the program is loaded waits for that. */
static void nobody_waits_for_it(void **state)
{
	struct err err = { 0 };

	(void)state;
	assert_int_equal(capture_open(&f.options, &f.capture, &err), 0);
	capture_free(TAKE_PTR(f.capture));
	assert_int_equal(f.session.possible_cpus, CPUS);
}

static void cpus_come_and_go(void **state)
{
	struct capture_stats stats;
	struct err err;

	(void)state;
	open_capture();
	capture_start(f.capture);
	f.log[0] = '\0';
	assert_int_equal(capture_update_cpus(f.capture, &err), 0);
	assert_string_equal(f.log, "");
	f.online[2] = false;
	f.online[3] = true;
	assert_int_equal(capture_update_cpus(f.capture, &err), 0);
	assert_string_equal(f.log, "close 2\nring 3\nside 3\nopen 3\n");
	f.log[0] = '\0';
	f.online[2] = true;
	capture_stop(f.capture);
	f.log[0] = '\0';
	assert_int_equal(capture_update_cpus(f.capture, &err), 0);
	assert_string_equal(f.log, "ring 2\nside 2\nopen 2\n");
	capture_get_stats(f.capture, &stats);
	assert_int_equal(stats.cpus, 3);
	f.online[1] = true;
	f.open_error[1] = -EMFILE;
	assert_int_equal(capture_update_cpus(f.capture, &err), -EMFILE);
	f.open_error[1] = -ENODEV;
	assert_int_equal(capture_update_cpus(f.capture, &err), 0);
}

/* --- records --- */

struct seen {
	unsigned int side, samples, misses;
	char order[16];
};

static void see(struct seen *seen, char what)
{
	size_t len = strlen(seen->order);

	if (len + 1 < sizeof(seen->order))
		seen->order[len] = what;
}

static void see_side(const struct side_event *event, void *data)
{
	assert_int_equal(event->kind, SIDE_EXIT);
	see(data, (char)('0' + event->pid));
}

static void see_sample(const struct wire_sample *sample, void *data)
{
	assert_int_equal(sample->size, sizeof(*sample));
	see(data, 's');
}

static void see_miss(const struct wire_miss *miss, void *data)
{
	assert_int_equal(miss->size, sizeof(*miss));
	see(data, 'm');
}

static void see_invalid(const void *record, size_t len, void *data)
{
	assert_non_null(record);
	assert_int_equal(len, 3);
	see(data, 'x');
}

/* The side-band first: what a sample's process has mapped. A cpu that is gone has records yet. */
static void all_rings_are_drained(void **state)
{
	struct seen seen = { 0 };
	const struct capture_handler handler = { .miss = see_miss,
						 .sample = see_sample,
						 .side = see_side,
						 .invalid = see_invalid,
						 .data = &seen };
	struct capture_stats stats;
	struct err err;

	(void)state;
	open_capture();
	capture_drain(f.capture, &handler);
	assert_string_equal(seen.order, "02msx");
	f.online[2] = false;
	f.online[3] = true;
	assert_int_equal(capture_update_cpus(f.capture, &err), 0);
	capture_drain(f.capture, &handler);
	assert_string_equal(seen.order, "02msx023msx");
	capture_get_stats(f.capture, &stats);
	assert_int_equal(stats.side_lost, 20 + 20 + 30);
}

static void who_has_lost(const struct wire_lost_key *key, const struct wire_lost *lost, void *data)
{
	uint64_t *sums = data;

	assert_int_equal(key->tgid, lost->count);
	sums[0] += lost->count;
	sums[1] += lost->weight;
	sums[2]++;
}

static void losses_are_told_once(void **state)
{
	uint64_t sums[3] = { 0 };

	(void)state;
	open_capture();
	for (uint32_t i = 0; i < 3; i++) {
		f.lost_keys[i].tgid = i + 5;
		f.lost[i] = (struct wire_lost){ .count = i + 5, .weight = 100 * i };
	}
	f.lost_count = 3;
	capture_take_lost(f.capture, who_has_lost, sums);
	assert_int_equal(sums[0], 18);
	assert_int_equal(sums[1], 300);
	capture_take_lost(f.capture, who_has_lost, sums);
	assert_int_equal(sums[2], 3);
}

/* --- figures and maps --- */

static void figures_are_sums_over_cpus(void **state)
{
	struct capture_tables tables;
	struct capture_stats stats;
	uint64_t table_bytes;

	(void)state;
	open_capture();
	capture_get_stats(f.capture, &stats);
	for (uint64_t which = 0; which < WIRE_COUNTER_COUNT; which++)
		if (which != WIRE_COUNTER_FROZEN) /* could not be read */
			assert_int_equal(stats.counters[which], CPUS * which + (28ULL << 32));
	assert_int_equal(stats.counters[WIRE_COUNTER_FROZEN], 0);
	assert_int_equal(stats.bpf_run_ns, 77);
	assert_int_equal(stats.bpf_run_count, 7);
	assert_int_equal(stats.cpus, 2);
	assert_int_equal(stats.map_bytes, MAP_BYTES + 2 * 100 + 2 * 10);
	capture_get_tables(f.capture, &tables);
	table_bytes = tables.block_count * sizeof(*tables.blocks) +
		      tables.rule_count * sizeof(*tables.rules) +
		      tables.range_count * sizeof(*tables.ranges);
	assert_int_equal(stats.mapped_bytes, table_bytes + 2 * 2 * 100 + 2 * 10);
}

/* What the kernel did not run a program for is lost, too; nobody knows whose it was. */
static void what_the_kernel_missed_is_lost(void **state)
{
	struct capture_stats before, stats;

	the_usual_settings(state);
	capture_get_stats(f.capture, &before);
	f.missed = 13;
	capture_get_stats(f.capture, &stats);
	before.counters[WIRE_COUNTER_LOST] += 13;
	before.counters[WIRE_COUNTER_LOST_UNKNOWN] += 13;
	before.counters[WIRE_COUNTER_LOST_UNKNOWN_WEIGHT] += 13;
	assert_memory_equal(stats.counters, before.counters, sizeof(stats.counters));
}

/* Probes and tracepoints are there once, on a cpu that is online, and go with the rest. */
static void events_of_no_cpu(void **state)
{
	struct capture_event events[] = { f.event, f.event };

	(void)state;
	events[1].trigger = WIRE_TRIGGER_UPROBE;
	f.options.events = events;
	f.options.event_count = 2;
	f.online[0] = false;
	open_capture();
	assert_non_null(strstr(f.log, "open 2\nopen shared on 2\n"));
	assert_int_equal(f.perf.prog_fds[WIRE_TRIGGER_UPROBE], PROG_FD + WIRE_TRIGGER_UPROBE);
	capture_free(f.capture);
	f.capture = NULL;
	assert_non_null(strstr(f.log, "close 950\n"));
	f.shared_error = -ENOENT;
	assert_int_equal(open_error(), -ENOENT);
}

static void jvms_and_blobs(void **state)
{
	const struct wire_jvm jvm = { .serial = 9 };
	const struct wire_far_key key = { 0 };

	(void)state;
	open_capture();
	assert_int_equal(capture_set_jvm(f.capture, 9, &jvm), 0);
	assert_true(f.jvm_is_there);
	assert_int_equal(capture_set_jvm(f.capture, 9, NULL), 0);
	assert_false(f.jvm_is_there);
	assert_int_equal(capture_set_jvm(f.capture, 9, NULL), 0); /* it was gone already */
	assert_int_equal(capture_set_far_blob(f.capture, &key, 0x1234), 0);
	assert_int_equal(f.blob, 0x1234);
}

static void tables_are_mapped(void **state)
{
	struct capture_tables tables;

	(void)state;
	open_capture();
	capture_get_tables(f.capture, &tables);
	assert_int_equal(tables.block_count, ENTRIES);
	assert_int_equal(tables.rule_count, ENTRIES + 1);
	assert_int_equal(tables.range_count, ENTRIES + 2);
	assert_int_equal(tables.page_limit, ENTRIES + 3);
	assert_int_equal(tables.space_limit, ENTRIES + 4);
	assert_int_equal(tables.pages_fd, MAP_FD + BPF_SESSION_PAGES);
	assert_int_equal(tables.spaces_fd, MAP_FD + BPF_SESSION_SPACES);
	memset(tables.blocks, 1, ENTRIES * sizeof(*tables.blocks));
	memset(tables.rules, 2, (ENTRIES + 1) * sizeof(*tables.rules));
	memset(tables.ranges, 3, (ENTRIES + 2) * sizeof(*tables.ranges));
	assert_int_equal(*(unsigned char *)tables.blocks, 1);
	assert_int_equal(*(unsigned char *)tables.rules, 2);
	assert_int_equal(*(unsigned char *)tables.ranges, 3);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_drains),
		TEST(the_usual_settings),
		TEST(each_setting),
		TEST(some_cpus),
		TEST(limits_of_options),
		TEST(a_cgroup),
		TEST(named_processes),
		TEST(one_process),
		TEST(all_is_closed),
		TEST(all_cpus_that_are_online),
		TEST(one_went_just_now),
		TEST(nobody_waits_for_it),
		TEST(cpus_come_and_go),
		TEST(all_rings_are_drained),
		TEST(losses_are_told_once),
		TEST(figures_are_sums_over_cpus),
		TEST(what_the_kernel_missed_is_lost),
		TEST(events_of_no_cpu),
		TEST(jvms_and_blobs),
		TEST(tables_are_mapped),
	};

	return cmocka_run_group_tests_name("capture", tests, NULL, NULL);
}
