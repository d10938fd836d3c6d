/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/samples/read_jvm.h"

#include <string.h>

#include "recording/samples/event_names.h"

static uint32_t sample_owner(struct recording_reader *reader, uint64_t key)
{
	return jfr_keymap_get(&reader->pools[JFR_POOL_THREAD], key, PROFILE_NONE) + 1;
}

/* Samples that are one otherwise may have several. */
static void put_owner(struct recording_reader *reader, struct profile_sample *s)
{
	if (s->owner && reader->options->lock_owners)
		s->stack = jfr_stack_with_owner(reader, s->stack, s->owner - 1);
	s->owner = 0;
}

/* Of ours the address says which lock it is, and the time is that of the end. Others' waits are no samples. */
static void add_lock(struct recording_reader *reader, const struct jfr_values *v, uint32_t found,
		     const char *reason, unsigned int shift)
{
	uint64_t chance = MIN(MAX(v->number[SAMPLE_CHANCE], 1U), UINT32_MAX);
	struct profile_sample s;

	if (!reader->ours || !jfr_take_sample(reader, v, found, JFR_LOCK_EVENT, "nanoseconds", &s))
		return;
	s.time_ns += s.weight;
	s.weight *= chance;
	jfr_put_class(reader, &s, jfr_sample_class(reader, v, found), false);
	s.owner = sample_owner(reader, v->number[SAMPLE_OWNER]);
	s.waker = jfr_waker(reader, v->number[SAMPLE_WAKER], v->number[SAMPLE_WAKER_STACK]);
	if (!reader->options->merge) {
		s.chance = (uint32_t)chance;
		s.identity = (uint32_t)(v->number[SAMPLE_IDENTITY] >> shift);
		s.reason = profile_string(reader->profile, reason);
	} else {
		put_owner(reader, &s);
		s.stack = jfr_stack_with_waker(reader, s.stack, s.waker);
		s.waker = 0;
	}
	jfr_add_sample(reader, &s);
}

/* Likewise. What it was for is in the reason. */
static void add_stop(struct recording_reader *reader, const struct jfr_values *v, uint32_t found,
		     const char *event)
{
	struct profile_sample s;

	if (!reader->ours || !jfr_take_sample(reader, v, found, event, "nanoseconds", &s))
		return;
	s.time_ns += s.weight;
	jfr_add_parts(reader, v, JFR_RUN_QUEUE, &s);
}

void jfr_add_safepoint(struct recording_reader *reader, const struct jfr_values *v, uint32_t found)
{
	add_stop(reader, v, found, JFR_SAFEPOINT_EVENT);
}

void jfr_add_pause(struct recording_reader *reader, const struct jfr_values *v, uint32_t found)
{
	add_stop(reader, v, found, JFR_GC_EVENT);
}

/* Likewise; others' compilations are no samples either. */
void jfr_add_compilation(struct recording_reader *reader, const struct jfr_values *v,
			 uint32_t found)
{
	struct profile_sample s;

	if (!reader->ours || !jfr_take_sample(reader, v, found, JFR_JIT_EVENT, "nanoseconds", &s))
		return;
	s.time_ns += s.weight;
	s.weight *= MIN(MAX(v->number[SAMPLE_CHANCE], 1U), UINT32_MAX);
	if (!reader->options->merge)
		s.identity = (uint32_t)v->number[SAMPLE_COMPILE_ID];
	jfr_add_parts(reader, v, JFR_OFF_CPU, &s);
}

void jfr_add_enter(struct recording_reader *reader, const struct jfr_values *v, uint32_t found)
{
	add_lock(reader, v, found, JFR_BY_ENTER, 0);
}

void jfr_add_monitor_wait(struct recording_reader *reader, const struct jfr_values *v,
			  uint32_t found)
{
	add_lock(reader, v, found, JFR_BY_WAIT, 0);
}

void jfr_add_park(struct recording_reader *reader, const struct jfr_values *v, uint32_t found)
{
	add_lock(reader, v, found, JFR_BY_PARK, JFR_ADDRESS_SHIFT);
}

void jfr_add_class_load(struct recording_reader *reader, const struct jfr_values *v, uint32_t found)
{
	struct profile_sample s;

	if (!reader->ours || !jfr_take_sample(reader, v, found, JFR_CLASSLOAD_EVENT, "count", &s))
		return;
	jfr_put_class(reader, &s, jfr_sample_class(reader, v, found), false);
	jfr_add_sample(reader, &s);
}
