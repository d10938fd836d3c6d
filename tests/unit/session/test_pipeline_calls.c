// SPDX-License-Identifier: Apache-2.0
/* Whom the pipeline asks what, and when. */
#include "pipeline_parts.h"

#include <sys/utsname.h>

/* --- in place of the C library --- */

int malloc_trim(size_t pad)
{
	(void)pad;
	note("trim");
	return 1;
}

/* --- shares of memory, and turns --- */

static void what_is_opened(void **state)
{
	struct fixture *f = *state;
	char expected[256];

	f->capture->stats.map_bytes = 10 << 20;
	f->capture->stats.mapped_bytes = 30 << 20;
	f->pipeline_options.attach = true;
	memset(&f->pipeline, 0xee, sizeof(f->pipeline)); /* what was there does not matter */
	open_pipeline(f);
	assert_ptr_equal(f->pipeline.tables.memory.ranges, f->capture->tables->ranges);
	assert_true(f->pipeline.plan.symbol_bytes > f->pipeline.plan.file_bytes);
	snprintf(
		expected, sizeof(expected),
		"symbols up to %zu\nparsing up to %zu\nfiles up to %zu\nbudget of files %zu\nunwinder files %zu\n"
		"unwinder keeps files up to %zu\nagents, attached\n",
		(size_t)f->pipeline.plan.symbol_bytes, (size_t)f->pipeline.plan.parse_bytes,
		(size_t)f->pipeline.plan.known_bytes, (size_t)f->pipeline.plan.process_bytes,
		(size_t)f->pipeline.plan.file_bytes, (size_t)f->pipeline.plan.known_bytes);
	assert_memory_equal(noted(), expected, strlen(expected));
	assert_int_equal(f->pipeline.guard.map_bytes, 10 << 20);
	assert_int_equal(f->pipeline.guard.limit_bytes, MEMORY_DEFAULT_LIMIT_BYTES);
	/* 128 - 28 - 10 - 30 = 60 MB are left. */
	assert_int_equal(f->pipeline.plan.queue_bytes, (60ULL << 20) * 15 / 100);
}

static void a_turn(void **state)
{
	struct fixture *f = *state;

	begin(f);
	fake_advance(50 * MS);
	pipeline_turn(&f->pipeline);
	assert_string_equal(noted(),
			    "grant\nunwinder turn\ngrant\nlook at files\npoll jvms\npoll agents\n");
	fake_advance(9951 * MS);
	pipeline_turn(&f->pipeline);
	assert_string_equal(noted(),
			    "grant\nunwinder turn\ngrant\nlook at files\npoll jvms\npoll agents\n"
			    "close idle\ntidy\n");
	pipeline_turn(&f->pipeline);
	assert_null(strstr(noted(), "tidy"));
}

static void memory_is_given_up(void **state)
{
	struct fixture *f = *state;

	begin(f);
	fake_advance(1000 * MS);
	pipeline_turn(&f->pipeline);
	assert_null(strstr(noted(), "shrink"));
	f->pipeline.guard.limit_bytes = 1;
	fake_advance(700 * MS); /* until it looks again */
	pipeline_turn(&f->pipeline);
	/* First what nobody wants; that did not do. */
	assert_non_null(strstr(noted(), "shrink\ntrim\nshrink all\ntrim\n"));
	pipeline_turn(&f->pipeline);
	assert_null(strstr(noted(), "shrink"));
	assert_int_equal(f->pipeline.guard.sheds, 1);
	finish(f);
	assert_true(counter_of(&f->read, "memory.room-made") >= 1);
}

/* --- what arrives --- */

