/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jvm_show.h"

#include "base/units.h"

const char *jvm_show_agent(enum jvm_agent_state state)
{
	switch (state) {
	case JVM_AGENT_NONE: return "none";
	case JVM_AGENT_IDLE: return "idle";
	case JVM_AGENT_ACTIVE: return "active";
	}
	return "unknown";
}

static const char *or_null(const char *s)
{
	return s[0] ? s : NULL;
}

void jvm_show_json(struct json *j, const struct jvm_info *info)
{
	json_object_begin(j, NULL);
	json_u64(j, "pid", info->pid);
	json_u64(j, "namespace_pid", info->ns_pid);
	json_u64(j, "uid", info->uid);
	json_str(j, "user", or_null(info->user));
	json_str(j, "version", or_null(info->version));
	json_str(j, "main_class", or_null(info->main_class));
	json_str(j, "container", or_null(info->container_id));
	json_str(j, "container_name", or_null(info->container.name));
	json_str(j, "container_image", or_null(info->container.image));
	json_str(j, "agent", jvm_show_agent(info->agent));
	json_u64(j, "agent_lease_pid", info->agent_lease_pid);
	json_u64(j, "agent_bytes", info->agent_bytes);
	json_u64(j, "agent_dropped", info->agent_dropped);
	json_bool(j, "can_attach", info->can_attach);
	json_str(j, "why_not", info->can_attach ? NULL : or_null(info->why_not));
	json_array_begin(j, "lacks");
	for (unsigned int i = 0; i < info->lacks.count; i++)
		json_str(j, NULL, info->lacks.text[i]);
	json_array_end(j);
	json_object_end(j);
}

void jvm_show_name(struct strbuf *out, const struct jvm_info *info)
{
	strbuf_addstr(out, "java");
	if (info->version[0])
		strbuf_addf(out, " %s", info->version);
	if (info->main_class[0])
		strbuf_addf(out, " %s", info->main_class);
	strbuf_addf(out, " (pid %u)", info->pid);
}

static void put_agent(struct strbuf *out, const struct jvm_info *info)
{
	strbuf_addf(out, "agent:      %s", jvm_show_agent(info->agent));
	if (info->agent == JVM_AGENT_ACTIVE && info->agent_lease_pid)
		strbuf_addf(out, ", used by process %u", info->agent_lease_pid);
	if (info->agent != JVM_AGENT_NONE) {
		strbuf_addstr(out, ", ");
		units_format_bytes(out, info->agent_bytes);
		strbuf_addstr(out, ", ");
		units_format_count(out, info->agent_dropped);
		strbuf_addstr(out, " records dropped");
	}
	strbuf_addch(out, '\n');
}

void jvm_show_lines(struct strbuf *out, const struct jvm_info *info)
{
	strbuf_addf(out, "pid:        %u", info->pid);
	if (info->ns_pid && info->ns_pid != info->pid)
		strbuf_addf(out, " (%u in its namespace)", info->ns_pid);
	strbuf_addch(out, '\n');
	strbuf_addf(out, "user:       %s (%u)\n", info->user, info->uid);
	strbuf_addf(out, "version:    %s\n", info->version[0] ? info->version : "unknown");
	strbuf_addf(out, "main class: %s\n", info->main_class[0] ? info->main_class : "unknown");
	strbuf_addf(out, "container:  %s\n", info->container_id[0] ? info->container_id : "none");
	if (info->container.name[0] || info->container.image[0])
		strbuf_addf(out, "            %s, of %s\n",
			    info->container.name[0] ? info->container.name : "unnamed",
			    info->container.image[0] ? info->container.image : "an unknown image");
	put_agent(out, info);
	if (info->can_attach)
		strbuf_addstr(out, "attach:     possible\n");
	else
		strbuf_addf(out, "attach:     not possible: %s\n", info->why_not);
	for (unsigned int i = 0; i < info->lacks.count; i++)
		strbuf_addf(out, "lacks:      %s\n", info->lacks.text[i]);
}
