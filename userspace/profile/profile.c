/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/profile.h"

#include <string.h>

void profile_init(struct profile *p)
{
	memset(p, 0, sizeof(*p));
	intern_init(&p->strings);
	intern_init(&p->mappings);
	intern_init(&p->frames);
	intern_init(&p->stacks);
	intern_init(&p->processes);
	intern_init(&p->threads);
	intern_init(&p->events);
	intern_init(&p->wakers);
	profile_strn(p, "", 0);
}

void profile_release(struct profile *p)
{
	intern_release(&p->strings);
	intern_release(&p->mappings);
	intern_release(&p->frames);
	intern_release(&p->stacks);
	intern_release(&p->processes);
	intern_release(&p->threads);
	intern_release(&p->events);
	intern_release(&p->wakers);
	vec_release(&p->samples);
	free(p->sample_index.slots);
	vec_release(&p->quality);
	hmap_release(&p->quality_index);
	vec_release(&p->counters);
	hmap_release(&p->counter_index);
	memset(p, 0, sizeof(*p));
}

uint32_t profile_strn(struct profile *p, const char *s, size_t len)
{
	return intern_put(&p->strings, s, len, NULL);
}

uint32_t profile_string(struct profile *p, const char *s)
{
	return s ? profile_strn(p, s, strlen(s)) : 0;
}

uint32_t profile_mapping(struct profile *p, const struct profile_mapping *m)
{
	return intern_put(&p->mappings, m, sizeof(*m), NULL);
}

uint32_t profile_frame(struct profile *p, const struct profile_frame *f)
{
	return intern_put(&p->frames, f, sizeof(*f), NULL);
}

uint32_t profile_stack(struct profile *p, const uint32_t *frames, uint32_t len)
{
	static const uint32_t none;

	return intern_put(&p->stacks, len ? frames : &none, (size_t)len * sizeof(*frames), NULL);
}

uint32_t profile_process(struct profile *p, const struct profile_process *proc)
{
	return intern_put(&p->processes, proc, sizeof(*proc), NULL);
}

uint32_t profile_thread(struct profile *p, const struct profile_thread *t)
{
	return intern_put(&p->threads, t, sizeof(*t), NULL);
}

uint32_t profile_event(struct profile *p, const struct profile_event *e)
{
	return intern_put(&p->events, e, sizeof(*e), NULL);
}

/* Numbers begin with 1. */
uint32_t profile_waker(struct profile *p, const struct profile_waker *w)
{
	return intern_put(&p->wakers, w, sizeof(*w), NULL) + 1;
}

const char *profile_get_string(const struct profile *p, uint32_t id)
{
	return intern_get(&p->strings, id, NULL);
}

const struct profile_mapping *profile_get_mapping(const struct profile *p, uint32_t id)
{
	return intern_get(&p->mappings, id, NULL);
}

const struct profile_frame *profile_get_frame(const struct profile *p, uint32_t id)
{
	return intern_get(&p->frames, id, NULL);
}

const struct profile_waker *profile_get_waker(const struct profile *p, uint32_t id)
{
	return id ? intern_get(&p->wakers, id - 1, NULL) : NULL;
}

void profile_name_frame(struct profile *p, uint32_t frame, uint32_t name, enum frame_kind kind)
{
	struct profile_frame *f =
		(struct profile_frame *)(uintptr_t)intern_get(&p->frames, frame, NULL);

	f->name = name;
	f->kind = kind;
}

struct profile_stack profile_get_stack(const struct profile *p, uint32_t id)
{
	size_t bytes;
	const uint32_t *frames = intern_get(&p->stacks, id, &bytes);

	return (struct profile_stack){ frames, (uint32_t)(bytes / sizeof(*frames)) };
}

const struct profile_process *profile_get_process(const struct profile *p, uint32_t id)
{
	return intern_get(&p->processes, id, NULL);
}

const struct profile_thread *profile_get_thread(const struct profile *p, uint32_t id)
{
	return intern_get(&p->threads, id, NULL);
}

const struct profile_event *profile_get_event(const struct profile *p, uint32_t id)
{
	return intern_get(&p->events, id, NULL);
}

void profile_add(struct profile *p, const struct profile_sample *s)
{
	vec_push(&p->samples, *s);
}

void profile_add_quality(struct profile *p, const struct profile_quality *v)
{
	uint64_t key = (uint64_t)v->process << 32 | v->event;
	struct profile_quality *have;
	uint64_t at;

	if (!hmap_get(&p->quality_index, key, &at)) {
		hmap_put(&p->quality_index, key, p->quality.len);
		vec_push(&p->quality, *v);
		return;
	}
	have = &p->quality.items[at];
	have->samples += v->samples;
	have->complete += v->complete;
	have->weight += v->weight;
	have->lost += v->lost;
	have->lost_weight += v->lost_weight;
}

void profile_add_counter(struct profile *p, const char *name, const char *detail, uint64_t value)
{
	struct profile_counter counter = { profile_string(p, name), profile_string(p, detail),
					   value };
	uint64_t key = (uint64_t)counter.name << 32 | counter.detail;
	uint64_t at;

	if (hmap_get(&p->counter_index, key, &at)) {
		p->counters.items[at].value += value;
		return;
	}
	hmap_put(&p->counter_index, key, p->counters.len);
	vec_push(&p->counters, counter);
}

size_t profile_table_bytes(const struct profile *p)
{
	return intern_bytes(&p->strings) + intern_bytes(&p->mappings) + intern_bytes(&p->frames) +
	       intern_bytes(&p->stacks) + intern_bytes(&p->processes) + intern_bytes(&p->threads) +
	       intern_bytes(&p->wakers);
}
