// SPDX-License-Identifier: Apache-2.0
/* What a stream tells, when, and how often: read from a pipe of the test's. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "profile_fixture.h"
#include "sink/stream_sink.h"

static struct stream *stream;
static struct sinks sinks;
static struct profile profile;
static struct err err;
static int fds[2];
static struct strbuf text;
static struct sink_process process;
static struct sink_sample sample;

static int setup(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	err = (struct err){ 0 };
	sinks = (struct sinks){ 0 };
	stream = NULL;
	profile_init(&profile);
	fixture_event(&profile, "cpu", "nanoseconds", 0);
	process = (struct sink_process){ 42, 0, 0, "java", "", "", "", "", "", "", "" };
	sample = (struct sink_sample){ .id = 1, .tid = 43, .thread = "main", .process = &process };
	sample.stack = profile_stack(&profile, NULL, 0);
	return pipe2(fds, O_CLOEXEC);
}

static int teardown(void **state)
{
	(void)state;
	stream_free(stream);
	profile_release(&profile);
	strbuf_release(&text);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

static void begin(struct stream_options options, bool whole_host)
{
	options.fd = fds[1];
	assert_int_equal(stream_new(&options, &stream, &err), 0);
	sinks_add(&sinks, stream_sink(stream));
	assert_int_equal(sinks_begin(&sinks, &profile, whole_host, &err), 0);
}

/* The lines that came, without what all have: {"type": and quotes. */
static const char *came(void)
{
	static const char prefix[] = "{\"type\":";
	static char piece[1 << 20];
	ssize_t n;

	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	strbuf_reset(&text);
	assert_int_equal(sinks_turn(&sinks, &err), 0);
	n = read(fds[0], piece, sizeof(piece) - 1);
	piece[MAX(n, 0)] = '\0';
	for (const char *at = piece; *at; at++) {
		if ((at == piece || at[-1] == '\n') && !strncmp(at, prefix, strlen(prefix)))
			at += strlen(prefix);
		if (*at != '"')
			strbuf_addch(&text, *at);
	}
	return strbuf_str(&text);
}

static void arrive(void)
{
	sinks_arrived(&sinks, &profile, &sample);
}

static void finish(enum sink_finish how)
{
	sinks_finished(&sinks, &profile, &sample, how);
}

static uint32_t stack_of(const char *name)
{
	uint32_t id = fixture_code(&profile, FRAME_MARK, name, PROFILE_NONE, 0);

	return profile_stack(&profile, &id, 1);
}

/* --- */

static void names_come_before_samples(void **state)
{
	(void)state;
	begin((struct stream_options){ 0 }, true);
	came();
	arrive();
	assert_string_equal(came(), "process,process:1,pid:42,name:java}\n"
				    "thread,thread:2,process:1,pid:42,tid:43,name:main}\n"
				    "sample,id:1,time_ns:0,event:cpu,weight:0,state:user,"
				    "pid:42,tid:43,thread:2,frames:[]}\n");
	sample.id = 2;
	arrive();
	assert_string_equal(came(), "sample,id:2,time_ns:0,event:cpu,weight:0,state:user,"
				    "pid:42,tid:43,thread:2,frames:[]}\n");
	finish(SINK_SAME);
	assert_string_equal(came(), "");
}

static void a_thread_with_another_name(void **state)
{
	(void)state;
	begin((struct stream_options){ 0 }, true);
	arrive();
	came();
	sample.thread = "http-worker-1";
	arrive();
	assert_non_null(strstr(came(), "thread,thread:3,process:1,pid:42,tid:43,name:http-worker"));
	sample.thread = "main"; /* it is known yet */
	arrive();
	assert_null(strstr(came(), "thread,thread"));
	sample.tid = 44;
	arrive();
	assert_non_null(strstr(came(), "thread,thread:4,process:1,pid:42,tid:44,name:main"));
	sample.is_virtual = true;
	sample.java_tid = 30;
	arrive();
	assert_non_null(strstr(came(), "thread,thread:5"));
}

