/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "capture/event.h"
#include "cmd/cmd.h"
#include "output/view.h"
#include "wire.h"

static const struct option_row rows[] = { OPTION_END };

static const struct command_usage usage = {
	.name = "help",
	.synopsis = "[COMMAND | events | formats | reasons]",
	.summary =
		"Explain a command, events, the output formats, or the reasons for which a stack can end early.",
	.rows = rows,
};

void cmd_print_overview(FILE *to)
{
	fputs("usage: hostprof COMMAND [options]\n\n"
	      "Shows where the processes of this host spend CPU, native and Java, as one stack.\n\n"
	      "Commands:\n",
	      to);
	for (const struct cmd *c = cmd_table; c->name; c++)
		fprintf(to, "  %-10s%s\n", c->name, c->summary);
	fputs("\nhostprof COMMAND --help lists a command's options; hostprof --version, the version.\n"
	      "Begin with: hostprof record -d 10 -o hostprof.html\n",
	      to);
}

static void print_formats(void)
{
	for (const struct view_format *f = view_formats; f->name; f++)
		printf("%-12s%-14s%s\n", f->name, f->extension, f->summary);
}

static void print_events(void)
{
	for (const struct capture_event_row *e = capture_event_rows; e->name; e++)
		if (e->help)
			printf("%-30s%-13s%s\n", e->name, e->unit, e->help);
}

static void print_reasons(void)
{
#define UNWIND_REASON(name, id, whole, text) \
	printf("%-24s%-10s%s\n", id, (whole) ? "complete" : "cut", text);
#include "unwind_reasons.def"
#undef UNWIND_REASON
}

static int print_topic(const char *topic)
{
	char *argv[] = { NULL, (char[]){ "--help" }, NULL };
	struct err err;

	if (!strcmp(topic, "events")) {
		print_events();
		return CMD_OK;
	}
	if (!strcmp(topic, "formats")) {
		print_formats();
		return CMD_OK;
	}
	if (!strcmp(topic, "reasons")) {
		print_reasons();
		return CMD_OK;
	}
	for (const struct cmd *c = cmd_table; c->name; c++) {
		if (!strcmp(c->name, topic)) {
			argv[0] = argv[1];
			return c->run(2, argv);
		}
	}
	err_set(&err, -EINVAL, "there is no help on '%s'", topic);
	err_hint(&err, "hostprof help lists the commands");
	return cmd_usage_error(&err);
}

int cmd_help(int argc, char **argv)
{
	int rest, rc = cmd_parse(&usage, argc, argv, 0, 1, &rest);

	if (rc != CMD_CONTINUE)
		return rc;
	if (rest < argc)
		return print_topic(argv[rest]);
	cmd_print_overview(stdout);
	return CMD_OK;
}
