// SPDX-License-Identifier: Apache-2.0
/* record: where the recording goes, and its exit code. The run is the test's. */
#include "record_world.h"

#include <errno.h>
#include <time.h>

#include "recording/recording.h"
#include "terminal.h"

#define STACKS                                                                                     \
	"java-4242;clone3;java.lang.Thread.run;com.acme.Order.place;[libc.so.6+0x31234];vfs_read " \
	"3\n"                                                                                      \
	"java-4242;clone3;java.lang.Thread.run;com.acme.Order.place;com.acme.Item.price;"          \
	"java.util.HashMap.get 7\n"                                                                \
	"sh-99;[unwind: bad-frame-pointer];[libc.so.6+0x31234];vfs_read 2\n"

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
	assert_int_equal(p.samples.len, 5);
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
			    "hostprof: standard output: " NO_EVENTS "exit 0\n");
	assert_int_equal(file_read("copy", 1 << 20, &text), 0);
	assert_int_equal(text.len, plain_bytes);
	for (uint32_t i = 0; i < plain_bytes / 4; i++)
		assert_memory_equal(text.buf + (size_t)i * 4, &i, 4);
	expect("record -f jfr -o /dev/null", "hostprof: /dev/null: " NO_EVENTS "exit 0\n");
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
	};

	return cmocka_run_group_tests_name("cmd_record", tests, make_dir, remove_dir);
}