/* The same pid, but another program, or another process. */
static void generations(void **state)
{
	(void)state;
	begin((struct stream_options){ 0 }, true);
	arrive();
	came();
	process.exec_id = 1;
	arrive();
	assert_non_null(strstr(came(), "process,process:3,"));
	process.start_ns = 1;
	arrive();
	assert_non_null(strstr(came(), "process,process:5,"));
}

/* What is known at arrival does not count; then it is told once. */
static void labels_that_come_late(void **state)
{
	(void)state;
	begin((struct stream_options){ 0 }, true);
	arrive();
	came();
	process.main_class = "Main";
	arrive();
	assert_null(strstr(came(), "process,process"));
	finish(SINK_SAME);
	assert_string_equal(came(), "process,process:1,pid:42,name:java,main_class:Main}\n");
	process.main_class = "";
	arrive();
	process.main_class = "Main";
	finish(SINK_SAME);
	assert_null(strstr(came(), "process,process"));
}

static void each_label_counts(void **state)
{
	const char **labels[] = { &process.name,	   &process.exe,
				  &process.container_id,   &process.cgroup,
				  &process.jvm_version,	   &process.main_class,
				  &process.container_name, &process.container_image };

	(void)state;
	begin((struct stream_options){ 0 }, true);
	arrive();
	for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
		came();
		*labels[i] = "other";
		finish(SINK_SAME);
		assert_non_null(strstr(came(), "process,process:1,"));
	}
}

static void corrections(void **state)
{
	(void)state;
	begin((struct stream_options){ 0 }, true);
	sample.stack = stack_of("[raw]");
	arrive();
	came();
	sample.stack = stack_of("[right]");
	sample.thread = "worker";
	finish(SINK_CORRECTED);
	assert_string_equal(came(),
			    "thread,thread:3,process:1,pid:42,tid:43,name:worker}\n"
			    "correction,id:1,thread:3,frames:[{name:[right],kind:mark}]}\n");
}

/* Frames' numbers begin anew. */
static void emptied_tables(void **state)
{
	(void)state;
	begin((struct stream_options){ 0 }, true);
	sample.stack = stack_of("[one]");
	finish(SINK_CORRECTED);
	came();
	assert_int_equal(sinks_rotate(&sinks, &profile, &err), 0);
	profile_release(&profile);
	profile_init(&profile);
	sample.stack = stack_of("[two]");
	finish(SINK_CORRECTED);
	assert_string_equal(came(), "correction,id:1,thread:2,frames:[{name:[two],kind:mark}]}\n");
}

static void fill_tables(void)
{
	for (uint32_t i = 0; i < 4096; i++)
		fixture_process(&profile, "x", i);
}

static void when_tables_are_to_be_emptied(void **state)
{
	(void)state;
	begin((struct stream_options){ .is_alone = true }, true);
	assert_false(sinks_want_rotation(&sinks, &profile));
	fill_tables();
	assert_true(sinks_want_rotation(&sinks, &profile));
	profile_release(&profile);
	profile_init(&profile);
	for (uint32_t i = 0; i < 1000000 && !sinks_want_rotation(&sinks, &profile); i++) {
		uint32_t frame[16] = { i };

		profile_stack(&profile, frame, 16);
	}
	assert_in_range(profile.stacks.bytes, 4 << 20, 5 << 20);
}

static void a_recording_has_its_own_limits(void **state)
{
	(void)state;
	begin((struct stream_options){ 0 }, true);
	fill_tables();
	assert_false(sinks_want_rotation(&sinks, &profile));
}

/* --- processes --- */

static void life(enum sink_life kind, uint32_t pid, uint32_t ppid)
{
	sinks_process(&sinks, &(struct sink_process_event){
				      .life = kind, .pid = pid, .ppid = ppid, .name = "ls" });
}

static void lives_of_the_whole_host(void **state)
{
	(void)state;
	begin((struct stream_options){ 0 }, true);
	came();
	life(SINK_STARTED, 7, 1);
	life(SINK_EXECED, 7, 0);
	life(SINK_EXITED, 7, 0);
	assert_string_equal(came(), "process_start,time_ns:0,pid:7,ppid:1}\n"
				    "process_exec,time_ns:0,pid:7,name:ls}\n"
				    "process_exit,time_ns:0,pid:7}\n");
}

