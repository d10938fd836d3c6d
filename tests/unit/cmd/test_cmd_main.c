// SPDX-License-Identifier: Apache-2.0
/* main(): which command is run, what is said of one that is not there, help, and a full disk. */
#include "test.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "command_run.h"

#define main hostprof_main
#include "cmd/main.c"
#undef main

int hostprof_main(int argc, char **argv);

/* --- in place of the commands --- */

static int told(const char *what, int argc, char **argv, int rc)
{
	printf("%s:", what);
	for (int i = 0; i < argc; i++)
		printf(" %s", argv[i]);
	printf("\n");
	return rc;
}

int cmd_record(int argc, char **argv)
{
	return told("RECORD", argc, argv, 3);
}

int cmd_stream(int argc, char **argv)
{
	return told("STREAM", argc, argv, 0);
}

int cmd_report(int argc, char **argv)
{
	return told("REPORT", argc, argv, 0);
}

int cmd_list(int argc, char **argv)
{
	return told("LIST", argc, argv, 1);
}

int cmd_attach(int argc, char **argv)
{
	return told("ATTACH", argc, argv, 0);
}

int cmd_detach(int argc, char **argv)
{
	return told("DETACH", argc, argv, 0);
}

int cmd_status(int argc, char **argv)
{
	return told("STATUS", argc, argv, 0);
}

int cmd_doctor(int argc, char **argv)
{
	return told("DOCTOR", argc, argv, 0);
}

static void expect(const char *line, const char *wanted)
{
	assert_string_equal(command_run(hostprof_main, line), wanted);
}

static void each_command(void **state)
{
	(void)state;
	expect("hostprof record -a -- x", "RECORD: record -a -- x\nexit 3\n");
	expect("hostprof stream -p 1", "STREAM: stream -p 1\nexit 0\n");
	expect("hostprof report a.jfr", "REPORT: report a.jfr\nexit 0\n");
	expect("hostprof list", "LIST: list\nexit 1\n");
	expect("hostprof attach 1", "ATTACH: attach 1\nexit 0\n");
	expect("hostprof detach 1", "DETACH: detach 1\nexit 0\n");
	expect("hostprof status 1", "STATUS: status 1\nexit 0\n");
	expect("hostprof doctor", "DOCTOR: doctor\nexit 0\n");
}

static void version(void **state)
{
	(void)state;
	expect("hostprof --version", "hostprof " HOSTPROF_VERSION "\nexit 0\n");
	expect("hostprof -V", "hostprof " HOSTPROF_VERSION "\nexit 0\n");
}

/* The nearest name is said when two letters fit. */
static void no_such_command(void **state)
{
	(void)state;
	expect("hostprof repo", "hostprof: there is no command 'repo'\n"
				"hint: did you mean 'hostprof report'? hostprof help lists all\n"
				"exit 2\n");
	expect("hostprof recrod", "hostprof: there is no command 'recrod'\n"
				  "hint: did you mean 'hostprof record'? hostprof help lists all\n"
				  "exit 2\n");
	expect("hostprof liszt", "hostprof: there is no command 'liszt'\n"
				 "hint: did you mean 'hostprof list'? hostprof help lists all\n"
				 "exit 2\n");
	expect("hostprof reporter",
	       "hostprof: there is no command 'reporter'\n"
	       "hint: did you mean 'hostprof report'? hostprof help lists all\n"
	       "exit 2\n");
	expect("hostprof lib", "hostprof: there is no command 'lib'\n"
			       "hint: did you mean 'hostprof list'? hostprof help lists all\n"
			       "exit 2\n");
	expect("hostprof rxcord", "hostprof: there is no command 'rxcord'\n"
				  "hint: hostprof help lists the commands\n"
				  "exit 2\n");
}

static const char overview[] =
	"usage: hostprof COMMAND [options]\n"
	"\n"
	"Shows where the processes of this host spend CPU, native and Java, as one stack.\n"
	"\n"
	"Commands:\n"
	"  record    take samples of the whole host, or of chosen processes\n"
	"  stream    write each sample as a line of JSON, at once\n"
	"  report    make a view of a recording\n"
	"  list      show the JVMs of this host\n"
	"  attach    load the agent into a running JVM\n"
	"  detach    end the agent of a JVM\n"
	"  status    show one JVM and its agent\n"
	"  doctor    check what recording needs on this host\n"
	"  help      explain a command\n"
	"\n"
	"hostprof COMMAND --help lists a command's options; hostprof --version, the version.\n"
	"Begin with: hostprof record -d 10 -o hostprof.html\n";