static void a_file_is_opened_at_once(void **state)
{
	struct fixture *f = *state;

	begin(f);
	put_side(f, 0,
		 (struct side_event){ .kind = SIDE_MMAP,
				      .pid = PID_A,
				      .addr = 0x5000,
				      .len = 0x2000,
				      .pgoff = 0x1000,
				      .major = 8,
				      .minor = 1,
				      .inode = 77,
				      .inode_generation = 5,
				      .name = "/bin/a" });
	put_mmap(f, 0, PID_A, "[anon]"); /* no file */
	put_named(f, 7, SIDE_EXEC, PID_A, "x");
	put_side(f, 0, (struct side_event){ .kind = SIDE_EXIT, .pid = PID_A, .tid = PID_B });
	put_named(f, 8, SIDE_EXEC, PID_A, "y");
	put_side(f, 0, (struct side_event){ .kind = SIDE_EXIT, .pid = PID_A });
	pipeline_drain(&f->pipeline);
	assert_string_equal(noted(), "grant\n"
				     "open 1 8:1:77:5 5000-7000 /bin/a\n"
				     "unwinder: 1 maps 5000-7000+1000 /bin/a\n"
				     "unwinder: 1 maps 10000000-10001000+0 [anon]\n"
				     "unwinder: exec 1 at 7\n"
				     "unwinder: exec 1 at 8\n"
				     "unwinder: exit 1\n"
				     "unwinder turn\ngrant\n");
}

/* A frame of a JVM's compiled code. */
static void put_compiled(struct fixture *f, uint32_t pid)
{
	const struct sample_spec spec = {
		.pid = pid,
		.user = { (uint64_t)WIRE_FRAME_COMPILED << WIRE_FRAME_KIND_SHIFT | MAPPED, 5 }
	};

	union {
		struct wire_sample sample;
		char space[sizeof(struct wire_sample) + 2 * sizeof(uint64_t)];
	} u;

	fill_sample(f, 0, &spec, &u.sample);
	u.sample.user_frames = 1;
	fake_put_sample(f->capture, &u.sample);
}

static void a_samples_names_are_read_at_once(void **state)
{
	struct fixture *f = *state;

	begin(f);
	put_compiled(f, PID_A); /* not known yet */
	pipeline_drain(&f->pipeline);
	assert_string_equal(noted(), "grant\nunwinder turn\ngrant\n");
	parts.is_libjvm = true;
	put_compiled(f, PID_A);
	pipeline_drain(&f->pipeline);
	assert_non_null(strstr(noted(), "grant\nfind jvm 1\nunwinder"));
	parts.jvm_is_new = true;
	put_compiled(f, PID_A);
	pipeline_drain(&f->pipeline);
	assert_non_null(strstr(noted(), "grant\nfind jvm 1\nnames from jvm of 1\nunwinder"));
	registry_exec(f->pipeline.registry, f->start_ns, PID_A, "java");
	put_compiled(f, PID_A);
	pipeline_drain(&f->pipeline);
	assert_non_null(strstr(noted(), "grant\narrive 1\nfind jvm 1\n"
					"names from jvm of 1\nunwinder"));
	parts.is_jvm = true;
	jvm_table_get(f->pipeline.jvms, registry_find(f->pipeline.registry, PID_A));
	put_compiled(f, PID_A);
	pipeline_drain(&f->pipeline);
	assert_non_null(strstr(noted(), "grant\narrive 1\nunwinder"));
	/* Native code needs none. */
	parts.is_jvm = false;
	put_leaf(f, 0, PID_A);
	pipeline_drain(&f->pipeline);
	assert_non_null(strstr(noted(), "grant\narrive 1\nunwinder"));
}

/* As only a kernel that is not ours would write it. */
static void samples_that_cannot_be(void **state)
{
	struct fixture *f = *state;

	begin(f);
	put_sample(f, 5, (struct sample_spec){ .pid = PID_A, .event = 2 });
	put_sample(f, 5, (struct sample_spec){ .pid = PID_A, .reason = UNWIND_REASON_COUNT });
	pipeline_drain(&f->pipeline);
	assert_string_equal(noted(), "grant\nunwinder turn\ngrant\n");
	assert_int_equal(f->pipeline.samples, 0);
	assert_int_equal(f->pipeline.ledger.losses[WIRE_LOSS_INVALID].count, 2);
	assert_null(merge_peek(&f->pipeline.queue));
}

