// SPDX-License-Identifier: Apache-2.0
/* report: which view of which event goes where, and what is said when there is none. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cmd/cmd.h"
#include "cmd/view_flags.h"
#include "command_run.h"
#include "recording/recording.h"
#include "terminal.h"
#include "view_fixture.h"

static char dir[] = "/tmp/hostprof-test-XXXXXX";

/* "report in.jfr MORE" in DIR. */
static const char *report(const char *more)
{
	char line[256];

	snprintf(line, sizeof(line), "report in.jfr %s", more);
	return command_run(cmd_report, line);
}

static void views(void **state)
{
	(void)state;
	assert_string_equal(
		report("-f collapsed"),
		"java-4242;clone3;java.lang.Thread.run;com.acme.Order.place;[libc.so.6+0x31234];vfs_read 3\n"
		"java-4242;clone3;java.lang.Thread.run;com.acme.Order.place;com.acme.Item.price;java.util.HashMap.get 7\n"
		"sh-99;[unwind: bad-frame-pointer];[libc.so.6+0x31234];vfs_read 2\n"
		"exit 0\n");
	assert_non_null(strstr(report(""), "com.acme.Order.place"));
	assert_string_equal(
		report("-f collapsed -o -"),
		"java-4242;clone3;java.lang.Thread.run;com.acme.Order.place;[libc.so.6+0x31234];vfs_read 3\n"
		"java-4242;clone3;java.lang.Thread.run;com.acme.Order.place;com.acme.Item.price;java.util.HashMap.get 7\n"
		"sh-99;[unwind: bad-frame-pointer];[libc.so.6+0x31234];vfs_read 2\n"
		"exit 0\n");
	assert_int_equal(memcmp(report("-f svg"), "<svg ", 5), 0);
}

static void each_option(void **state)
{
	(void)state;
	assert_string_equal(
		report("-f collapsed -t"),
		"java-4242;[worker:1 tid=4243];clone3;java.lang.Thread.run;com.acme.Order.place;[libc.so.6+0x31234];vfs_read 3\n"
		"java-4242;[worker:1 tid=4243];clone3;java.lang.Thread.run;com.acme.Order.place;com.acme.Item.price;java.util.HashMap.get 7\n"
		"sh-99;[sh tid=99];[unwind: bad-frame-pointer];[libc.so.6+0x31234];vfs_read 2\n"
		"exit 0\n");
	assert_string_equal(
		report("-f collapsed -t --thread-groups --include vfs_read"),
		"java-4242;[worker:*];clone3;java.lang.Thread.run;com.acme.Order.place;[libc.so.6+0x31234];vfs_read 3\n"
		"sh-99;[sh];[unwind: bad-frame-pointer];[libc.so.6+0x31234];vfs_read 2\n"
		"exit 0\n");
	assert_string_equal(
		report("-f collapsed --annotate"),
		"java-4242;clone3;java.lang.Thread.run_[0];com.acme.Order.place_[j];[libc.so.6+0x31234];vfs_read_[k] 3\n"
		"java-4242;clone3;java.lang.Thread.run_[0];com.acme.Order.place_[j];com.acme.Item.price_[i];java.util.HashMap.get_[i] 7\n"
		"sh-99;[unwind: bad-frame-pointer];[libc.so.6+0x31234];vfs_read_[k] 2\n"
		"exit 0\n");
	assert_string_equal(
		report("-f collapsed --total"),
		"java-4242;clone3;java.lang.Thread.run;com.acme.Order.place;[libc.so.6+0x31234];vfs_read 30\n"
		"java-4242;clone3;java.lang.Thread.run;com.acme.Order.place;com.acme.Item.price;java.util.HashMap.get 70\n"
		"sh-99;[unwind: bad-frame-pointer];[libc.so.6+0x31234];vfs_read 20\n"
		"exit 0\n");
	assert_string_equal(
		report("-f collapsed --lines"),
		"java-4242;clone3;java.lang.Thread.run:833;com.acme.Order.place:10;[libc.so.6+0x31234];vfs_read 3\n"
		"java-4242;clone3;java.lang.Thread.run:833;com.acme.Order.place:10;com.acme.Item.price:20;java.util.HashMap.get:30 7\n"
		"sh-99;[unwind: bad-frame-pointer];[libc.so.6+0x31234];vfs_read 2\n"
		"exit 0\n");
	assert_string_equal(
		report("-f collapsed --all-user"),
		"java-4242;clone3;java.lang.Thread.run;com.acme.Order.place;[libc.so.6+0x31234] 3\n"
		"java-4242;clone3;java.lang.Thread.run;com.acme.Order.place;com.acme.Item.price;java.util.HashMap.get 7\n"
		"sh-99;[unwind: bad-frame-pointer];[libc.so.6+0x31234] 2\n"
		"exit 0\n");
	assert_string_equal(report("-f collapsed --all-kernel"), "java-4242;vfs_read 3\n"
								 "sh-99;vfs_read 2\n"
								 "exit 0\n");
	assert_non_null(strstr(report("-f svg --title Mine"), "Mine<"));
	assert_non_null(strstr(report("-f txt"), "HashMap"));
	assert_non_null(
		strstr(report("-f txt --top 1"), "HashMap.get\n                       (7 more)\n"));
}

