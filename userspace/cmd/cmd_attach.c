/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>

#include "base/clock.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/jvm_argument.h"
#include "cmd/jvm_show.h"
#include "jvm/attach/attach.h"

#define DEFAULT_TIMEOUT_NS (10 * NSEC_PER_SEC)

static const char *agent_path, *agent_options = "";
static uint64_t timeout_ns = DEFAULT_TIMEOUT_NS;

static const struct option_row attach_rows[] = {
	{ OPTION_TYPE_STRING, 0, "agent", "FILE",
	  "the agent library (default: the one of this hostprof)", &agent_path, NULL },
	{ OPTION_TYPE_STRING, 0, "options", "TEXT",
	  "options for the agent; attach again to change them", &agent_options, NULL },
	{ OPTION_TYPE_DURATION, 0, "timeout", "TIME", "wait so long for the JVM (default 10s)",
	  &timeout_ns, NULL },
	OPTION_END,
};

static const struct command_usage attach_usage = {
	.name = "attach",
	.synopsis = "PID [options]",
	.summary =
		"Load the agent into a running JVM. It does nothing until a recording asks it to.",
	.rows = attach_rows,
};

static const struct option_row detach_rows[] = {
	{ OPTION_TYPE_DURATION, 0, "timeout", "TIME", "wait so long for the JVM (default 10s)",
	  &timeout_ns, NULL },
	OPTION_END,
};

static const struct command_usage detach_usage = {
	.name = "detach",
	.synopsis = "PID [options]",
	.summary =
		"End the agent of a JVM: its events and its memory go, the library stays mapped.",
	.rows = detach_rows,
};

static int load(uint32_t pid, const char *options, struct err *err)
{
	char path[PATH_MAX];
	int rc = attach_check(pid, err);

	if (!rc && agent_path)
		snprintf(path, sizeof(path), "%s", agent_path);
	else if (!rc)
		rc = attach_find_agent(path, sizeof(path), err);
	return rc ? rc : attach_load_agent(pid, path, options, timeout_ns, err);
}

static void tell(const struct jvm_info *info, const char *what)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	jvm_show_name(&name, info);
	log_info("%s: %s", name.buf, what);
}

int cmd_attach(int argc, char **argv)
{
	struct err err = { 0 };
	struct jvm_info info;
	int rc = jvm_argument_parse(&attach_usage, argc, argv, &info);

	if (rc != CMD_CONTINUE)
		return rc;
	if (load(info.pid, agent_options, &err) < 0)
		return cmd_fail(&err);
	tell(&info, info.agent == JVM_AGENT_NONE ? "agent loaded" : "agent has the new options");
	return CMD_OK;
}

int cmd_detach(int argc, char **argv)
{
	struct err err = { 0 };
	struct jvm_info info;
	int rc = jvm_argument_parse(&detach_usage, argc, argv, &info);

	if (rc != CMD_CONTINUE)
		return rc;
	if (info.agent == JVM_AGENT_NONE) {
		err_set(&err, -ENODATA, "no agent is loaded in process %u", info.pid);
		return cmd_fail(&err);
	}
	if (load(info.pid, "stop", &err) < 0)
		return cmd_fail(&err);
	tell(&info, "agent ended");
	return CMD_OK;
}
