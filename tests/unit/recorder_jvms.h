// SPDX-License-Identifier: Apache-2.0
/* In place of the JVMs and their agents in a recorder's test: fixed counts, two failures. */
#ifndef HOSTPROF_TESTS_RECORDER_JVMS_H
#define HOSTPROF_TESTS_RECORDER_JVMS_H

#include "jvm/attach/agents.h"
#include "jvm/jvm.h"

void jvm_table_show(struct jvm_table *table, uint32_t shows)
{
	(void)table, (void)shows;
}

uint32_t jvm_table_without_inlining(const struct jvm_table *table)
{
	(void)table;
	return 23;
}

void agents_count(const struct agents *agents, uint32_t *ret_jvms, uint32_t *ret_with_agent)
{
	(void)agents;
	*ret_jvms = 21;
	*ret_with_agent = 22;
}

void agents_for_each_failure(const struct agents *agents,
			     void (*fn)(uint32_t pid, const char *why, void *data), void *data)
{
	(void)agents;
	fn(31, "first", data);
	fn(32, "second", data);
}

#endif
