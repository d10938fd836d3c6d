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

/* --- recordings beside an output --- */

/* What stands for an output that has no name, the NUMBERth. */
static const char *temporary(unsigned int number)
{
	static char path[128];
	char digits[16] = "";

	if (number > 1)
		snprintf(digits, sizeof(digits), "-%u", number);
	snprintf(path, sizeof(path), "%s/hostprof-%u.partial%s.jfr", dir, geteuid(), digits);
	return path;
}

static const char *kept_beside(const char *said, unsigned int number)
{
	static char text[1024];

	snprintf(text, sizeof(text),
		 "%shint: the recording is in %s; hostprof report reads it\nexit 1\n", said,
		 temporary(number));
	return text;
}

static const char *said_of_leftover(const char *then)
{
	static char text[512];

	snprintf(
		text, sizeof(text),
		"hostprof: warning: %s is of a recording that was killed; hostprof report reads it\n%s",
		temporary(1), then);
	return text;
}

#define LEFT_BEHIND(name) \
	"hostprof: warning: " name " is of a recording that was killed; hostprof report reads it\n"

/* Killed it has left what was taken, whatever it was to become, and the next run tells of it. */
static void killed(void **state)
{
	(void)state;
	is_killed = true;
	expect("record -o a.jfr", "signal 9\n");
	expect_recording("a.jfr");
	expect("record -o a.txt", "signal 9\n");
	expect_recording("a.txt.partial.jfr");
	expect("record -f txt -o -", "signal 9\n");
	expect_recording(temporary(1));
	is_killed = false;
	expect("record -o a.txt",
	       LEFT_BEHIND("a.txt.partial.jfr") "hostprof: a.txt: " LAST_LINE "exit 0\n");
	expect_recording("a.txt.partial.jfr");
	assert_int_equal(size_of("a.txt.partial-2.jfr"), -1);
	assert_non_null(
		strstr(command_run(cmd_record, "record -f txt -o -"), said_of_leftover("")));
	expect_recording(temporary(1));
	assert_int_equal(unlink(temporary(1)), 0);
	assert_string_equal(names_left(), "a.jfr a.txt a.txt.partial.jfr ");
}

/* Of a run that goes on nobody is told; of a file of somebody else neither. */
static void beside_others(void **state)
{
	int fd = open("a.txt.partial.jfr", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	(void)state;
	assert_int_equal(flock(fd, LOCK_EX), 0);
	expect("record -o a.txt", "hostprof: a.txt: " LAST_LINE "exit 0\n");
	held = "a.txt.partial-2.jfr";
	expect("record -o a.txt", "hostprof: a.txt: " LAST_LINE "exit 0\n");
	held = NULL;
	close(fd);
	assert_int_equal(size_of("a.txt.partial.jfr"), 0);
	unlink("a.txt.partial.jfr");
	assert_int_equal(symlink("victim", "a.txt.partial.jfr"), 0);
	expect("record -o a.txt", "hostprof: a.txt: " LAST_LINE "exit 0\n");
	assert_int_equal(size_of("victim"), -1);
	assert_string_equal(names_left(), "a.txt a.txt.partial.jfr ");
}

/* A link to elsewhere: the recording is where the view will be. */
static void beside_a_link(void **state)
{
	char path[128];

	(void)state;
	assert_int_equal(mkdir("there", 0700), 0);
	assert_int_equal(symlink("there/b.txt", "a.txt"), 0);
	is_killed = true;
	expect("record -o a.txt", "signal 9\n");
	snprintf(path, sizeof(path), "%s/there/b.txt.partial.jfr", dir);
	expect_recording(path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir("there"), 0);
	assert_string_equal(names_left(), "a.txt ");
}

/* Who reads standard output has gone: nothing stays, and we end as others do. */
static int into_broken_pipe(int argc, char **argv)
{
	int fds[2];

	if (pipe(fds))
		return 99;
	close(fds[0]);
	dup2(fds[1], STDOUT_FILENO);
	return cmd_record(argc, argv);
}

static void a_reader_that_leaves(void **state)
{
	(void)state;
	assert_string_equal(command_run(into_broken_pipe, "record -f collapsed -o -"),
			    "signal 13\n");
	assert_string_equal(names_left(), "");
}

/* --- names of our own --- */

#define DATED "hostprof-%Y%m%d-%H%M%S.jfr"

/* Every name that the next seconds could give. */
static void take_names(int seconds)
{
	for (int i = 0; i < seconds; i++) {
		time_t at = time(NULL) + i;
		char name[64];

		strftime(name, sizeof(name), DATED, localtime(&at));
		assert_int_equal(symlink("victim", name), 0);
	}
}

/* Somebody was there before, with a link: it is neither followed nor taken away. */
static void names_that_are_taken(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct stat st;
	glob_t found;

	(void)state;
	take_names(60);
	strbuf_addstr(&text, command_run(cmd_record, "record"));
	assert_non_null(strstr(strbuf_str(&text), "-2.jfr: " LAST_LINE "exit 0\n"));
	assert_int_equal(size_of("victim"), -1);
	assert_int_equal(glob("hostprof-*-2.jfr", 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 1);
	expect_recording(found.gl_pathv[0]);
	assert_int_equal(lstat(found.gl_pathv[0], &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	globfree(&found);
	assert_int_equal(glob("hostprof-*", 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 61);
	for (size_t i = 0; i < found.gl_pathc; i++)
		unlink(found.gl_pathv[i]);
	globfree(&found);
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
	       kept_beside("hostprof: cannot write /dev/full: No space left on device\n", 1));
	plain_bytes = 0;
	expect("record -f txt -o /dev/full",
	       kept_beside(said_of_leftover(
				   "hostprof: cannot write /dev/full: No space left on device\n"),
			   2));
	expect_recording(temporary(2));
	assert_int_equal(unlink(temporary(1)), 0);
	assert_int_equal(unlink(temporary(2)), 0);
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
	setenv("TMPDIR", dir, 1);
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
	expect("record -o a.txt",
	       "hostprof: it broke\n"
	       "hint: the recording is in a.txt.partial.jfr; hostprof report reads it\nexit 1\n");
	expect_recording("a.txt.partial.jfr");
	assert_string_equal(names_left(), "a.jfr a.txt.partial.jfr ");
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
		cmocka_unit_test_setup(killed, set_up),
		cmocka_unit_test_setup(beside_others, set_up),
		cmocka_unit_test_setup(beside_a_link, set_up),
		cmocka_unit_test_setup(a_reader_that_leaves, set_up),
		cmocka_unit_test_setup(names_that_are_taken, set_up),
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
