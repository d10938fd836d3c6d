/* SPDX-License-Identifier: Apache-2.0 */
/* The agents of a pipeline that is made up (pipeline_parts.h). */
#ifndef HOSTPROF_TESTS_PIPELINE_AGENTS_H
#define HOSTPROF_TESTS_PIPELINE_AGENTS_H

#include "pipeline_notes.h"

int agents_new(struct jvm_table *jvms, bool attach, struct agents **ret_agents, struct err *err)
{
	(void)err;
	assert_non_null(jvms);
	note("agents%s", attach ? ", attached" : "");
	*ret_agents = A_POINTER(agents);
	return 0;
}

void agents_set_hooks(struct agents *agents, const struct agents_hooks *hooks)
{
	(void)agents;
	assert_non_null(hooks->attached);
	assert_non_null(hooks->opened);
	parts.hooks = *hooks;
}

void agents_hurry(void)
{
}

void agents_detach(struct agents *agents)
{
	(void)agents;
	note("agents detached");
}

void agents_free(struct agents *agents)
{
	(void)agents;
}

void agents_add(struct agents *agents, struct process *process, bool wanted)
{
	(void)agents;
	note("agent of %u%s", number(process->pid), wanted ? ", a target" : "");
}

void agents_note_sample(struct agents *agents, struct process *process)
{
	(void)agents;
	note("sampled %u", number(process->pid));
}

void agents_poll(struct agents *agents)
{
	(void)agents;
	note("poll agents");
}

void agents_forget(struct agents *agents, struct process *process)
{
	(void)agents;
	note("forget agent %u", number(process->pid));
}

bool agents_has_failed(const struct agents *agents, const struct process *process)
{
	(void)agents, (void)process;
	return parts.agent_failed;
}

bool agents_busy(const struct agents *agents)
{
	(void)agents;
	return parts.agents_busy;
}

void agents_for_each_failure(const struct agents *agents,
			     void (*fn)(uint32_t pid, const char *why, void *data), void *data)
{
	(void)agents;
	fn(PID_A, "refused", data);
}

#endif
