// SPDX-License-Identifier: Apache-2.0
/* record: where the recording goes, what is said of the run, and its exit code. The run is the test's. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "capture/preflight/preflight.h"
#include "cmd/cmd.h"
#include "cmd/drive/drive.h"
#include "command_run.h"
#include "recording/recording.h"
#include "terminal.h"
#include "view_fixture.h"

#define LAST                                                         \
	"12 samples, 2 processes, 0 JVMs, 83.33 % complete stacks, " \
	"1 lost (1 of unknown processes)"
#define LAST_LINE LAST "\n"
#define STACKS                                                                                     \
	"java-4242;clone3;java.lang.Thread.run;com.acme.Order.place;[libc.so.6+0x31234];vfs_read " \
	"3\n"                                                                                      \
	"java-4242;clone3;java.lang.Thread.run;com.acme.Order.place;com.acme.Item.price;"          \
	"java.util.HashMap.get 7\n"                                                                \
	"sh-99;[unwind: bad-frame-pointer];[libc.so.6+0x31234];vfs_read 2\n"

static char dir[] = "/tmp/hostprof-test-XXXXXX";
static int preflight_error, run_error;
static bool nothing_taken, shows_progress;
static size_t plain_bytes; /* of a run that writes such in place of a recording */
static struct recorder_result result;
static struct drive_progress progress;

/* --- in place of capture/ and session/ --- */

int preflight_explain(struct err *err)
{
	return preflight_error ? err_set(err, preflight_error, "not on this host") : 0;
}

static void write_recording(const struct sinks *sinks)
{
	struct err err = { 0 };
	struct profile p;

	view_fixture_init(&p);
	assert_int_equal(sinks_flush(sinks, &p, &err), 0);
	if (sinks_want_rotation(sinks, &p))
		printf("a chunk ends\n");
	assert_int_equal(sinks_end(sinks, &p, &(struct sink_sums){ 0 }, &err), 0);
	profile_release(&p);
}

/* Into the recording, which is the only empty file that is open for reading and writing. */
static void write_plain(void)
{
	uint32_t *words = calloc(1, plain_bytes);
	struct stat st;
	int fd = 0;

	for (int i = 3; i < 64; i++)
		if (!fstat(i, &st) && S_ISREG(st.st_mode) && !st.st_size &&
		    (fcntl(i, F_GETFL) & O_ACCMODE) == O_RDWR)
			fd = i;
	assert_true(fd > 0);
	for (uint32_t i = 0; i < plain_bytes / 4; i++)
		words[i] = i;
	assert_int_equal(file_write_all(fd, words, plain_bytes), 0);
	free(words);
}

int drive_run(const struct drive_options *options, struct recorder_result *ret_result,
	      struct err *err)
{
	if (options->progress && shows_progress)
		options->progress(&progress);
	else if (options->progress)
		printf("progress is wanted\n");
	if (plain_bytes)
		write_plain();
	else if (!nothing_taken)
		write_recording(&options->recorder.sinks);
	*ret_result = result;
	return run_error ? err_set(err, run_error, "it broke") : 0;
}

static int set_up(void **state)
{
	(void)state;
	preflight_error = run_error = 0;
	nothing_taken = shows_progress = false;
	plain_bytes = 0;
	result = (struct recorder_result){
		.samples = 12, .complete = 10, .processes = 2, .lost = 1
	};
	result.capture.counters[WIRE_COUNTER_LOST_UNKNOWN] = 1;
	return 0;
}

/* --- what is in DIR --- */

/* All names, and of none a rest of an output; then DIR is empty. */
static const char *names_left(void)
{
	static char names[512];
	glob_t all;

	names[0] = 0;
	assert_true(glob("*", GLOB_PERIOD, NULL, &all) == 0);
	for (size_t i = 0; i < all.gl_pathc; i++) {
		if (all.gl_pathv[i][0] == '.' && strlen(all.gl_pathv[i]) <= 2)
			continue;
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s ",
			 all.gl_pathv[i]);
		unlink(all.gl_pathv[i]);
	}
	globfree(&all);
	return names;
}

static off_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : st.st_size;
}

static void expect_file(const char *path, const char *wanted)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	assert_int_equal(file_read(path, 65536, &text), 0);
	assert_string_equal(strbuf_str(&text), wanted);
}

#define expect(line, wanted) assert_string_equal(command_run(cmd_record, line), wanted)

