/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/match.h"

#include <string.h>

#include "base/strbuf.h"
#include "profile/frame_kind.h"

/* What is known of a frame or a stack; 0 until it is looked at. */
enum known { KNOWN = 1, KNOWN_INCLUDED = 2, KNOWN_EXCLUDED = 4 };

struct matcher {
	const struct profile *p;
	const struct profile_match *match;
	uint8_t *frames, *stacks; /* enum known, by id */
	struct strbuf name;
};

bool profile_match_name(const char *pattern, const char *name)
{
	bool open_begin = *pattern == '*', open_end;
	size_t len, name_len = strlen(name);

	pattern += open_begin;
	len = strlen(pattern);
	open_end = len && pattern[len - 1] == '*';
	len -= open_end;
	if (open_begin && open_end)
		return memmem(name, name_len, pattern, len);
	if (name_len < len || (!open_begin && !open_end && name_len > len))
		return false;
	return !memcmp(open_begin ? name + name_len - len : name, pattern, len);
}

static uint8_t know_frame(struct matcher *m, uint32_t id)
{
	/* As views show it, and with the numbers that they leave out. */
	static const struct frame_name_options shown[] = { { .names = 0 },
							   { .names = FRAME_NAMES_EXACT } };
	uint8_t known = KNOWN;
	const char *const *pattern;

	if (m->frames[id])
		return m->frames[id];
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
		strbuf_reset(&m->name);
		frame_format_name(&m->name, m->p, profile_get_frame(m->p, id), &shown[i]);
		vec_for_each (pattern, &m->match->include)
			if (profile_match_name(*pattern, strbuf_str(&m->name)))
				known |= KNOWN_INCLUDED;
		vec_for_each (pattern, &m->match->exclude)
			if (profile_match_name(*pattern, strbuf_str(&m->name)))
				known |= KNOWN_EXCLUDED;
	}
	m->frames[id] = known;
	return known;
}

static bool is_shown(struct matcher *m, uint32_t id)
{
	struct profile_stack stack = profile_get_stack(m->p, id);
	uint8_t known = m->stacks[id];

	if (!known) {
		known = KNOWN | (m->match->include.len ? 0 : KNOWN_INCLUDED);
		for (uint32_t i = 0; i < stack.len; i++)
			known |= know_frame(m, stack.frames[i]);
		m->stacks[id] = known;
	}
	return known & KNOWN_INCLUDED && !(known & KNOWN_EXCLUDED);
}

void profile_match_apply(struct profile *p, const struct profile_match *match)
{
	struct matcher m = { .p = p, .match = match };
	VEC(struct profile_sample) shown = VEC_INIT;
	const struct profile_sample *s;

	if (!match->include.len && !match->exclude.len)
		return;
	m.frames = xcalloc(intern_len(&p->frames) + 1, 1);
	m.stacks = xcalloc(intern_len(&p->stacks) + 1, 1);
	vec_for_each (s, &p->samples)
		if (is_shown(&m, s->stack))
			vec_push(&shown, *s);
	profile_clear_samples(p);
	vec_for_each (s, &shown)
		profile_add(p, s);
	vec_release(&shown);
	strbuf_release(&m.name);
	free(m.stacks);
	free(m.frames);
}