/* Of targets that were sampled, and of their children. */
static void lives_of_targets(void **state)
{
	(void)state;
	begin((struct stream_options){ 0 }, false);
	life(SINK_STARTED, 7, 1);
	life(SINK_EXECED, 7, 0);
	life(SINK_EXITED, 7, 0);
	life(SINK_STARTED, 50, 42);
	assert_null(strstr(came(), "process_"));
	arrive();
	came();
	life(SINK_STARTED, 51, 42);
	life(SINK_EXECED, 51, 0);
	life(SINK_STARTED, 52, 51);
	life(SINK_EXITED, 51, 0);
	life(SINK_EXITED, 51, 0);
	life(SINK_EXITED, 42, 0);
	assert_string_equal(came(), "process_start,time_ns:0,pid:51,ppid:42}\n"
				    "process_exec,time_ns:0,pid:51,name:ls}\n"
				    "process_start,time_ns:0,pid:52,ppid:51}\n"
				    "process_exit,time_ns:0,pid:51}\n"
				    "process_exit,time_ns:0,pid:42}\n");
}

/* --- slow readers --- */

/* What nobody got is told again; the gap is told of before anything else. */
static void lost_lines(void **state)
{
	static char piece[1 << 20];
	unsigned int sent = 0;
	const char *lines;

	(void)state;
	begin((struct stream_options){ .buffer_bytes = 2000 }, true);
	came();
	while (!stream_lost_lines(stream)) {
		arrive();
		sent++;
	}
	sample.thread = "new";
	process.exec_id = 9;
	arrive();
	finish(SINK_CORRECTED);
	life(SINK_EXITED, 7, 0);
	sinks_lost(&sinks, &(struct sink_loss){ "cpu", "ring", 42, 3, 300 });
	assert_int_equal(stream_lost_lines(stream), 9); /* the new names twice */
	assert_int_equal(sinks_turn(&sinks, &err), 0);
	assert_true(read(fds[0], piece, sizeof(piece)) > 0);
	lines = came();
	assert_string_equal(lines, "lost_lines,lines:9,samples:2,corrections:1}\n");
	arrive();
	lines = came();
	assert_non_null(strstr(lines, "process,process:"));
	assert_non_null(strstr(lines, "name:new}\n"));
	assert_non_null(strstr(lines, "sample,id:1"));
}

/* --- readers that leave --- */

static void a_filter_ends(void **state)
{
	(void)state;
	begin((struct stream_options){ .is_alone = true }, true);
	came();
	close(fds[0]);
	assert_int_equal(sinks_turn(&sinks, &err), -EPIPE);
	assert_int_equal(stream_failure(stream), -EPIPE);
	assert_int_equal(sinks_turn(&sinks, &err), -EPIPE);
	fds[0] = -1;
}

static void beside_a_recording_it_ends_alone(void **state)
{
	(void)state;
	begin((struct stream_options){ 0 }, true);
	came();
	assert_int_equal(stream_failure(stream), 0);
	close(fds[0]);
	assert_int_equal(sinks_turn(&sinks, &err), 0);
	assert_int_equal(stream_failure(stream), -EPIPE);
	arrive();
	finish(SINK_CORRECTED);
	life(SINK_EXITED, 7, 0);
	sinks_lost(&sinks, &(struct sink_loss){ "cpu", "ring", 42, 3, 300 });
	assert_int_equal(sinks_turn(&sinks, &err), 0);
	assert_int_equal(sinks_end(&sinks, &profile, &(struct sink_sums){ 0 }, &err), 0);
	fds[0] = -1;
}

static void nobody_reads_from_the_start(void **state)
{
	struct stream_options options = { .fd = fds[1] };

	(void)state;
	close(fds[0]);
	fds[0] = -1;
	assert_int_equal(stream_new(&options, &stream, &err), -EPIPE);
}

/* --- the end --- */