/* Begins NAME as a recording that is whole? */
static void expect_recording(const char *name)
{
	const struct recording_read_options options = { .merge = true };
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	struct err err = { 0 };
	struct profile p;
	bool truncated = true;

	profile_init(&p);
	assert_int_equal(recording_read(fd, &options, &p, &truncated, &err), 0);
	assert_false(truncated);
	assert_int_equal(p.samples.len, 4);
	profile_release(&p);
	close(fd);
}

/* --- outputs --- */

static void without_an_output(void **state)
{
	const char *text, *name;
	char first[64], last[64];
	time_t now = time(NULL);

	(void)state;
	strftime(first, sizeof(first), "hostprof-%Y%m%d-%H%M%S.jfr ", localtime(&now));
	text = command_run(cmd_record, "record");
	assert_non_null(strstr(text, "java.util.HashMap.get"));
	assert_non_null(strstr(text, "\nhostprof: hostprof-2"));
	assert_non_null(strstr(text, ".jfr: " LAST_LINE "exit 0\n"));
	now = time(NULL);
	strftime(last, sizeof(last), "hostprof-%Y%m%d-%H%M%S.jfr ", localtime(&now));
	name = names_left();
	assert_true(strcmp(name, first) >= 0 && strcmp(name, last) <= 0);
}

static void named_recordings(void **state)
{
	struct stat st;

	(void)state;
	expect("record -o a.jfr", "hostprof: a.jfr: " LAST_LINE "exit 0\n");
	expect_recording("a.jfr");
	assert_int_equal(stat("a.jfr", &st), 0);
	/* Written once more it is as long: what was there is gone. */
	assert_int_equal(truncate("a.jfr", 1 << 20), 0);
	expect("record -o a.jfr", "hostprof: a.jfr: " LAST_LINE "exit 0\n");
	assert_int_equal(size_of("a.jfr"), st.st_size);
	expect("record -f jfr -o b", "hostprof: b: " LAST_LINE "exit 0\n");
	expect_recording("b");
	assert_string_equal(names_left(), "a.jfr b ");
}

static void views(void **state)
{
	(void)state;
	expect("record -o a.collapsed", "hostprof: a.collapsed: " LAST_LINE "exit 0\n");
	expect_file("a.collapsed", STACKS);
	expect("record -f collapsed -o a.txt -t", "hostprof: a.txt: " LAST_LINE "exit 0\n");
	expect("record -f collapsed -o -",
	       STACKS "hostprof: standard output: " LAST_LINE "exit 0\n");
	assert_non_null(strstr(command_run(cmd_record, "record -o -"), "Hot methods\n"));
	assert_string_equal(names_left(), "a.collapsed a.txt ");
}

static int into_copy(int argc, char **argv)
{
	dup2(open("copy", O_RDWR | O_CREAT | O_CLOEXEC, 0600), STDOUT_FILENO);
	return cmd_record(argc, argv);
}

/* Standard output and devices cannot be read back: they get a copy at the end. */
static void copies(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	(void)state;
	plain_bytes = 700000;
	assert_string_equal(command_run(into_copy, "record -f jfr -o -"),
			    "hostprof: standard output: " LAST_LINE "exit 0\n");
	assert_int_equal(file_read("copy", 1 << 20, &text), 0);
	assert_int_equal(text.len, plain_bytes);
	for (uint32_t i = 0; i < plain_bytes / 4; i++)
		assert_memory_equal(text.buf + (size_t)i * 4, &i, 4);
	expect("record -f jfr -o /dev/null", "hostprof: /dev/null: " LAST_LINE "exit 0\n");
	expect("record -f jfr -o /dev/full",
	       "hostprof: cannot write /dev/full: No space left on device\n"
	       "exit 1\n");
	plain_bytes = 0;
	expect("record -f txt -o /dev/full",
	       "hostprof: cannot write /dev/full: No space left on device\n"
	       "exit 1\n");
	assert_string_equal(names_left(), "copy ");
}

static int on_terminal(int argc, char **argv)
{
	dup2(terminal_open(), STDOUT_FILENO);
	return cmd_record(argc, argv);
}

