// SPDX-License-Identifier: Apache-2.0
/* Each line, whole: the keys are a contract (docs/stream.md). */
#include "test.h"

#include <string.h>

#include "profile_fixture.h"
#include "sink/stream_line.h"

static struct profile profile;
static struct stream_frames frames;
static struct strbuf out;

static int setup(void **state)
{
	(void)state;
	profile_init(&profile);
	fixture_event(&profile, "cpu", "nanoseconds", 10101010);
	fixture_event(&profile, "faults", "count", 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	stream_frames_release(&frames);
	strbuf_release(&out);
	profile_release(&profile);
	return 0;
}

static void expect(const char *line)
{
	assert_string_equal(strbuf_str(&out), line);
	strbuf_reset(&out);
}

static const struct sink_process java = {
	.pid = 42,
	.exec_id = 3,
	.start_ns = 999,
	.name = "java",
	.exe = "/usr/bin/java",
	.container_id = "abc",
	.cgroup = "/a/b",
	.jvm_version = "17.0.1",
	.main_class = "com.acme.Main",
	.container_name = "shop",
	.container_image = "acme/shop:3",
};
static const struct sink_process bare = {
	.pid = 7,
	.name = "sh",
	.exe = "",
	.container_id = "",
	.cgroup = "",
	.jvm_version = "",
	.main_class = "",
	.container_name = "",
	.container_image = "",
};

static struct sink_sample a_sample(const uint32_t *ids, uint32_t len)
{
	return (struct sink_sample){ .id = 12,
				     .time_ns = 18446744073709551615ULL,
				     .weight = 5,
				     .event = 1,
				     .stack = profile_stack(&profile, ids, len),
				     .state = STATE_RUNNING_KERNEL,
				     .tid = 43,
				     .java_tid = 9,
				     .thread = "worker",
				     .process = &java };
}

static void the_first_line(void **state)
{
	(void)state;
	profile.host = profile_string(&profile, "build7");
	profile.command = profile_string(&profile, "hostprof stream -p \"1\"");
	profile.start_ns = 5;
	profile.start_wall_ns = 6;
	stream_line_begin(&out, &profile);
	expect("{\"type\":\"begin\",\"format\":\"hostprof-stream\",\"version\":1,"
	       "\"hostprof\":\"" HOSTPROF_VERSION "\",\"host\":\"build7\","
	       "\"command\":\"hostprof stream -p \\\"1\\\"\",\"time_ns\":5,\"wall_time_ns\":6,"
	       "\"events\":[{\"event\":\"cpu\",\"weight_unit\":\"nanoseconds\","
	       "\"period\":10101010},{\"event\":\"faults\",\"weight_unit\":\"count\"}]}\n");
}

static void processes_and_threads(void **state)
{
	struct sink_sample sample = a_sample(NULL, 0);

	(void)state;
	stream_line_process(&out, 1, &java);
	expect("{\"type\":\"process\",\"process\":1,\"pid\":42,\"start_time_ns\":999,"
	       "\"name\":\"java\",\"exe\":\"/usr/bin/java\",\"container\":\"abc\","
	       "\"container_name\":\"shop\",\"container_image\":\"acme/shop:3\",\"cgroup\":\"/a/b\",\"jvm_version\":\"17.0.1\",\"main_class\":\"com.acme.Main\"}\n");
	stream_line_process(&out, 2, &bare);
	expect("{\"type\":\"process\",\"process\":2,\"pid\":7,\"name\":\"sh\"}\n");
	stream_line_thread(&out, 3, 1, &sample);
	expect("{\"type\":\"thread\",\"thread\":3,\"process\":1,\"pid\":42,\"tid\":43,"
	       "\"name\":\"worker\",\"java_tid\":9}\n");
	sample.is_virtual = true;
	stream_line_thread(&out, 3, 1, &sample);
	expect("{\"type\":\"thread\",\"thread\":3,\"process\":1,\"pid\":42,\"tid\":43,"
	       "\"name\":\"worker\",\"java_tid\":9,\"virtual\":true}\n");
	sample.is_virtual = false;
	sample.java_tid = 0;
	stream_line_thread(&out, 3, 1, &sample);
	expect("{\"type\":\"thread\",\"thread\":3,\"process\":1,\"pid\":42,\"tid\":43,"
	       "\"name\":\"worker\"}\n");
}

/* Leaf first; what has no name yet has its module and its address. */
static void samples(void **state)
{
	uint32_t libc = fixture_mapping(&profile, "/lib/libc.so.6", "ab", 0x26000, 0x17b000);
	uint32_t ids[] = {
		fixture_code(&profile, FRAME_KERNEL, "vfs_read", PROFILE_NONE, 0xffffffff81234567),
		fixture_code(&profile, FRAME_NATIVE, "read", libc, 0x31000),
		fixture_code(&profile, FRAME_NATIVE, "", libc, 0x31234),
		fixture_code(&profile, FRAME_NATIVE, "", PROFILE_NONE, 0xdead),
		fixture_java(&profile, FRAME_JAVA_INLINED, "com.acme.Order", "place", 10),
		fixture_overload(&profile, FRAME_JAVA_JIT, "A", "go", "(I)V"),
		fixture_code(&profile, FRAME_MARK, "[unwind: budget]", PROFILE_NONE, 0),
	};
	struct sink_sample sample = a_sample(ids, ARRAY_SIZE(ids));
	static const char stack[] =
		"\"frames\":[{\"name\":\"vfs_read\",\"kind\":\"kernel\"},"
		"{\"name\":\"read\",\"kind\":\"native\",\"module\":\"/lib/libc.so.6\"},"
		"{\"name\":\"[libc.so.6+0x31234]\",\"kind\":\"native\","
		"\"module\":\"/lib/libc.so.6\",\"address\":201268},"
		"{\"name\":\"[unknown+0xdead]\",\"kind\":\"native\",\"address\":57005},"
		"{\"name\":\"com.acme.Order.place\",\"kind\":\"java-inlined\",\"line\":10,"
		"\"file\":\"Source.java\"},"
		"{\"name\":\"A.go\",\"kind\":\"java-jit\",\"descriptor\":\"(I)V\"},"
		"{\"name\":\"[unwind: budget]\",\"kind\":\"mark\"}]}\n";
	char line[2048];

	(void)state;
	for (int i = 0; i < 2; i++) { /* made, and known */
		stream_line_sample(&out, &frames, &profile, &sample, 3);
		snprintf(line, sizeof(line),
			 "{\"type\":\"sample\",\"id\":12,\"time_ns\":18446744073709551615,"
			 "\"event\":\"faults\",\"weight\":5,\"state\":\"kernel\",\"pid\":42,"
			 "\"tid\":43,\"thread\":3,%s",
			 stack);
		expect(line);
	}
	sample.id = 13;
	stream_line_correction(&out, &frames, &profile, &sample, 4);
	snprintf(line, sizeof(line), "{\"type\":\"correction\",\"id\":13,\"thread\":4,%s", stack);
	expect(line);
	sample = a_sample(NULL, 0);
	stream_line_correction(&out, &frames, &profile, &sample, 4);
	expect("{\"type\":\"correction\",\"id\":12,\"thread\":4,\"frames\":[]}\n");
}

/* Of allocations; of what is alive; and of neither. */
static void objects_and_ages(void **state)
{
	static const struct {
		uint64_t objects;
		uint32_t age;
		const char *keys;
	} cases[] = {
		{ 7, 0, ",\"weight_unit\":\"bytes\",\"objects\":7" },
		{ 7, 3, ",\"weight_unit\":\"bytes\",\"objects\":7,\"age\":3" },
		{ 0, 0, "" },
	};
	struct sink_sample sample = a_sample(NULL, 0);

	(void)state;
	sample.event = fixture_event(&profile, "alloc", "bytes", 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char line[512];

		sample.objects = cases[i].objects;
		sample.age = cases[i].age;
		stream_line_sample(&out, &frames, &profile, &sample, 3);
		snprintf(line, sizeof(line),
			 "{\"type\":\"sample\",\"id\":12,\"time_ns\":18446744073709551615,"
			 "\"event\":\"alloc\",\"weight\":5%s,\"state\":\"kernel\",\"pid\":42,"
			 "\"tid\":43,\"thread\":3,\"frames\":[]}\n",
			 cases[i].keys);
		expect(line);
	}
}

/* The numbers of a profile whose tables were emptied mean other frames. */
static void frames_of_another_profile(void **state)
{
	uint32_t id = fixture_code(&profile, FRAME_MARK, "[one]", PROFILE_NONE, 0);
	struct sink_sample sample = a_sample(&id, 1);

	(void)state;
	stream_line_correction(&out, &frames, &profile, &sample, 4);
	profile_release(&profile);
	profile_init(&profile);
	stream_frames_release(&frames);
	assert_int_equal(fixture_code(&profile, FRAME_MARK, "[two]", PROFILE_NONE, 0), id);
	sample = a_sample(&id, 1);
	strbuf_reset(&out);
	stream_line_correction(&out, &frames, &profile, &sample, 4);
	expect("{\"type\":\"correction\",\"id\":12,\"thread\":4,"
	       "\"frames\":[{\"name\":\"[two]\",\"kind\":\"mark\"}]}\n");
}

static void states(void **state)
{
	static const char *const names[] = { "user", "kernel", "sleeping", "unknown" };
	struct sink_sample sample = a_sample(NULL, 0);

	(void)state;
	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++) {
		char key[32];

		sample.state = i;
		stream_line_sample(&out, &frames, &profile, &sample, 3);
		snprintf(key, sizeof(key), ",\"state\":\"%s\",", names[i]);
		assert_non_null(strstr(strbuf_str(&out), key));
		strbuf_reset(&out);
	}
}

