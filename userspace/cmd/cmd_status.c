/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "cmd/cmd.h"
#include "cmd/jvm_show.h"

static bool as_json;

static const struct option_row rows[] = {
	{ OPTION_TYPE_FLAG, 0, "json", NULL, "print JSON", &as_json, NULL },
	OPTION_END,
};

static const struct command_usage usage = {
	.name = "status",
	.synopsis = "PID [--json]",
	.summary = "Show one JVM and its agent. Nothing is sent to it.",
	.rows = rows,
};

int cmd_status(int argc, char **argv)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct jvm_info info;
	struct err err = { 0 };
	struct json j;
	uint32_t pid;
	int rest, rc = cmd_parse(&usage, argc, argv, 1, 1, &rest);

	if (rc != CMD_CONTINUE)
		return rc;
	if (cmd_parse_pid(argv[rest], &pid, &err) < 0)
		return cmd_fail_argument(&err);
	if (jvm_info_read(pid, &info, &err) < 0)
		return cmd_fail(&err);
	json_init(&j, &out, true);
	if (as_json)
		jvm_show_json(&j, &info);
	else
		jvm_show_lines(&out, &info);
	return cmd_print(&out);
}
