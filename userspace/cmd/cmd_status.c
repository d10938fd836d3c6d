/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "cmd/cmd.h"
#include "cmd/jvm_argument.h"
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
	struct json j;
	int rc = jvm_argument_parse(&usage, argc, argv, &info);

	if (rc != CMD_CONTINUE)
		return rc;
	json_init(&j, &out, true);
	if (as_json)
		jvm_show_json(&j, &info);
	else
		jvm_show_lines(&out, &info);
	return cmd_print(&out);
}