/* The kernel ends it with a zero only where there is room. */
static void a_name_of_sixteen_letters(void **state)
{
	struct fixture *f = *state;

	begin(f);
	put_sample(f, 5, (struct sample_spec){ .pid = PID_A, .comm = "sixteen letters!" });
	pipeline_drain(&f->pipeline);
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	assert_int_equal(profile_get_thread(&f->pipeline.profile, 0)->java_tid, 0);
	assert_int_equal(f->pipeline.profile.samples.items[0].count, 1);
	assert_string_equal(applied(f),
			    "5 cpu 100 kernel sixteen letters.1/sixteen letters!.1: frame\n");
}

/* --- processes that were there before us --- */

/* What a child inherits is read while its parent lives, the others' some at a time. */
static void what_is_known_of_them(void **state)
{
	struct fixture *f = *state;
	const struct process *self, *parent;

	begin(f);
	snapshot(f);
	self = registry_find(f->pipeline.registry, (uint32_t)getpid());
	parent = registry_find(f->pipeline.registry, (uint32_t)getppid());
	put_side(f, 1, (struct side_event){ .kind = SIDE_EXIT, .pid = PID_A, .ppid = self->pid });
	pipeline_drain(&f->pipeline);
	assert_string_equal(self->exe, "");
	put_fork(f, 2, PID_A, self->pid);
	pipeline_drain(&f->pipeline);
	assert_string_not_equal(self->exe, "");
	assert_true(!parent || parent->cgroup[0] == '\0');
	for (int i = 0; i < 100; i++) /* 200 each */
		pipeline_turn(&f->pipeline);
	assert_true(!parent || parent->cgroup[0] != '\0');
}

/* --- the order of things --- */

static void samples_wait_for_agents(void **state)
{
	struct fixture *f = *state;

	begin(f);
	put_leaf(f, 5, PID_A);
	parts.agents_busy = true;
	run_until(f, 2000);
	assert_string_equal(applied(f), "");
	parts.agents_busy = false;
	run_until(f, 2100);
	assert_int_equal(f->pipeline.profile.samples.len, 1);
}

/* Too much is held back: order is given up before memory is. */
static void a_full_queue_goes_on(void **state)
{
	struct fixture *f = *state;

	begin(f);
	parts.agents_busy = true;
	put_leaf(f, 100, PID_A);
	run_until(f, 100);
	queue_holds(f, f->pipeline.queue.bytes - 1);
	fake_advance(30 * MS - 1);
	pipeline_turn(&f->pipeline);
	assert_int_equal(f->pipeline.profile.samples.len, 0);
	fake_advance(1);
	f->pipeline.plan.queue_bytes++; /* as much is allowed */
	pipeline_turn(&f->pipeline);
	assert_int_equal(f->pipeline.profile.samples.len, 0);
	f->pipeline.plan.queue_bytes--;
	pipeline_turn(&f->pipeline);
	assert_int_equal(f->pipeline.profile.samples.len, 1);
}

