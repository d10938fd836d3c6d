// SPDX-License-Identifier: Apache-2.0
/* What a command line asks of the recorder. Each is parsed in a process of its own, as in life. */
#include "test.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "cmd/cmd.h"
#include "cmd/record_args.h"
#include "cmd/record_stream.h"

#define MAX_ARGS 16

/* What the recorder gets, and what is not its business, as text. */
static void print_options(const struct record_args *args, const struct drive_options *o)
{
	const struct capture_options *c = &o->recorder.capture;

	for (unsigned int i = 0; i < c->event_count; i++)
		printf("event %s\n", c->events[i].name);
	for (unsigned int i = 0; i < c->pid_count; i++)
		printf("pid %u\n", c->pids[i]);
	for (unsigned int i = 0; c->cpus && i < c->cpus->size; i++)
		printf("cpu %u: %s\n", i, c->cpus->has[i] ? "yes" : "no");
	if (c->cgroup_path)
		printf("cgroup %s\n", c->cgroup_path);
	if (c->exclude_user || c->exclude_kernel || c->include_idle || c->frame_pointers_only)
		printf("only%s%s%s%s\n", c->exclude_user ? " kernel" : "",
		       c->exclude_kernel ? " user" : "", c->include_idle ? " with idle" : "",
		       c->frame_pointers_only ? " by frame pointers" : "");
	if (c->max_depth || c->ring_bytes)
		printf("depth %u, ring %llu\n", c->max_depth, (unsigned long long)c->ring_bytes);
	if (o->duration_ns || o->recorder.memory_limit_bytes)
		printf("for %llu ms in %llu\n", (unsigned long long)o->duration_ns / 1000000,
		       (unsigned long long)o->recorder.memory_limit_bytes);
	if (args->chunk_bytes || args->chunk_ns)
		printf("chunks of %llu, %llu ms\n", (unsigned long long)args->chunk_bytes,
		       (unsigned long long)args->chunk_ns / 1000000);
	for (unsigned int i = 0; o->command && o->command[i]; i++)
		printf("argument %s\n", o->command[i]);
	if (o->whole_host)
		printf("all\n");
	if (c->tells_wakers)
		printf("wakers\n");
	if (o->recorder.jvm_shows)
		printf("shows %u\n", o->recorder.jvm_shows);
	printf("agent %d, at %llu ns, \"%s\"\n", (int)o->recorder.agent,
	       (unsigned long long)c->events[0].period, o->recorder.command_line);
	if (record_stream.target)
		printf("stream to %s\n", record_stream.target);
	if (args->stream_format == STREAM_COLLAPSED)
		printf("collapsed\n");
	if (args->stats_path)
		printf("stats %s\n", args->stats_path);
}

static void child(char *line, int fd)
{
	char *argv[MAX_ARGS + 1] = { NULL }, *save;
	struct drive_options options;
	struct record_args *args;
	int argc = 0, rc;

	for (char *word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	rc = strcmp(argv[0], "stream") ? record_args_parse(argc, argv, &args)
				       : stream_args_parse(argc, argv, &args);
	if (rc == CMD_CONTINUE) {
		options = record_args_options(args);
		print_options(args, &options);
	} else {
		printf("code %d\n", rc);
	}
	fflush(stdout);
	_exit(0);
}

/* What comes of "record …". */
static const char *parse(const char *text)
{
	static char out[8192];
	char line[512];
	size_t len = 0;
	int fds[2];
	ssize_t n;
	pid_t pid;

	snprintf(line, sizeof(line), "%s", text);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0)
		child(line, fds[1]);
	close(fds[1]);
	while (len < sizeof(out) - 1 && (n = read(fds[0], out + len, sizeof(out) - 1 - len)) > 0)
		len += (size_t)n;
	out[len] = '\0';
	close(fds[0]);
	waitpid(pid, NULL, 0);
	return out;
}

static void by_default(void **state)
{
	(void)state;
	assert_string_equal(parse("record"),
			    "event cpu\nagent 0, at 10101010 ns, \"hostprof record\"\n");
}

static void each_option(void **state)
{
	static const char end[] = "agent 0, at 10101010 ns, \"hostprof record";

	static const struct {
		const char *line, *expected;
	} cases[] = {
		{ "-a", "all\n" },
		{ "-p 1,1 -p 1", "pid 1\npid 1\npid 1\n" },
		{ "--cgroup /tmp", "cgroup /tmp\n" },
		{ "--cpu 0", "cpu 0: yes\n" },
		{ "--cpu 0,0 --cpu 0", "cpu 0: yes\n" },
		{ "--all-user", "only user\n" },
		{ "--all-kernel", "only kernel\n" },
		{ "--include-idle", "only with idle\n" },
		{ "--unwind fp", "only by frame pointers\n" },
		{ "--unwind auto", "" },
		{ "--vtable", "shows 1\n" },
		{ "--comptask", "shows 2\n" },
		{ "--vtable --comptask", "shows 3\n" },
		{ "-d 90s", "for 90000 ms in 0\n" },
		{ "--memory-limit 48M", "for 0 ms in 50331648\n" },
		{ "--max-depth 2048", "depth 2048, ring 0\n" },
		{ "--ring-size 64k", "depth 0, ring 65536\n" },
		{ "--ring-size 1G", "depth 0, ring 1073741824\n" },
		{ "--chunk-time 1500ms", "chunks of 0, 1500 ms\n" },
		{ "--chunk-size 256M", "chunks of 268435456, 0 ms\n" },
		{ "-- prog -a --x", "argument prog\nargument -a\nargument --x\n" },
		{ "-a -- prog", "argument prog\nall\n" },
	};

	char line[128], expected[256];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(line, sizeof(line), "record %s", cases[i].line);
		snprintf(expected, sizeof(expected), "event cpu\n%s%s %s\"\n", cases[i].expected,
			 end, cases[i].line);
		assert_string_equal(parse(line), expected);
	}
}

