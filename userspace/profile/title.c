/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/title.h"

#include <string.h>

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
	strbuf_addf(sb, "[%s", profile_get_string(p, t->name));
	if (t->is_virtual)
		strbuf_addf(sb, " #%u", t->java_tid);
	if (t->tid != PROFILE_TID_GROUP)
		strbuf_addf(sb, " tid=%u", t->tid);
	strbuf_addch(sb, ']');
}

void profile_make_plain(struct strbuf *sb, size_t from)
{
	for (size_t i = from; i < sb->len; i++) {
		if (sb->buf[i] == ';')
			sb->buf[i] = ':';
		else if (sb->buf[i] == '\n' || sb->buf[i] == '\r')
			sb->buf[i] = ' ';
	}
	strbuf_disarm(sb, from);
}

uint32_t profile_process_of(const struct profile *p, uint32_t thread)
{
	return thread == PROFILE_NONE ? PROFILE_NONE : profile_get_thread(p, thread)->process;
}

const char *profile_mapping_name(const struct profile *p, uint32_t mapping, size_t *ret_len)
{
	const char *path = "", *base;
	size_t len;

	if (mapping != PROFILE_NONE)
		path = profile_get_string(p, profile_get_mapping(p, mapping)->path);
	base = strrchr(path, '/');
	base = base && base[1] ? base + 1 : path;
	len = strlen(base);
	if (len > 2 && base[0] == '[' && base[len - 1] == ']') {
		base++;
		len -= 2;
	}
	*ret_len = len;
	return base;
}
