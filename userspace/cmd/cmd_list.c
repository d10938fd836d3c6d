/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/jvm_show.h"

static bool as_json;

static const struct option_row rows[] = {
	{ OPTION_TYPE_FLAG, 0, "json", NULL, "print JSON", &as_json, NULL },
	OPTION_END,
};

static const struct command_usage usage = {
	.name = "list",
	.synopsis = "[--json]",
	.summary =
		"Show the JVMs of this host: their version, main class, agent, and whether the agent can be loaded. Nothing is sent to them.",
	.rows = rows,
};

static void put_table(struct strbuf *out, const struct jvm_info *infos, unsigned int count)
{
	strbuf_addf(out, "%-8s %-12s %-26s %-7s %-7s %-13s %s\n", "PID", "USER", "VERSION", "AGENT",
		    "ATTACH", "CONTAINER", "MAIN CLASS");
	for (unsigned int i = 0; i < count; i++) {
		const struct jvm_info *info = &infos[i];

		strbuf_addf(out, "%-8u %-12s %-26s %-7s %-7s %-13.12s %s\n", info->pid, info->user,
			    info->version[0] ? info->version : "-", jvm_show_agent(info->agent),
			    info->can_attach ? "yes" : "no",
			    info->container_id[0] ? info->container_id : "-",
			    info->main_class[0] ? info->main_class : "-");
		if (!info->can_attach && info->why_not[0])
			strbuf_addf(out, "%-8s cannot be attached to: %s\n", "", info->why_not);
	}
}

static void put_json(struct strbuf *out, const struct jvm_info *infos, unsigned int count)
{
	struct json j;

	json_init(&j, out, true);
	json_array_begin(&j, NULL);
	for (unsigned int i = 0; i < count; i++)
		jvm_show_json(&j, &infos[i]);
	json_array_end(&j);
}

int cmd_list(int argc, char **argv)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	_cleanup_free_ struct jvm_info *infos = NULL;
	struct err err = { 0 };
	unsigned int count;
	int rest, rc = cmd_parse(&usage, argc, argv, 0, 0, &rest);

	if (rc != CMD_CONTINUE)
		return rc;
	if (jvm_info_list(&infos, &count, &err) < 0)
		return cmd_fail(&err);
	if (as_json)
		put_json(&out, infos, count);
	else if (count)
		put_table(&out, infos, count);
	else
		log_info("no JVM runs here, or none that this user may look at");
	return cmd_print(&out);
}