static void chosen_stacks_and_names(void **state)
{
	(void)state;
	assert_string_equal(
		report("-f collapsed --include com.acme.Item.* --include *nothing"),
		"java-4242;clone3;java.lang.Thread.run;com.acme.Order.place;com.acme.Item.price;java.util.HashMap.get 7\n"
		"exit 0\n");
	assert_string_equal(report("-f collapsed --exclude clone3"),
			    "sh-99;[unwind: bad-frame-pointer];[libc.so.6+0x31234];vfs_read 2\n"
			    "exit 0\n");
	assert_string_equal(report("-f collapsed --include Order.place"), "exit 0\n");
	assert_string_equal(report("-f collapsed --simple --include *HashMap.get"),
			    "java-4242;clone3;Thread.run;Order.place;Item.price;HashMap.get 7\n"
			    "exit 0\n");
	/* What has no descriptor stays as it is. */
	assert_string_equal(report("-f collapsed --signatures --include *HashMap.get"),
			    "java-4242;clone3;java.lang.Thread.run;com.acme.Order.place;"
			    "com.acme.Item.price;java.util.HashMap.get 7\n"
			    "exit 0\n");
	assert_non_null(strstr(report("-f svg"), "vfs_read"));
	assert_null(strstr(report("-f svg --min-width 60"), "vfs_read"));
	assert_string_equal(report("--min-width 101"),
			    "hostprof: --min-width: '101' is not within 0 to 100\n"
			    "exit 2\n");
	assert_string_equal(report("--min-width 1x"),
			    "hostprof: --min-width: '1x' is not within 0 to 100\n"
			    "exit 2\n");
}

static void events(void **state)
{
	(void)state;
	assert_string_equal(
		report("-f collapsed --event cpu"),
		"java-4242;clone3;java.lang.Thread.run;com.acme.Order.place;[libc.so.6+0x31234];vfs_read 3\n"
		"java-4242;clone3;java.lang.Thread.run;com.acme.Order.place;com.acme.Item.price;java.util.HashMap.get 7\n"
		"sh-99;[unwind: bad-frame-pointer];[libc.so.6+0x31234];vfs_read 2\n"
		"exit 0\n");
	assert_string_equal(report("-f collapsed --event alloc"),
			    "java-4242;clone3;java.lang.Thread.run;byte[] 1\n"
			    "exit 0\n");
	assert_string_equal(report("-f collapsed --event cycles"),
			    "hostprof: the recording has no event 'cycles'\n"
			    "hint: it has: cpu, alloc, live\n"
			    "exit 1\n");
}

static void into_a_file(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct stat st;

	(void)state;
	assert_string_equal(report("-o out.collapsed"), "exit 0\n");
	assert_int_equal(file_read("out.collapsed", 65536, &text), 0);
	assert_true(text.len > 200);
	assert_int_equal(memcmp(text.buf, report("-f collapsed"), text.len), 0);
	assert_int_equal(unlink("out.collapsed"), 0);
	assert_string_equal(report("-f collapsed -o out.txt"), "exit 0\n");
	strbuf_reset(&text);
	assert_int_equal(file_read("out.txt", 65536, &text), 0);
	assert_true(text.len > 200);
	assert_int_equal(memcmp(text.buf, report("-f collapsed"), text.len), 0);
	assert_int_equal(unlink("out.txt"), 0);
	assert_string_equal(report("-f pprof -o /dev/full"),
			    "hostprof: cannot write /dev/full: No space left on device\n"
			    "exit 1\n");
	assert_string_equal(report("-f txt -o no/such.txt"),
			    "hostprof: cannot write no/such.txt: No such file or directory\n"
			    "exit 1\n");
	/* What fails leaves nothing. */
	assert_string_equal(report("-o out.txt --event nothing"),
			    "hostprof: the recording has no event 'nothing'\n"
			    "hint: it has: cpu, alloc, live\n"
			    "exit 1\n");
	assert_int_equal(stat("out.txt", &st), -1);
}

