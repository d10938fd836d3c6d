/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/samples/read_sample.h"

#include <string.h>

static uint64_t to_ns(const struct recording_reader *reader, uint64_t ticks)
{
	__int128 since = (int64_t)(ticks - reader->start_ticks);

	if (reader->ours)
		return ticks;
	return reader->start_wall_ns +
	       (uint64_t)(since * 1000000000 / (__int128)reader->ticks_per_second);
}

static uint32_t sample_thread(struct recording_reader *reader, uint64_t key)
{
	uint32_t id = jfr_keymap_get(&reader->pools[JFR_POOL_THREAD], key, PROFILE_NONE);

	return id != PROFILE_NONE ? id : jfr_no_thread(reader);
}

static uint32_t sample_stack(struct recording_reader *reader, uint64_t key)
{
	uint32_t id = jfr_keymap_get(&reader->pools[JFR_POOL_STACK], key, PROFILE_NONE);

	return id != PROFILE_NONE ? id : profile_stack(reader->profile, NULL, 0);
}

void jfr_merge_samples(struct recording_reader *reader)
{
	profile_add_batch(reader->profile, reader->batch, reader->batch_len);
	reader->batch_len = 0;
}

/* The class that the event names, a string; 0 when it names none. */
uint32_t jfr_sample_class(struct recording_reader *reader, const struct jfr_values *v,
			  uint32_t found)
{
	if (jfr_has(found, SAMPLE_CLASS_NAME))
		return jfr_symbol_string(reader, v->number[SAMPLE_CLASS_NAME]);
	return jfr_keymap_get(&reader->pools[JFR_POOL_CLASS], v->number[SAMPLE_CLASS], 0);
}

struct profile_sample jfr_make_sample(struct recording_reader *reader, const struct jfr_values *v,
				      uint32_t found, uint32_t event)
{
	struct profile_sample s = {
		.time_ns = to_ns(reader, v->number[SAMPLE_TIME]),
		.weight = jfr_has(found, SAMPLE_WEIGHT) ? v->number[SAMPLE_WEIGHT] : 1,
		.count = jfr_has(found, SAMPLE_COUNT) ? v->number[SAMPLE_COUNT] : 1,
		.objects = v->number[SAMPLE_OBJECTS],
		.age = (uint32_t)v->number[SAMPLE_AGE],
		.event = event,
		.stack = sample_stack(reader, v->number[SAMPLE_STACK]),
		.thread = sample_thread(reader, v->number[SAMPLE_THREAD]),
		.state = jfr_keymap_get(&reader->pools[JFR_POOL_STATE], v->number[SAMPLE_STATE],
					STATE_UNKNOWN),
	};

	if (s.state == STATE_RUNNING_USER && v->number[SAMPLE_KERNEL])
		s.state = STATE_RUNNING_KERNEL;
	return s;
}

bool jfr_take_sample(struct recording_reader *reader, const struct jfr_values *v, uint32_t found,
		     const char *name, const char *unit, struct profile_sample *ret)
{
	uint32_t event;

	if (!jfr_is_wanted(reader, name))
		return false;
	event = jfr_event_by_name(reader, profile_string(reader->profile, name), unit);
	*ret = jfr_make_sample(reader, v, found, event);
	return true;
}

void jfr_put_class(struct recording_reader *reader, struct profile_sample *s, uint32_t class_name,
		   bool outside)
{
	if (class_name)
		s->stack = jfr_stack_with_class(reader, s->stack, class_name,
						outside ? FRAME_CLASS_OUTSIDE : FRAME_CLASS);
}

void jfr_add_sample(struct recording_reader *reader, const struct profile_sample *s)
{
	if (!reader->options->merge) {
		profile_add(reader->profile, s);
		return;
	}
	reader->batch[reader->batch_len++] = *s;
	if (reader->batch_len == PROFILE_BATCH)
		jfr_merge_samples(reader);
}

bool jfr_is_wanted(const struct recording_reader *reader, const char *name)
{
	return !reader->options->event || !strcmp(reader->options->event, name);
}

/* S is one, with what a wait has beside. */
void jfr_add_parts(struct recording_reader *reader, const struct jfr_values *v, const char *queued,
		   struct profile_sample *s)
{
	uint64_t chance = MAX(v->number[SAMPLE_CHANCE], 1U);
	struct profile_sample parts[2];

	s->reason = jfr_symbol_string(reader, v->number[SAMPLE_REASON]);
	s->chance = (uint32_t)MIN(chance, UINT32_MAX);
	s->queued = v->number[SAMPLE_QUEUED] * s->chance;
	s->waker = jfr_waker(reader, v->number[SAMPLE_WAKER], v->number[SAMPLE_WAKER_STACK]);
	if (!reader->options->merge) {
		jfr_add_sample(reader, s);
		return;
	}
	for (size_t i = 0, count = jfr_wait_parts(reader, s, queued, parts); i < count; i++)
		jfr_add_sample(reader, &parts[i]);
}