static void outputs_that_cannot_be(void **state)
{
	(void)state;
	expect("record -o no/a.jfr", "hostprof: cannot write no/a.jfr: No such file or directory\n"
				     "exit 1\n");
	expect("record -o no/a.txt", "hostprof: cannot write no/a.txt: No such file or directory\n"
				     "exit 1\n");
	expect("record -o a.nothing",
	       "hostprof: the name 'a.nothing' does not say a format\n"
	       "hint: give -f FORMAT, or one of: .jfr, .html, .svg, .pb.gz, .collapsed, .txt\n"
	       "exit 2\n");
	expect("record -f nothing", "hostprof: there is no format 'nothing'\n"
				    "hint: formats: jfr, html, svg, pprof, collapsed, txt\n"
				    "exit 2\n");
	expect("record -o a.txt --stats no/a.json",
	       "hostprof: cannot write no/a.json: No such file or directory\n"
	       "exit 1\n");
	assert_string_equal(command_run(on_terminal, "record -f jfr -o -"),
			    "hostprof: jfr is not for a terminal\n"
			    "hint: give -o FILE\n"
			    "exit 2\n");
	assert_string_equal(command_run(on_terminal, "record -f pprof -o a.pb.gz"),
			    "hostprof: a.pb.gz: " LAST_LINE "exit 0\n");
	assert_string_equal(names_left(), "a.pb.gz ");
	assert_non_null(strstr(command_run(on_terminal, "record -f pprof"), ".pb.gz: " LAST_LINE));
	names_left();
	setenv("TMPDIR", "/nonexistent", 1);
	expect("record -f jfr -o -",
	       "hostprof: cannot create a temporary file in /nonexistent: No such file or directory\n"
	       "hint: set TMPDIR to a directory with room for the recording\n"
	       "exit 1\n");
	expect("record -f txt -o a", "hostprof: a: " LAST_LINE "exit 0\n");
	unsetenv("TMPDIR");
	assert_string_equal(names_left(), "a ");
}

/* --- runs that fail --- */

static void refused(void **state)
{
	(void)state;
	assert_int_equal(symlink("kept", "a.jfr"), 0);
	expect("record -o kept",
	       "hostprof: the name 'kept' does not say a format\n"
	       "hint: give -f FORMAT, or one of: .jfr, .html, .svg, .pb.gz, .collapsed, .txt\n"
	       "exit 2\n");
	unlink("a.jfr");
	expect("record -o a.jfr", "hostprof: a.jfr: " LAST_LINE "exit 0\n");
	preflight_error = -EPERM;
	expect("record -o a.jfr", "hostprof: not on this host\nexit 3\n");
	expect_recording("a.jfr");
	expect("record -o b.jfr", "hostprof: not on this host\nexit 3\n");
	assert_string_equal(names_left(), "a.jfr ");
}

