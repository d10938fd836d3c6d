/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/jvm_show.h"
#include "cmd/list/list_events.h"
#include "jvm/jvm_thread_list.h"

static bool as_json;
static uint64_t threads_of;

static const struct option_row rows[] = {
	{ OPTION_TYPE_FLAG, 0, "json", NULL, "print JSON", &as_json, NULL },
	{ OPTION_TYPE_U64, 0, "threads", "PID",
	  "the threads of this JVM: what the kernel calls them, and their whole names", &threads_of,
	  NULL },
	OPTION_END,
};

static const struct command_usage usage = {
	.name = "list",
	.synopsis = "[jvms | events] [--threads PID] [--json]",
	.summary =
		"Show the JVMs of this host: their version, main class, agent, whether the agent can be loaded, and what cannot be shown of them. Nothing is sent to them. "
		"events: what -e takes, which of it this machine has now, and why it has not the rest; each is opened for a moment.",
	.rows = rows,
};

static const char *container_of_jvm(const struct jvm_info *info)
{
	if (info->container.name[0])
		return info->container.name;
	return info->container_id[0] ? info->container_id : "-";
}

static void put_table(struct strbuf *out, const struct jvm_info *infos, unsigned int count)
{
	strbuf_addf(out, "%-8s %-7s %-12s %-26s %-7s %-7s %-13s %s\n", "PID", "INSIDE", "USER",
		    "VERSION", "AGENT", "ATTACH", "CONTAINER", "MAIN CLASS");
	for (unsigned int i = 0; i < count; i++) {
		const struct jvm_info *info = &infos[i];
		char inside[16] = "-"; /* its pid there */

		if (info->ns_pid != info->pid)
			snprintf(inside, sizeof(inside), "%u", info->ns_pid);
		strbuf_addf(out, "%-8u %-7s %-12s %-26s %-7s %-7s %-13.12s %s\n", info->pid, inside,
			    info->user, info->version[0] ? info->version : "-",
			    jvm_show_agent(info->agent), info->can_attach ? "yes" : "no",
			    container_of_jvm(info), info->main_class[0] ? info->main_class : "-");
		if (!info->can_attach && info->why_not[0])
			strbuf_addf(out, "%-8s cannot be attached to: %s\n", "", info->why_not);
		for (unsigned int k = 0; k < info->lacks.count; k++)
			strbuf_addf(out, "%-8s lacks %s\n", "", info->lacks.text[k]);
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

static void put_thread_table(struct strbuf *out, const struct jvm_threads *threads)
{
	const struct jvm_thread_info *thread;

	strbuf_addf(out, "%-8s %-16s %s\n", "TID", "COMM", "NAME");
	vec_for_each (thread, &threads->items) {
		strbuf_addf(out, "%-8u %-16s ", thread->tid, thread->comm);
		strbuf_addstr(out, thread->name ? thread->name : "-");
		strbuf_addch(out, '\n');
	}
}

static void put_thread_json(struct strbuf *out, const struct jvm_threads *threads)
{
	const struct jvm_thread_info *thread;
	struct json j;

	json_init(&j, out, true);
	json_array_begin(&j, NULL);
	vec_for_each (thread, &threads->items) {
		json_object_begin(&j, NULL);
		json_u64(&j, "tid", thread->tid);
		json_str(&j, "comm", thread->comm);
		if (thread->name)
			json_str(&j, "name", thread->name);
		json_object_end(&j);
	}
	json_array_end(&j);
}

static int list_threads(uint32_t pid)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	_cleanup_(jvm_threads_release) struct jvm_threads threads = { 0 };
	struct err err = { 0 };

	if (jvm_threads_list(pid, &threads, &err) < 0)
		return cmd_fail(&err);
	if (threads.why_not.text[0])
		log_warn("%s", threads.why_not.text);
	(as_json ? put_thread_json : put_thread_table)(&out, &threads);
	return cmd_print(&out);
}

static int list_jvms(void)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	_cleanup_free_ struct jvm_info *infos = NULL;
	struct err err = { 0 };
	unsigned int count;

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

static int list_all_events(void)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	list_events(&out, as_json);
	return cmd_print(&out);
}

int cmd_list(int argc, char **argv)
{
	struct err err = { 0 };
	int rest, rc = cmd_parse(&usage, argc, argv, 0, 1, &rest);
	const char *what = rc == CMD_CONTINUE && rest < argc ? argv[rest] : "jvms";

	if (rc != CMD_CONTINUE)
		return rc;
	if (!strcmp(what, "events"))
		return list_all_events();
	if (strcmp(what, "jvms") != 0) {
		err_set(&err, -EINVAL, "unexpected '%s'", what);
		err_hint(&err, "events and jvms can be listed");
		return cmd_usage_error(&err);
	}
	if (threads_of)
		return list_threads((uint32_t)MIN(threads_of, (uint64_t)UINT32_MAX));
	return list_jvms();
}
