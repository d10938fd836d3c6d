/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/write_events.h"

#include <string.h>

#include "recording/samples/write_jvm.h"
#include "recording/samples/write_sample.h"
#include "recording/types.h"
#include "recording/write_names.h"
#include "recording/write_values.h"

/*
 * Size, type, 13 integers (of a live object) and bytes: the size of a sample fits into one byte. One of a wait whose waker is told has 17, but 11
 * of them are of 32 bits, or keys that are little more: 5 bytes.
 */
#define SAMPLE_LIMIT_BYTES (2 + 13 * 9 + 3)

_Static_assert(SAMPLE_LIMIT_BYTES < 128, "it would need two bytes");

static enum jfr_type_id sample_type(const char *event)
{
	static const struct {
		const char *event;
		enum jfr_type_id type;
	} types[] = {
		{ JFR_CPU_EVENT, JFR_EXECUTION_SAMPLE },
		{ JFR_ALLOC_EVENT, JFR_OBJECT_ALLOCATION_SAMPLE },
		{ JFR_LIVE_EVENT, JFR_LIVE_OBJECT },
		{ JFR_MALLOC_EVENT, JFR_MALLOC },
		{ JFR_OFFCPU_EVENT, JFR_OFFCPU_SAMPLE },
		{ JFR_WALL_EVENT, JFR_WALL_CLOCK_SAMPLE },
		{ JFR_LOCK_EVENT, JFR_MONITOR_ENTER },
		{ JFR_KERNEL_LOCK_EVENT, JFR_KERNEL_LOCK },
		{ JFR_NATIVE_LOCK_EVENT, JFR_NATIVE_LOCK },
		{ JFR_SAFEPOINT_EVENT, JFR_VM_OPERATION },
		{ JFR_JIT_EVENT, JFR_COMPILATION },
		{ JFR_CLASSLOAD_EVENT, JFR_CLASS_DEFINE },
		{ JFR_GC_EVENT, JFR_GC_PAUSE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(types[i].event, event))
			return types[i].type;
	return JFR_EVENT_SAMPLE;
}

/* THREAD_FIELDS of types.c. */
static uint8_t *put_thread(uint8_t *at, const struct jfr_pools *pools,
			   const struct profile_sample *s)
{
	at = jfr_varint(at, jfr_thread_key(pools, s->thread));
	at = jfr_varint(at, jfr_key(pools, s->stack));
	*at++ = jfr_state_key(s->state);
	return at;
}

/* WEIGHT_FIELDS of types.c. */
static uint8_t *put_weight(uint8_t *at, const struct jfr_pools *pools, const struct profile *p,
			   const struct profile_sample *s)
{
	struct jfr_labels labels = jfr_sample_labels(pools, p, s);

	at = jfr_varint(at, labels.pid);
	at = jfr_varint(at, labels.name);
	at = jfr_varint(at, s->weight);
	at = jfr_varint(at, s->count);
	at = jfr_varint(at, labels.container);
	*at++ = s->state == STATE_RUNNING_KERNEL;
	return at;
}

/* SAMPLE_FIELDS of types.c. */
static uint8_t *put_fields(uint8_t *at, const struct jfr_pools *pools, const struct profile *p,
			   const struct profile_sample *s)
{
	return put_weight(put_thread(at, pools, s), pools, p, s);
}

/* WAIT_FIELDS of types.c. */
static uint8_t *put_reason(uint8_t *at, const struct jfr_pools *pools, const struct profile *p,
			   const struct profile_sample *s, uint32_t chance)
{
	at = jfr_varint(at, jfr_string_key(pools, s->reason));
	at = jfr_varint(at, s->queued / chance);
	at = jfr_varint(at, chance);
	return jfr_put_waker(at, pools, p, s);
}

/*
 * Others have samples of one interval, and count them. So many are as long as the weight on the average: what is
 * less than one is one by chance.
 */
static uint64_t count_intervals(const struct profile *p, const struct profile_sample *s)
{
	uint64_t period = MAX(profile_get_event(p, s->event)->period, 1U);
	uint64_t mixed = (s->time_ns ^ (uint64_t)s->thread << 40) * 0x9e3779b97f4a7c15ULL;

	return s->weight / period + ((mixed >> 32) % period < s->weight % period);
}

/* All behind the time, in the order that others' readers know. */
static uint8_t *put_wall(uint8_t *at, const struct jfr_pools *pools, const struct profile *p,
			 const struct profile_sample *s)
{
	at = put_thread(at, pools, s);
	at = jfr_varint(at, count_intervals(p, s));
	at = jfr_varint(at, s->weight);
	at = put_weight(at, pools, p, s);
	return put_reason(at, pools, p, s, MAX(s->chance, 1U));
}

/* All behind the time. */
static uint8_t *put_wait(uint8_t *at, const struct jfr_pools *pools, const struct profile *p,
			 const struct profile_sample *s)
{
	uint32_t chance = MAX(s->chance, 1U);

	at = jfr_varint(at, s->weight / chance);
	at = put_fields(at, pools, p, s);
	return put_reason(at, pools, p, s, chance);
}

/* How long, who and where. */
static uint8_t *put_length(uint8_t *at, const struct jfr_pools *pools,
			   const struct profile_sample *s, uint32_t chance)
{
	at = jfr_varint(at, s->weight / chance);
	at = jfr_varint(at, jfr_thread_key(pools, s->thread));
	return jfr_varint(at, jfr_key(pools, s->stack));
}

/* All behind the time in the order of async-profiler's fields; where the lock lies is not told. */
static uint8_t *put_native_lock(uint8_t *at, const struct jfr_pools *pools, const struct profile *p,
				const struct profile_sample *s)
{
	uint32_t chance = MAX(s->chance, 1U);

	at = put_length(at, pools, s, chance);
	*at++ = 0;
	*at++ = jfr_state_key(s->state);
	at = put_weight(at, pools, p, s);
	return put_reason(at, pools, p, s, chance);
}

/* OBJECT_FIELDS of types.c. */
static uint8_t *put_object(uint8_t *at, const struct jfr_pools *pools, const struct profile *p,
			   const struct profile_sample *s)
{
	uint32_t frame = jfr_class_frame(p, s->stack);
	struct profile_frame none = { .kind = FRAME_CLASS };
	const struct profile_frame *f = frame == PROFILE_NONE ? &none : profile_get_frame(p, frame);

	at = jfr_varint(at, s->objects);
	at = jfr_varint(at, s->age);
	at = jfr_varint(at, jfr_string_key(pools, jfr_object_class(f)));
	*at++ = f->kind == FRAME_CLASS_OUTSIDE;
	return at;
}

/* The fields that others have defined, and ALLOCATION_FIELDS of types.c. */
static uint8_t *put_allocation(uint8_t *at, enum jfr_type_id type, const struct jfr_pools *pools,
			       const struct profile *p, const struct profile_sample *s)
{
	at = jfr_varint(at, jfr_thread_key(pools, s->thread));
	at = jfr_varint(at, jfr_key(pools, s->stack));
	/* Native memory's place is not told. */
	at = jfr_varint(at, type == JFR_MALLOC ? 0 : jfr_object_class_key(pools, p, s->stack));
	at = jfr_varint(at, s->weight);
	if (type == JFR_LIVE_OBJECT)
		at = jfr_varint(at, s->time_ns); /* of the allocation */
	at = jfr_put_labels(at, pools, p, s);
	*at++ = s->state == STATE_RUNNING_KERNEL;
	return put_object(at, pools, p, s);
}

static uint64_t begin_ns(enum jfr_type_id type, const struct profile_sample *s)
{
	uint64_t length_ns = jfr_is_told_at_end(type) || type == JFR_KERNEL_LOCK
				     ? s->weight / MAX(s->chance, 1U)
				     : 0;

	return s->time_ns - MIN(length_ns, s->time_ns);
}

static void put_sample(struct strbuf *out, const struct jfr_pools *pools, const struct profile *p,
		       const struct profile_sample *s)
{
	uint32_t name = profile_get_event(p, s->event)->name;
	enum jfr_type_id type = sample_type(profile_get_string(p, name));
	uint8_t *begin, *at;

	strbuf_grow(out, SAMPLE_LIMIT_BYTES);
	begin = (uint8_t *)out->buf + out->len;
	at = begin + 1;
	type = jfr_jvm_type(type, p, s);
	*at++ = (uint8_t)type;
	at = jfr_varint(at, begin_ns(type, s));
	switch (type) {
	case JFR_EXECUTION_SAMPLE: at = put_fields(at, pools, p, s); break;
	case JFR_OBJECT_ALLOCATION_SAMPLE:
	case JFR_MALLOC:
	case JFR_LIVE_OBJECT: at = put_allocation(at, type, pools, p, s); break;
	case JFR_KERNEL_LOCK:
	case JFR_OFFCPU_SAMPLE: at = put_wait(at, pools, p, s); break;
	case JFR_NATIVE_LOCK: at = put_native_lock(at, pools, p, s); break;
	case JFR_WALL_CLOCK_SAMPLE: at = put_wall(at, pools, p, s); break;
	case JFR_MONITOR_ENTER:
	case JFR_MONITOR_WAIT:
	case JFR_THREAD_PARK:
	case JFR_VM_OPERATION:
	case JFR_SAFEPOINT_BEGIN:
	case JFR_SAFEPOINT_END:
	case JFR_COMPILATION:
	case JFR_CLASS_DEFINE:
	case JFR_GC_PAUSE: at = jfr_put_jvm(at, type, pools, p, s); break;
	default:
		at = jfr_varint(at, jfr_string_key(pools, name));
		at = put_fields(at, pools, p, s);
		at = put_object(at, pools, p, s);
	}
	*begin = (uint8_t)(at - begin);
	out->len += (size_t)(at - begin);
}

void jfr_put_samples(struct strbuf *out, const struct jfr_pools *pools, const struct profile *p)
{
	for (size_t i = 0; i < p->samples.len; i++)
		put_sample(out, pools, p, &p->samples.items[i]);
}

void jfr_put_recording(struct strbuf *out, const struct jfr_pools *pools, const struct profile *p,
		       uint64_t time_ns)
{
	size_t event = jfr_begin_event(out, JFR_RECORDING_EVENT);

	jfr_put_varint(out, time_ns);
	jfr_put_varint(out, jfr_string_key(pools, p->command));
	jfr_put_varint(out, jfr_string_key(pools, p->host));
	jfr_put_varint(out, p->start_wall_ns);
	jfr_put_varint(out, p->start_ns);
	jfr_end_event(out, event);
}

void jfr_put_event_kinds(struct strbuf *out, const struct jfr_pools *pools, const struct profile *p,
			 uint32_t first, uint64_t time_ns)
{
	for (uint32_t id = first; id < intern_len(&p->events); id++) {
		size_t event = jfr_begin_event(out, JFR_KIND_EVENT);

		jfr_put_varint(out, time_ns);
		jfr_put_event_kind(out, pools, profile_get_event(p, id));
		jfr_end_event(out, event);
	}
}

void jfr_put_processes(struct strbuf *out, const struct jfr_pools *pools, const struct profile *p,
		       uint32_t first, uint64_t time_ns)
{
	for (uint32_t id = first; id < intern_len(&p->processes); id++) {
		size_t event = jfr_begin_event(out, JFR_PROCESS_EVENT);

		jfr_put_varint(out, time_ns);
		jfr_put_process(out, pools, profile_get_process(p, id));
		jfr_end_event(out, event);
	}
}

void jfr_put_mappings(struct strbuf *out, const struct jfr_pools *pools, const struct profile *p,
		      uint32_t first, uint64_t time_ns)
{
	for (uint32_t id = first; id < intern_len(&p->mappings); id++) {
		size_t event = jfr_begin_event(out, JFR_MAPPING_EVENT);

		jfr_put_varint(out, time_ns);
		jfr_put_mapping(out, pools, profile_get_mapping(p, id));
		jfr_end_event(out, event);
	}
}

static void put_quality(struct strbuf *out, const struct jfr_pools *pools, const struct profile *p,
			const struct profile_quality *q, uint64_t time_ns)
{
	size_t event = jfr_begin_event(out, JFR_QUALITY_EVENT);

	jfr_put_varint(out, time_ns);
	jfr_put_varint(out, jfr_key(pools, q->process));
	jfr_put_varint(out, jfr_string_key(pools, profile_get_event(p, q->event)->name));
	jfr_put_varint(out, q->samples);
	jfr_put_varint(out, q->complete);
	jfr_put_varint(out, q->weight);
	jfr_put_varint(out, q->lost);
	jfr_put_varint(out, q->lost_weight);
	jfr_end_event(out, event);
}

void jfr_put_quality(struct strbuf *out, const struct jfr_pools *pools, const struct profile *p,
		     uint64_t time_ns)
{
	for (size_t i = 0; i < p->quality.len; i++)
		put_quality(out, pools, p, &p->quality.items[i], time_ns);
}

void jfr_put_counters(struct strbuf *out, const struct jfr_pools *pools, const struct profile *p,
		      uint64_t time_ns)
{
	for (size_t i = 0; i < p->counters.len; i++) {
		const struct profile_counter *counter = &p->counters.items[i];
		size_t event = jfr_begin_event(out, JFR_COUNTER_EVENT);

		jfr_put_varint(out, time_ns);
		jfr_put_varint(out, jfr_string_key(pools, counter->name));
		jfr_put_varint(out, jfr_string_key(pools, counter->detail));
		jfr_put_varint(out, counter->value);
		jfr_end_event(out, event);
	}
}