static void mistakes(void **state)
{
	(void)state;
	assert_string_equal(report("-f nothing"),
			    "hostprof: there is no format 'nothing'\n"
			    "hint: formats: jfr, html, svg, pprof, collapsed, txt\n"
			    "exit 2\n");
	assert_string_equal(
		report("-o out.nothing"),
		"hostprof: the name 'out.nothing' does not say a format\n"
		"hint: give -f FORMAT, or one of: .jfr, .html, .svg, .pb.gz, .collapsed, .txt\n"
		"exit 2\n");
	assert_string_equal(report("-f jfr"),
			    "hostprof: report makes views; it does not write jfr\n"
			    "exit 2\n");
	assert_string_equal(report("-o out.jfr"),
			    "hostprof: report makes views; it does not write jfr\n"
			    "exit 2\n");
	assert_string_equal(report("--all-user --all-kernel"),
			    "hostprof: --all-user does not go with --all-kernel\n"
			    "exit 2\n");
	assert_non_null(strstr(report("other.jfr"), "unexpected 'other.jfr'\n"));
	assert_non_null(strstr(command_run(cmd_report, "report"), "something is missing\n"));
	assert_non_null(strstr(command_run(cmd_report, "report --help"), "exit 0\n"));
}

static int on_terminal(int argc, char **argv)
{
	dup2(terminal_open(), STDOUT_FILENO);
	return cmd_report(argc, argv);
}

static void not_for_a_terminal(void **state)
{
	(void)state;
	assert_string_equal(command_run(on_terminal, "report in.jfr -f pprof"),
			    "hostprof: pprof is not for a terminal\n"
			    "hint: give -o FILE\n"
			    "exit 2\n");
	assert_non_null(
		strstr(command_run(on_terminal, "report in.jfr -f pprof -o -"), "exit 2\n"));
	assert_string_equal(command_run(on_terminal, "report in.jfr -f pprof -o x.pb.gz"),
			    "exit 0\n");
	assert_int_equal(unlink("x.pb.gz"), 0);
	assert_string_equal(command_run(on_terminal, "report in.jfr -f collapsed"), "exit 0\n");
}

static void what_cannot_be_read(void **state)
{
	(void)state;
	assert_string_equal(command_run(cmd_report, "report none.jfr"),
			    "hostprof: cannot open none.jfr: No such file or directory\n"
			    "exit 1\n");
	assert_string_equal(
		command_run(cmd_report, "report /dev/null"),
		"hostprof: cannot read /dev/null: a recording is a regular file, and this is none\n"
		"exit 1\n");
	assert_string_equal(
		command_run(cmd_report, "report cut.jfr -f collapsed"),
		"hostprof: warning: cut.jfr ends in the middle; shown is what was written before\n"
		"java-4242;clone3;java.lang.Thread.run;com.acme.Order.place;[libc.so.6+0x31234];vfs_read 3\n"
		"java-4242;clone3;java.lang.Thread.run;com.acme.Order.place;com.acme.Item.price;java.util.HashMap.get 7\n"
		"sh-99;[unwind: bad-frame-pointer];[libc.so.6+0x31234];vfs_read 2\n"
		"exit 0\n");
}

static void options_of_a_view(void **state)
{
	struct view_flags flags = { .top = UINT64_MAX };

	(void)state;
	assert_int_equal(view_flags_options(&flags).top, UINT32_MAX);
	assert_int_equal(view_flags_options(&flags).event, PROFILE_NONE);
	flags.top = 7;
	assert_int_equal(view_flags_options(&flags).top, 7);
}

/* in.jfr, and cut.jfr that lacks its end. */
static int set_up(void **state)
{
	struct recording_writer *writer;
	struct err err = { 0 };
	struct profile p;
	int fd, cut;
	char buf[65536];
	ssize_t n;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	fd = open("in.jfr", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	view_fixture_init(&p);
	assert_int_equal(recording_writer_new(fd, &writer, &err), 0);
	assert_int_equal(recording_writer_flush(writer, &p, &err), 0);
	n = pread(fd, buf, sizeof(buf), 0);
	assert_int_equal(recording_writer_finish(writer, &p, &err), 0);
	recording_writer_free(writer);
	profile_release(&p);
	close(fd);
	cut = open("cut.jfr", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(cut, buf, (size_t)n), n);
	close(cut);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink("in.jfr");
	unlink("cut.jfr");
	return chdir("/") || rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(views),
		cmocka_unit_test(each_option),
		cmocka_unit_test(chosen_stacks_and_names),
		cmocka_unit_test(events),
		cmocka_unit_test(into_a_file),
		cmocka_unit_test(mistakes),
		cmocka_unit_test(not_for_a_terminal),
		cmocka_unit_test(what_cannot_be_read),
		cmocka_unit_test(options_of_a_view),
	};

	return cmocka_run_group_tests_name("cmd_report", tests, set_up, tear_down);
}