static void the_last_line(void **state)
{
	char piece[8192] = "";
	const char *end;

	(void)state;
	begin((struct stream_options){ .is_alone = true }, true);
	assert_int_equal(sinks_end(&sinks, &profile, &(struct sink_sums){ 5, 6, 7 }, &err), 0);
	assert_true(read(fds[0], piece, sizeof(piece) - 1) > 0);
	end = strstr(piece, "\n{\"type\":\"end\",\"time_ns\":");
	assert_non_null(end);
	assert_non_null(strstr(end, ",\"samples\":5,\"late_samples\":6,\"lost_samples\":7,"
				    "\"lost_lines\":0}\n"));
}

/* --- collapsed --- */

static void collapsed(void **state)
{
	(void)state;
	begin((struct stream_options){ .format = STREAM_COLLAPSED, .buffer_bytes = 200 }, true);
	assert_false(sinks.hurry);
	arrive();
	sample.stack = stack_of("[right]");
	sample.weight = 7;
	finish(SINK_SAME);
	finish(SINK_CORRECTED);
	life(SINK_EXITED, 7, 0);
	sinks_lost(&sinks, &(struct sink_loss){ "cpu", "ring", 42, 3, 300 });
	assert_string_equal(came(), "# hostprof-stream 1 collapsed\njava-42;[right] 7\n"
				    "java-42;[right] 7\n# lost 3\n");
	while (!stream_lost_lines(stream))
		finish(SINK_SAME);
	came();
	assert_string_equal(came(), "# lost_lines 1\n");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

/* At the end there is time: more than the buffer holds comes whole to a reader that reads. */
static void the_end_waits_for_its_reader(void **state)
{
	static char piece[1 << 16];
	pid_t reader;
	int status = 1;

	(void)state;
	begin((struct stream_options){ .buffer_bytes = 4096 }, true);
	came();
	fcntl(fds[1], F_SETPIPE_SZ, 4096);
	reader = fork();
	if (!reader) {
		unsigned int lines = 0;
		ssize_t n;

		stream_free(stream);
		close(fds[1]);
		fcntl(fds[0], F_SETFL, 0);
		while ((n = read(fds[0], piece, sizeof(piece))) > 0)
			for (ssize_t i = 0; i < n; i++)
				lines += piece[i] == '\n';
		_exit(lines == 2003 ? 0 : 1);
	}
	sinks_ending(&sinks);
	for (sample.id = 1; sample.id <= 2000; sample.id++)
		arrive();
	assert_int_equal(sinks_end(&sinks, &profile, &(struct sink_sums){ 0 }, &err), 0);
	assert_int_equal(stream_lost_lines(stream), 0);
	stream_free(stream);
	stream = NULL;
	close(fds[1]);
	fds[1] = dup(fds[0]);
	waitpid(reader, &status, 0);
	assert_int_equal(status, 0);
}

/* One that takes nothing is waited for once. */
static void a_reader_that_has_stopped(void **state)
{
	(void)state;
	begin((struct stream_options){ .buffer_bytes = 4096 }, true);
	sinks_ending(&sinks);
	for (sample.id = 1; sample.id <= 40000; sample.id++)
		arrive();
	assert_true(stream_lost_lines(stream) > 100);
}

/* Its bytes are the allocation's, whose line came before. */
static void what_lives_has_no_collapsed_line(void **state)
{
	(void)state;
	begin((struct stream_options){ .format = STREAM_COLLAPSED }, true);
	came();
	sample.age = 3;
	finish(SINK_SAME);
	assert_string_equal(came(), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(names_come_before_samples),
		TEST(a_thread_with_another_name),
		TEST(generations),
		TEST(labels_that_come_late),
		TEST(each_label_counts),
		TEST(corrections),
		TEST(emptied_tables),
		TEST(when_tables_are_to_be_emptied),
		TEST(a_recording_has_its_own_limits),
		TEST(lives_of_the_whole_host),
		TEST(lives_of_targets),
		TEST(lost_lines),
		TEST(a_filter_ends),
		TEST(beside_a_recording_it_ends_alone),
		TEST(nobody_reads_from_the_start),
		TEST(the_last_line),
		TEST(collapsed),
		TEST(the_end_waits_for_its_reader),
		TEST(a_reader_that_has_stopped),
		TEST(what_lives_has_no_collapsed_line),
	};

	return cmocka_run_group_tests_name("stream_sink", tests, NULL, NULL);
}
