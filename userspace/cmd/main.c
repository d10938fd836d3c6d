/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "cmd/cmd.h"

const struct cmd cmd_table[] = {
	{ "record", "take samples of the whole host, or of chosen processes", cmd_record },
	{ "stream", "write each sample as a line of JSON, at once", cmd_stream },
	{ "report", "make a view of a recording", cmd_report },
	{ "list", "show the JVMs of this host", cmd_list },
	{ "attach", "load the agent into a running JVM", cmd_attach },
	{ "detach", "end the agent of a JVM", cmd_detach },
	{ "status", "show one JVM and its agent", cmd_status },
	{ "doctor", "check what recording needs on this host", cmd_doctor },
	{ "help", "explain a command", cmd_help },
	{ NULL, NULL, NULL },
};

static const struct cmd *find_command(const char *name)
{
	for (const struct cmd *c = cmd_table; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static size_t common_letters(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	return n;
}

/* The command that begins most like NAME; NULL when none has two letters in common. */
static const char *suggest(const char *name)
{
	const struct cmd *best = NULL;
	size_t most = 1;

	for (const struct cmd *c = cmd_table; c->name; c++) {
		size_t n = common_letters(c->name, name);

		if (n > most) {
			most = n;
			best = c;
		}
	}
	return best ? best->name : NULL;
}

static int unknown_command(const char *name)
{
	const char *near = suggest(name);
	struct err err;

	err_set(&err, -EINVAL, "there is no command '%s'", name);
	if (near)
		err_hint(&err, "did you mean 'hostprof %s'? hostprof help lists all", near);
	else
		err_hint(&err, "hostprof help lists the commands");
	return cmd_usage_error(&err);
}

static int run(int argc, char **argv)
{
	const struct cmd *command;
	const char *name;

	if (argc < 2) {
		cmd_print_overview(stderr);
		return CMD_USAGE;
	}
	name = argv[1];
	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		puts("hostprof " HOSTPROF_VERSION);
		return CMD_OK;
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		name = "help";
	command = find_command(name);
	if (!command)
		return unknown_command(name);
	return command->run(argc - 1, argv + 1);
}

/* Help and versions are written without a check, so it is made here. */
static int finish(int rc)
{
	struct err err;

	if (rc != CMD_OK || (!fflush(stdout) && !ferror(stdout)))
		return rc;
	err_sys(&err, errno ? -errno : -EIO, "cannot write standard output");
	return cmd_fail(&err);
}

int main(int argc, char **argv)
{
	file_fill_standard();
	return finish(run(argc, argv));
}