static void lives_and_losses(void **state)
{
	struct sink_process_event event = { SINK_STARTED, 9, 42, 7, "" };

	(void)state;
	stream_line_life(&out, &event);
	expect("{\"type\":\"process_start\",\"time_ns\":9,\"pid\":42,\"ppid\":7}\n");
	event = (struct sink_process_event){ SINK_EXECED, 9, 42, 0, "ls" };
	stream_line_life(&out, &event);
	expect("{\"type\":\"process_exec\",\"time_ns\":9,\"pid\":42,\"name\":\"ls\"}\n");
	event.life = SINK_EXITED;
	stream_line_life(&out, &event);
	expect("{\"type\":\"process_exit\",\"time_ns\":9,\"pid\":42}\n");
	stream_line_loss(&out, &(struct sink_loss){ "cpu", "ring", 42, 3, 300 });
	expect("{\"type\":\"lost\",\"pid\":42,\"event\":\"cpu\",\"reason\":\"ring\","
	       "\"samples\":3,\"weight\":300}\n");
	stream_line_loss(&out, &(struct sink_loss){ "", "invalid", 0, 1, 0 });
	expect("{\"type\":\"lost\",\"reason\":\"invalid\",\"samples\":1,\"weight\":0}\n");
	stream_line_lost_lines(&out, 5, 3, 1);
	expect("{\"type\":\"lost_lines\",\"lines\":9,\"samples\":5,\"corrections\":3}\n");
	stream_line_end(&out, 77, &(struct sink_sums){ 100, 2, 3 }, 9);
	expect("{\"type\":\"end\",\"time_ns\":77,\"samples\":100,\"late_samples\":2,"
	       "\"lost_samples\":3,\"lost_lines\":9}\n");
}