static void events_and_frequencies(void **state)
{
	(void)state;
	assert_non_null(strstr(parse("record -F 1000"), "at 1000000 ns"));
	assert_non_null(strstr(parse("record -F 20000"), "at 50000 ns"));
	assert_non_null(strstr(parse("record -F 1"), "at 1000000000 ns"));
	assert_non_null(strstr(parse("record -e page-faults -e cpu"),
			       "event page-faults\nevent cpu\nagent 0, at 64 ns"));
	assert_non_null(strstr(parse("record -e cpu,alloc=64k -e page-faults"),
			       "event cpu\nevent alloc\nevent page-faults\nagent 0,"));
	assert_non_null(strstr(parse("record -e page-faults=3,mem:0x10/2=7"),
			       "event page-faults\nevent mem:0x10/2\nagent 0, at 3 ns"));
	/* The frequency may come after the event. */
	assert_non_null(strstr(parse("record -e cpu -F 1000"), "at 1000000 ns"));
}

static void agents(void **state)
{
	(void)state;
	assert_non_null(strstr(parse("record --agent always"), "\nagent 1,"));
	assert_non_null(strstr(parse("record --agent never"), "\nagent 2,"));
	assert_non_null(strstr(parse("record --agent auto"), "\nagent 0,"));
	assert_non_null(strstr(parse("record --stats s.json"), "stats s.json\n"));
}

static void wakers_of_waits(void **state)
{
	(void)state;
	assert_non_null(
		strstr(parse("record -e cpu,offcpu --waker"), "event offcpu\nwakers\nagent 0"));
	assert_non_null(strstr(parse("record -e wall --waker"), "event wall\nwakers\n"));
	assert_non_null(strstr(parse("record -e lock --waker"), "event lock\nwakers\n"));
	assert_null(strstr(parse("record -e offcpu"), "wakers\n"));
}

static void what_does_not_go(void **state)
{
	static const char *const bad[] = {
		"-F 0",
		"--waker",
		"-e cpu,page-faults --waker",
		"-F 20001",
		"-d 0",
		"-d x",
		"-p 0",
		"-p ,",
		"-p 1,x",
		"-e nothing",
		"-e cpu -e cpu",
		"--agent x",
		"--unwind x",
		"--max-depth 2049",
		"--ring-size 32k",
		"--ring-size 100k",
		"--ring-size 2G",
		"--memory-limit 47M",
		"--chunk-size 257M",
		"--chunk-time x",
		"--cgroup /no/such/group",
		"--cpu x",
		"--cpu 0,",
		"--cpu 8000",
		"-e mem:counter",
		"-e page-faults=1,page-faults=2",
		"--all-user --all-kernel",
		"-a -p 1",
		"-a --cgroup /tmp",
		"-p 1 -- prog",
		"--cgroup /tmp -- prog",
		"prog",
		"--",
	};
	char line[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(line, sizeof(line), "record %s", bad[i]);
		if (!strstr(parse(line), "code ") || strstr(parse(line), "agent 0, at"))
			fail_msg("%s is taken: %s", line, parse(line));
	}
}

static void streams(void **state)
{
	(void)state;
	assert_non_null(strstr(parse("record --stream a.ndjson"), "stream to a.ndjson\n"));
	assert_string_equal(parse("stream -p 1 -F 997 -d 2s"),
			    "event cpu\npid 1\nfor 2000 ms in 0\nagent 0, at 1003009 ns, "
			    "\"hostprof stream -p 1 -F 997 -d 2s\"\n");
	assert_null(strstr(parse("stream --format ndjson"), "collapsed\n"));
	assert_non_null(strstr(parse("stream --format collapsed"), "collapsed\n"));
	assert_non_null(strstr(parse("stream --format x"), "is none of ndjson, collapsed"));
	assert_non_null(strstr(parse("stream -o x"), "code 2"));
	assert_non_null(strstr(parse("stream -p 1 -- prog"), "code 2"));
	assert_non_null(strstr(parse("stream --help"), "The lines of ndjson"));
	assert_null(strstr(parse("record --help"), "The lines of ndjson"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_default),
		cmocka_unit_test(each_option),
		cmocka_unit_test(events_and_frequencies),
		cmocka_unit_test(wakers_of_waits),
		cmocka_unit_test(agents),
		cmocka_unit_test(what_does_not_go),
		cmocka_unit_test(streams),
	};

	return cmocka_run_group_tests_name("record_args", tests, NULL, NULL);
}