/* Nor are symbols waited for then. */
static void a_full_queue_waits_for_no_file(void **state)
{
	struct fixture *f = *state;

	begin(f);
	parts.not_ready = true;
	put_leaf(f, 1, PID_A);
	pipeline_drain(&f->pipeline);
	queue_holds(f, f->pipeline.queue.bytes);
	assert_false(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	f->pipeline.plan.queue_bytes--;
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
}

/* Files that are not read in three seconds are not waited for, until the worker gets on. */
static void files_that_cannot_be_read(void **state)
{
	struct fixture *f = *state;

	begin(f);
	parts.not_ready = true;
	parts.parsed = 5;
	put_leaf(f, 1, PID_A);
	put_leaf(f, 2, PID_A);
	run_until(f, 3200);
	assert_int_equal(f->pipeline.profile.samples.len, 0);
	run_until(f, 3400);
	assert_int_equal(f->pipeline.profile.samples.len, 2);
	assert_in_range(f->pipeline.stall_ns, 3000 * MS, 3100 * MS);
	put_leaf(f, 3300, PID_A);
	run_until(f, 3700);
	assert_int_equal(f->pipeline.profile.samples.len, 3);
	parts.parsed++;
	put_leaf(f, 3600, PID_A);
	run_until(f, 6500);
	assert_int_equal(f->pipeline.profile.samples.len, 3);
	run_until(f, 7200);
	assert_int_equal(f->pipeline.profile.samples.len, 4);
}

static void three_seconds_exactly(void **state)
{
	struct fixture *f = *state;

	begin(f);
	parts.not_ready = true;
	put_leaf(f, 1, PID_A);
	pipeline_drain(&f->pipeline);
	assert_false(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	fake_advance(3000 * MS - 1);
	assert_false(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	fake_advance(1);
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	assert_int_equal(f->pipeline.stall_ns, 3000 * MS);
}

static unsigned int count_of(const char *text, const char *word)
{
	unsigned int count = 0;

	for (; (text = strstr(text, word)); text += strlen(word))
		count++;
	return count;
}

static void the_end_waits_for_agents(void **state)
{
	struct fixture *f = *state;
	uint64_t before;

	begin(f);
	before = now_ms(f);
	finish(f);
	assert_in_range(now_ms(f) - before, 300, 330);
	assert_in_range(count_of(noted(), "poll jvms\n"), 14, 16);
}

static void nobody_keeps_what_is_gone(void **state)
{
	struct fixture *f = *state;

	begin(f);
	put_fork(f, 1, PID_A, PID_A + 100);
	put_named(f, 2, SIDE_EXEC, PID_A, "next");
	pipeline_drain(&f->pipeline);
	noted();
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	assert_string_equal(noted(), "forget agent 1\nforget names 1\nforget jvm 1\n");
	put_side(f, 10, (struct side_event){ .kind = SIDE_EXIT, .pid = PID_A });
	/* All are looked at every half second: at 2,200 ms, when its samples may still come, and then. */
	run_until(f, 2700);
	assert_null(strstr(noted(), "forget jvm 1"));
	run_until(f, 2750);
	assert_non_null(strstr(noted(), "forget agent 1\nforget names 1\nforget jvm 1\n"));
	assert_null(registry_find(f->pipeline.registry, PID_A));
}

static void ids_begin_anew_with_a_chunk(void **state)
{
	struct fixture *f = *state;
	const struct profile *p = &f->pipeline.profile;
	struct utsname uts;
	uint64_t start_ns;

	f->chunk_bytes = 1;
	begin(f);
	start_ns = p->start_ns;
	flush(f);
	assert_null(strstr(noted(), "reset ids"));
	flush(f);
	assert_string_equal(noted(), "reset ids\n");
	/* What it says of itself stays. */
	assert_int_equal(uname(&uts), 0);
	assert_string_equal(profile_get_string(p, p->host), uts.nodename);
	assert_string_equal(profile_get_string(p, p->command), "hostprof record");
	assert_int_equal(p->start_ns, start_ns);
	assert_int_equal(p->start_wall_ns - start_ns, 1000000 * NSEC_PER_SEC);
}

/* --- figures --- */

static void each_figure_has_its_name(void **state)
{
	static const struct {
		enum wire_counter counter;
		const char *name;
	} figures[] = {
		{ WIRE_COUNTER_MISSES, "unwind.misses" },
		{ WIRE_COUNTER_MISSES_DROPPED, "unwind.misses-dropped" },
		{ WIRE_COUNTER_ROW_FRAMES, "unwind.frames.row" },
		{ WIRE_COUNTER_HOT_FRAMES, "unwind.frames.hot" },
		{ WIRE_COUNTER_FP_FRAMES, "unwind.frames.frame-pointer" },
		{ WIRE_COUNTER_JIT_FRAMES, "unwind.frames.jit" },
		{ WIRE_COUNTER_JAVA_FRAMES, "unwind.frames.java" },
		{ WIRE_COUNTER_JAVA_HOT_FRAMES, "unwind.frames.java-hot" },
		{ WIRE_COUNTER_ANCHORS, "unwind.anchors" },
		{ WIRE_COUNTER_FROZEN, "unwind.frozen" },
		{ WIRE_COUNTER_FROZEN_FRAMES, "unwind.frames.frozen" },
	};
	struct fixture *f = *state;

	begin(f);
	parts.kernel_failure = "hidden";
	for (uint64_t i = 0; i < WIRE_COUNTER_COUNT; i++)
		f->capture->stats.counters[i] = 1000 + i;
	finish(f);
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
		assert_int_equal(counter_of(&f->read, figures[i].name), 1000 + figures[i].counter);
	assert_int_equal(counter_of(&f->read, "unwind.test"), 55);
	assert_int_equal(counter_of(&f->read, "symbols.file-not-read"), 2);
	assert_int_equal(counter_of(&f->read, "symbols.kernel-not-read"), 1);
	assert_int_equal(counter_of(&f->read, "jvm.no-agent"), 1);
}

static const char *detail_of(const struct profile *p, const char *name)
{
	const struct profile_counter *counter;

	vec_for_each (counter, &p->counters)
		if (!strcmp(profile_get_string(p, counter->name), name))
			return profile_get_string(p, counter->detail);
	return "";
}

static void what_figures_say(void **state)
{
	struct fixture *f = *state;

	begin(f);
	finish(f);
	assert_string_equal(detail_of(&f->read, "symbols.file-not-read"), "/lib/a: torn");
	assert_string_equal(detail_of(&f->read, "jvm.no-agent"), "pid 5000001: refused");
	assert_int_equal(counter_of(&f->read, "files.known"), 21);
	assert_int_equal(counter_of(&f->read, "files.forgotten"), 22);
	assert_int_equal(counter_of(&f->read, "limits.files"), 23);
	assert_string_equal(detail_of(&f->read, "limits.files"), "pid 5000001");
	assert_int_equal(counter_of(&f->read, "symbols.kernel-not-read"), 0);
	assert_int_equal(counter_of(&f->read, "unwind.misses"), 0);
	assert_int_equal(counter_of(&f->read, "samples.late"), 0);
	assert_int_equal(counter_of(&f->read, "unwind.orphans"), 0);
	assert_int_equal(counter_of(&f->read, "jvm.not-read"), 0);
	assert_int_equal(counter_of(&f->read, "limits.java-names"), 0);
}

/* JVMs without names. */
static void who_has_no_names(void **state)
{
	struct fixture *f = *state;

	begin(f);
	parts.unread = "its tables are torn";
	parts.unnamed = 77;
	finish(f);
	assert_string_equal(detail_of(&f->read, "jvm.not-read"), "pid 4713: its tables are torn");
	assert_int_equal(counter_of(&f->read, "limits.java-names"), 77);
	assert_string_equal(detail_of(&f->read, "limits.java-names"), "pid 4712");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_opened),
		TEST(a_turn),
		TEST(memory_is_given_up),
		TEST(a_file_is_opened_at_once),
		TEST(a_samples_names_are_read_at_once),
		TEST(samples_that_cannot_be),
		TEST(a_name_of_sixteen_letters),
		TEST(what_is_known_of_them),
		TEST(samples_wait_for_agents),
		TEST(a_full_queue_goes_on),
		TEST(a_full_queue_waits_for_no_file),
		TEST(files_that_cannot_be_read),
		TEST(three_seconds_exactly),
		TEST(the_end_waits_for_agents),
		TEST(nobody_keeps_what_is_gone),
		TEST(ids_begin_anew_with_a_chunk),
		TEST(each_figure_has_its_name),
		TEST(what_figures_say),
		TEST(who_has_no_names),
	};

	return cmocka_run_group_tests_name("pipeline_calls", tests, NULL, NULL);
}
