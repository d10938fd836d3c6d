/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/title.h"

void profile_format_process(struct strbuf *sb, const struct profile *p, uint32_t process)
{
	const struct profile_process *proc;

	if (process == PROFILE_NONE) {
		strbuf_addstr(sb, "[unknown]");
		return;
	}
	proc = profile_get_process(p, process);
	strbuf_addf(sb, "%s-%u", profile_get_string(p, proc->name), proc->pid);
}

void profile_format_thread(struct strbuf *sb, const struct profile *p, uint32_t thread)
{
	const struct profile_thread *t;

	if (thread == PROFILE_NONE) {
		strbuf_addstr(sb, "[unknown]");
		return;
	}
	t = profile_get_thread(p, thread);
	strbuf_addf(sb, "[%s tid=%u]", profile_get_string(p, t->name), t->tid);
}

uint32_t profile_process_of(const struct profile *p, uint32_t thread)
{
	return thread == PROFILE_NONE ? PROFILE_NONE : profile_get_thread(p, thread)->process;
}