/* Names come from other processes: nothing in them ends a line. */
static void hostile_names(void **state)
{
	static const char bad[] = "a\nb\r\"\\\xff\xc3\x01\x1b[1m;";
	uint32_t id = fixture_code(&profile, FRAME_MARK, bad, PROFILE_NONE, 0);
	struct sink_sample sample = a_sample(&id, 1);
	struct sink_process process = bare;

	(void)state;
	process.name = sample.thread = bad;
	sample.process = &process;
	stream_line_process(&out, 2, &process);
	expect("{\"type\":\"process\",\"process\":2,\"pid\":7,\"name\":"
	       "\"a\\nb\\r\\\"\\\\\xef\xbf\xbd\xef\xbf\xbd\\u0001\\u001b[1m;\"}\n");
	stream_line_thread(&out, 3, 2, &sample);
	stream_line_life(&out, &(struct sink_process_event){ SINK_EXECED, 9, 42, 0, bad });
	stream_line_sample(&out, &frames, &profile, &sample, 3);
	for (size_t i = 0, lines = 0; i < out.len; i++) {
		lines += out.buf[i] == '\n';
		assert_true((unsigned char)out.buf[i] >= 0x20 || out.buf[i] == '\n');
		if (i == out.len - 1)
			assert_int_equal(lines, 3);
	}
	strbuf_reset(&out);
	stream_line_collapsed(&out, &profile, &sample);
	expect("a b \"\\\xff\xc3??[1m:-7;a b \"\\\xff\xc3??[1m: 5\n");
}

static void collapsed(void **state)
{
	uint32_t ids[] = { fixture_code(&profile, FRAME_NATIVE, "leaf", PROFILE_NONE, 1),
			   fixture_code(&profile, FRAME_NATIVE, "", PROFILE_NONE, 0xdead),
			   fixture_java(&profile, FRAME_JAVA_JIT, "A", "b", 10) };
	struct sink_sample sample = a_sample(ids, 3);

	(void)state;
	strbuf_addstr(&out, "before;\n");
	stream_line_collapsed(&out, &profile, &sample);
	expect("before;\njava-42;A.b;[unknown+0xdead];leaf 5\n");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_first_line), TEST(processes_and_threads),
		TEST(samples),	      TEST(objects_and_ages),
		TEST(samples),	      TEST(frames_of_another_profile),
		TEST(states),	      TEST(lives_and_losses),
		TEST(hostile_names),  TEST(collapsed),
	};

	return cmocka_run_group_tests_name("stream_line", tests, NULL, NULL);
}
