/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/thread_groups.h"

#include "base/alloc.h"
#include "base/text/text_cursor.h"

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/*
 * Does the number from BEGIN to END of NAME say which of several it is? It stands by itself, or ends the name; in "C2
 * CompilerThread0" and "G1 Conc#0" the first one does not.
 */
static bool counts_threads(const char *name, size_t begin, size_t end)
{
	if (!begin)
		return !is_letter(name[end]);
	if (!is_letter(name[begin - 1]))
		return true;
	return !name[end] && begin >= 2 && is_letter(name[begin - 2]);
}

void thread_group_name(struct strbuf *out, const char *name)
{
	for (size_t at = 0, end; name[at]; at = end) {
		end = at + 1;
		if (!text_is_digit(name[at])) {
			strbuf_addch(out, name[at]);
			continue;
		}
		while (text_is_digit(name[end]))
			end++;
		if (counts_threads(name, at, end))
			strbuf_addch(out, '*');
		else
			strbuf_add(out, name + at, end - at);
	}
}

static uint32_t group_of(struct profile *p, uint32_t id, struct strbuf *name)
{
	const struct profile_thread *thread = profile_get_thread(p, id);
	struct profile_thread group = { .process = thread->process, .tid = PROFILE_TID_GROUP };

	strbuf_reset(name);
	thread_group_name(name, profile_get_string(p, thread->name));
	group.name = profile_strn(p, strbuf_str(name), name->len);
	return profile_thread(p, &group);
}

void thread_groups_apply(struct profile *p)
{
	const uint32_t threads = intern_len(&p->threads);
	uint32_t *groups = xcalloc(threads + 1, sizeof(*groups));
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	VEC(struct profile_sample) samples = VEC_INIT;
	struct profile_sample *s;

	for (uint32_t id = 0; id < threads; id++)
		groups[id] = group_of(p, id, &name);
	vec_for_each (s, &p->samples) {
		vec_push(&samples, *s);
		if (s->thread < threads)
			samples.items[samples.len - 1].thread = groups[s->thread];
	}
	profile_clear_samples(p);
	for (size_t i = 0; i < samples.len; i += PROFILE_BATCH)
		profile_add_batch(p, samples.items + i, MIN(samples.len - i, PROFILE_BATCH));
	vec_release(&samples);
	free(groups);
}