static void nothing_was_taken(void **state)
{
	(void)state;
	run_error = -EOPNOTSUPP;
	nothing_taken = true;
	expect("record -o a.jfr", "hostprof: it broke\nexit 3\n");
	run_error = -EIO;
	expect("record -o a.txt", "hostprof: it broke\nexit 1\n");
	assert_string_equal(names_left(), "");
	/* A file of somebody stays, without what was in it. */
	close(open("a.jfr", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	plain_bytes = 100;
	expect("record -o a.jfr", "hostprof: it broke\nexit 1\n");
	assert_int_equal(size_of("a.jfr"), 0);
	assert_string_equal(names_left(), "a.jfr ");
	expect("record -o a.jfr", "hostprof: it broke\nexit 1\n");
	assert_string_equal(names_left(), "");
}

static void broke_in_the_middle(void **state)
{
	(void)state;
	run_error = -EIO;
	expect("record -o a.jfr", "hostprof: it broke\n"
				  "hint: what was recorded until then is in a.jfr\nexit 1\n");
	expect_recording("a.jfr");
	expect("record -o a.txt", "hostprof: it broke\nexit 1\n");
	assert_string_equal(names_left(), "a.jfr ");
}

static void limits_of_chunks(void **state)
{
	(void)state;
	expect("record -o a.jfr --chunk-size 100",
	       "a chunk ends\nhostprof: a.jfr: " LAST_LINE "exit 0\n");
	expect("record -o a.jfr --chunk-time 1s",
	       "a chunk ends\nhostprof: a.jfr: " LAST_LINE "exit 0\n");
	expect("record -o a.jfr --chunk-time 1h --chunk-size 1M",
	       "hostprof: a.jfr: " LAST_LINE "exit 0\n");
	names_left();
}

/* --- a stream beside it --- */

/* Both are there, and the recording is written first. */
static void streams(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	(void)state;
	expect("record -o a.jfr --stream a.ndjson", "hostprof: a.jfr: " LAST_LINE "exit 0\n");
	expect_recording("a.jfr");
	assert_int_equal(file_read("a.ndjson", 65536, &text), 0);
	assert_non_null(strstr(strbuf_str(&text), "{\"type\":\"end\","));
	expect("record -o a.jfr --stream /dev/full",
	       "hostprof: warning: /dev/full: the stream ended early: No space left on device\n"
	       "hostprof: a.jfr: " LAST_LINE "exit 0\n");
	expect_recording("a.jfr");
	expect("record -o a.jfr --stream no/such/dir",
	       "hostprof: cannot write the stream to no/such/dir: No such file or directory\n"
	       "exit 1\n");
	expect("record -o a.jfr --stream 99",
	       "hostprof: cannot write the stream to 99: Bad file descriptor\n"
	       "hint: ./99 is the file of this name\nexit 1\n");
	names_left();
}

/* --- what is said --- */

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

static void inlined_methods(void **state)
{
	(void)state;
	result.jvms = 2;
	result.jvms_with_agent = 1;
	expect("record -o a.jfr",
	       "hostprof: inlined Java methods are not shown; --agent=always shows them\n"
	       "hostprof: a.jfr: 12 samples, 2 processes, 2 JVMs (1 with agent), 83.33 % complete stacks, 1 lost (1 of unknown processes)\n"
	       "exit 0\n");
	expect("record -o a.jfr --agent always",
	       "hostprof: of JVMs that ended before they took the agent inlined methods are not shown\n"
	       "hostprof: a.jfr: 12 samples, 2 processes, 2 JVMs (1 with agent), 83.33 % complete stacks, 1 lost (1 of unknown processes)\n"
	       "exit 0\n");
	result.agents_refused = 1;
	result.refused_pid = 42;
	snprintf(result.refusal, sizeof(result.refusal), "it runs with -Xrs");
	expect("record -o a.jfr",
	       "hostprof: warning: JVM 42: it runs with -Xrs; methods inlined in its code are not shown\n"
	       "hostprof: a.jfr: 12 samples, 2 processes, 2 JVMs (1 with agent), 83.33 % complete stacks, 1 lost (1 of unknown processes)\n"
	       "exit 0\n");
	result.agents_refused = 2;
	expect("record -o a.jfr",
	       "hostprof: warning: JVM 42: it runs with -Xrs (and other JVMs, see the report); methods inlined in its code are not shown\n"
	       "hostprof: a.jfr: 12 samples, 2 processes, 2 JVMs (1 with agent), 83.33 % complete stacks, 1 lost (1 of unknown processes)\n"
	       "exit 0\n");
	result.agents_refused = 0;
	result.jvms_with_agent = 2;
	expect("record -o a.jfr",
	       "hostprof: a.jfr: 12 samples, 2 processes, 2 JVMs (2 with agent), 83.33 % complete stacks, 1 lost (1 of unknown processes)\n"
	       "exit 0\n");
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

static int make_dir(void **state)
{
	(void)state;
	return !mkdtemp(dir) || chdir(dir);
}

static int remove_dir(void **state)
{
	(void)state;
	return chdir("/") || rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(without_an_output, set_up),
		cmocka_unit_test_setup(named_recordings, set_up),
		cmocka_unit_test_setup(views, set_up),
		cmocka_unit_test_setup(copies, set_up),
		cmocka_unit_test_setup(outputs_that_cannot_be, set_up),
		cmocka_unit_test_setup(refused, set_up),
		cmocka_unit_test_setup(nothing_was_taken, set_up),
		cmocka_unit_test_setup(broke_in_the_middle, set_up),
		cmocka_unit_test_setup(limits_of_chunks, set_up),
		cmocka_unit_test_setup(streams, set_up),
		cmocka_unit_test_setup(statistics, set_up),
		cmocka_unit_test_setup(end_of_the_command, set_up),
		cmocka_unit_test_setup(inlined_methods, set_up),
		cmocka_unit_test_setup(a_counter_that_is_not_there, set_up),
		cmocka_unit_test_setup(progress_on_a_terminal, set_up),
	};

	return cmocka_run_group_tests_name("cmd_record", tests, make_dir, remove_dir);
}