static void overviews(void **state)
{
	char wanted[4096];

	(void)state;
	snprintf(wanted, sizeof(wanted), "%sexit 0\n", overview);
	expect("hostprof --help", wanted);
	expect("hostprof -h", wanted);
	expect("hostprof help", wanted);
	snprintf(wanted, sizeof(wanted), "%sexit 2\n", overview);
	expect("hostprof", wanted);
}

static void help_on_a_topic(void **state)
{
	(void)state;
	expect("hostprof help record", "RECORD: --help --help\nexit 3\n");
	expect("hostprof help doctor", "DOCTOR: --help --help\nexit 0\n");
	expect("hostprof help nothing", "hostprof: there is no help on 'nothing'\n"
					"hint: hostprof help lists the commands\nexit 2\n");
	assert_non_null(strstr(command_run(hostprof_main, "hostprof help record list"),
			       "unexpected 'list'"));
	expect("hostprof help formats",
	       "jfr         .jfr          recording, for report, jfr and JMC\n"
	       "html        .html         flame graph to look around in\n"
	       "svg         .svg          flame graph as a picture\n"
	       "pprof       .pb.gz        for go tool pprof\n"
	       "collapsed   .collapsed    one line per stack\n"
	       "txt         .txt          tables: methods, stacks, processes, threads\n"
	       "exit 0\n");
}

/* Each form that -e takes, with the unit of its weights. */
static void help_on_events(void **state)
{
	const char *text = command_run(hostprof_main, "hostprof help events");

	(void)state;
	assert_non_null(strstr(text, "cpu                           nanoseconds  CPU time"));
	assert_non_null(strstr(text, "\nuprobe:LIB:FUNC[+OFF]         count        a function"));
	assert_non_null(strstr(text, "\nuretprobe:LIB:FUNC            count"));
	assert_non_null(strstr(text, "\nGROUP:NAME                    count"));
	assert_non_null(strstr(text, "\nexit 0\n"));
}

/* A row of unwind_reasons.def each: some as people read them. */
static void help_on_reasons(void **state)
{
	const char *text = command_run(hostprof_main, "hostprof help reasons");

	(void)state;
	assert_non_null(strstr(
		text,
		"complete                complete  the walk reached the thread's first frame\n"));
	assert_non_null(strstr(text, "\ndepth                   cut       more frames than "));
	assert_non_null(
		strstr(text, "\nno-user-stack           complete  there was no user stack"));
	assert_non_null(strstr(text, "\nexit 0\n"));
}

static int with_full_disk(int argc, char **argv)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	dup2(fd, STDOUT_FILENO);
	setvbuf(stdout, NULL, _IOFBF, 65536);
	return hostprof_main(argc, argv);
}

static int with_one_line_refused(int argc, char **argv)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	dup2(fd, STDOUT_FILENO);
	return hostprof_main(argc, argv);
}

/* What is written only when the buffer is flushed fails there. */
static void full_disk(void **state)
{
	static const char wanted[] =
		"hostprof: cannot write standard output: No space left on device\nexit 1\n";

	(void)state;
	assert_string_equal(command_run(with_full_disk, "hostprof --version"), wanted);
	assert_string_equal(command_run(with_one_line_refused, "hostprof --version"), wanted);
	/* Its own failure is the one that is told. */
	assert_string_equal(command_run(with_full_disk, "hostprof record"), "exit 3\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_command),	   cmocka_unit_test(version),
		cmocka_unit_test(no_such_command), cmocka_unit_test(overviews),
		cmocka_unit_test(help_on_a_topic), cmocka_unit_test(help_on_reasons),
		cmocka_unit_test(help_on_events),  cmocka_unit_test(full_disk),
	};

	return cmocka_run_group_tests_name("cmd_main", tests, NULL, NULL);
}
