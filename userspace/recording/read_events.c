/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a chunk become samples and figures of a profile. */
#include <errno.h>
#include <string.h>

#include "recording/read.h"
#include "recording/samples/read_jvm.h"
#include "recording/samples/read_sample.h"
#include "recording/write_events.h"

/* --- samples ---------------------------------------------------------------------------------- */

static uint32_t cpu_event(struct recording_reader *reader)
{
	if (reader->cpu_event == PROFILE_NONE)
		reader->cpu_event =
			jfr_event_by_name(reader, profile_string(reader->profile, JFR_CPU_EVENT),
					  reader->ours ? "nanoseconds" : "count");
	return reader->cpu_event;
}

static void add_cpu_sample(struct recording_reader *reader, const struct jfr_values *v,
			   uint32_t found)
{
	struct profile_sample s;

	if (!jfr_is_wanted(reader, JFR_CPU_EVENT))
		return;
	s = jfr_make_sample(reader, v, found, cpu_event(reader));
	jfr_add_sample(reader, &s);
}

static void add_event_sample(struct recording_reader *reader, const struct jfr_values *v,
			     uint32_t found)
{
	uint32_t name = jfr_symbol_string(reader, v->number[SAMPLE_EVENT]);
	struct profile_sample s;

	if (!jfr_is_wanted(reader, profile_get_string(reader->profile, name)))
		return;
	s = jfr_make_sample(reader, v, found, jfr_event_by_name(reader, name, "count"));
	jfr_put_class(reader, &s, jfr_sample_class(reader, v, found), v->number[SAMPLE_OUTSIDE]);
	jfr_add_sample(reader, &s);
}

static void add_parts(struct recording_reader *reader, const struct jfr_values *v,
		      struct profile_sample *s)
{
	jfr_add_parts(reader, v, JFR_RUN_QUEUE, s);
}

static void add_wait(struct recording_reader *reader, const struct jfr_values *v, uint32_t found)
{
	struct profile_sample s;

	if (jfr_take_sample(reader, v, found, JFR_OFFCPU_EVENT, "nanoseconds", &s))
		add_parts(reader, v, &s);
}

/* Others have no weights. */
static void add_native_lock(struct recording_reader *reader, const struct jfr_values *v,
			    uint32_t found)
{
	struct profile_sample s;

	if (reader->ours &&
	    jfr_take_sample(reader, v, found, JFR_NATIVE_LOCK_EVENT, "nanoseconds", &s))
		add_parts(reader, v, &s);
}

/* Its time is that of its end. */
static void add_kernel_lock(struct recording_reader *reader, const struct jfr_values *v,
			    uint32_t found)
{
	struct profile_sample s;

	if (!jfr_take_sample(reader, v, found, JFR_KERNEL_LOCK_EVENT, "nanoseconds", &s))
		return;
	s.time_ns += s.weight / MAX(v->number[SAMPLE_CHANCE], 1U);
	add_parts(reader, v, &s);
}

/* Others count samples, and know no reasons. */
static void add_wall(struct recording_reader *reader, const struct jfr_values *v, uint32_t found)
{
	const char *unit = jfr_has(found, SAMPLE_WEIGHT) ? "nanoseconds" : "count";
	struct profile_sample s;

	if (!jfr_take_sample(reader, v, found, JFR_WALL_EVENT, unit, &s))
		return;
	if (!jfr_has(found, SAMPLE_WEIGHT) && jfr_has(found, SAMPLE_SAMPLES))
		s.weight = s.count = v->number[SAMPLE_SAMPLES];
	if (jfr_symbol_string(reader, v->number[SAMPLE_REASON]))
		add_parts(reader, v, &s);
	else
		jfr_add_sample(reader, &s);
}

/*
 * Objects that a weight stands for: others don't tell. What began a TLAB weighs the TLAB, so as
 * many as fill it; else the one that was seen.
 */
static uint64_t guess_objects(const struct profile_sample *s, uint64_t size)
{
	return size && size < s->weight ? (s->weight + size / 2) / size : 1;
}

static void add_objects(struct recording_reader *reader, const struct jfr_values *v, uint32_t found,
			const char *name, bool outside)
{
	struct profile_sample s;

	if (!jfr_take_sample(reader, v, found, name, "bytes", &s))
		return;
	jfr_put_class(reader, &s, jfr_sample_class(reader, v, found), outside);
	if (!jfr_has(found, SAMPLE_OBJECTS))
		s.objects = guess_objects(&s, v->number[SAMPLE_SIZE]);
	jfr_add_sample(reader, &s);
}

static void add_allocation(struct recording_reader *reader, const struct jfr_values *v,
			   uint32_t found)
{
	add_objects(reader, v, found, JFR_ALLOC_EVENT, v->number[SAMPLE_OUTSIDE]);
}

static void add_outside(struct recording_reader *reader, const struct jfr_values *v, uint32_t found)
{
	add_objects(reader, v, found, JFR_ALLOC_EVENT, true);
}

static void add_malloc(struct recording_reader *reader, const struct jfr_values *v, uint32_t found)
{
	add_objects(reader, v, found, JFR_MALLOC_EVENT, false);
}

static void add_live(struct recording_reader *reader, const struct jfr_values *v, uint32_t found)
{
	add_objects(reader, v, found, JFR_LIVE_EVENT, v->number[SAMPLE_OUTSIDE]);
}

#define JFR_ALLOCATION_SAMPLE "jdk.ObjectAllocationSample"
#define JFR_EXECUTION	      "jdk.ExecutionSample"

#define SPAN_WANTED SAMPLE_WANTED("eventThread", "duration")

static const struct event_info {
	const char *type;
	const char *wanted[JFR_MAX_SLOTS];
	jfr_add_fn *add;
	bool tlab; /* says again what JFR_ALLOCATION_SAMPLE says, where both were recorded */
} event_infos[] = {
	{ JFR_EXECUTION, { SAMPLE_WANTED("sampledThread", "weight") }, add_cpu_sample, false },
	{ "hostprof.EventSample",
	  { SAMPLE_WANTED("sampledThread", "weight") },
	  add_event_sample,
	  false },
	{ JFR_ALLOCATION_SAMPLE,
	  { SAMPLE_WANTED("eventThread", "weight") },
	  add_allocation,
	  false },
	{ "jdk.ObjectAllocationInNewTLAB",
	  { SAMPLE_WANTED("eventThread", "tlabSize") },
	  add_allocation,
	  true },
	{ "jdk.ObjectAllocationOutsideTLAB",
	  { SAMPLE_WANTED("eventThread", "allocationSize") },
	  add_outside,
	  true },
	{ "profiler.LiveObject",
	  { SAMPLE_WANTED("eventThread", "allocationSize") },
	  add_live,
	  false },
	{ "profiler.Malloc", { SAMPLE_WANTED("eventThread", "size") }, add_malloc, false },
	{ "jdk.JavaMonitorEnter", { SPAN_WANTED }, jfr_add_enter, false },
	{ "jdk.JavaMonitorWait", { SPAN_WANTED }, jfr_add_monitor_wait, false },
	{ "jdk.ThreadPark", { SPAN_WANTED }, jfr_add_park, false },
	{ "jdk.ExecuteVMOperation", { SPAN_WANTED }, jfr_add_safepoint, false },
	{ "jdk.SafepointBegin", { SPAN_WANTED }, jfr_add_safepoint, false },
	{ "jdk.SafepointEnd", { SPAN_WANTED }, jfr_add_safepoint, false },
	{ "jdk.Compilation", { SPAN_WANTED }, jfr_add_compilation, false },
	{ "jdk.ClassDefine",
	  { SAMPLE_WANTED("eventThread", "weight") },
	  jfr_add_class_load,
	  false },
	{ "jdk.GCPhasePause", { SPAN_WANTED }, jfr_add_pause, false },
	{ "hostprof.OffCpuSample", { SAMPLE_WANTED("sampledThread", "weight") }, add_wait, false },
	{ "profiler.NativeLock",
	  { SAMPLE_WANTED("eventThread", "weight") },
	  add_native_lock,
	  false },
	{ "hostprof.KernelLock",
	  { SAMPLE_WANTED("sampledThread", "weight") },
	  add_kernel_lock,
	  false },
	{ "profiler.WallClockSample",
	  { SAMPLE_WANTED("sampledThread", "weight") },
	  add_wall,
	  false },
	{ "hostprof.Recording",
	  { "command", "host", "wallStart", "monotonicStart" },
	  jfr_add_recording,
	  false },
	{ "hostprof.Quality",
	  { "process", "eventName", "samples", "complete", "weight", "lost", "lostWeight" },
	  jfr_add_quality,
	  false },
	{ "hostprof.Counter", { "name", "detail", "value" }, jfr_add_counter, false },
};

/* --- all events ------------------------------------------------------------------------------- */

struct event_reader {
	uint64_t type_id;
	const struct event_info *info;
	struct read_layout layout;
	struct jfr_values values;
};

static struct event_reader *find_reader(struct event_reader *readers, uint64_t type_id)
{
	for (size_t i = 0; i < ARRAY_SIZE(event_infos); i++)
		if (readers[i].info && readers[i].type_id == type_id)
			return &readers[i];
	return NULL;
}

static int read_events(struct recording_reader *reader, struct event_reader *readers,
		       struct jfr_cursor events)
{
	while (jfr_left(&events)) {
		const uint8_t *begin = events.at;
		uint64_t size = jfr_get_varint(&events);
		struct jfr_cursor event = events;
		struct event_reader *er = find_reader(readers, jfr_get_varint(&event));

		/* The index has seen that sizes are good. */
		events.at = begin + size;
		event.end = events.at;
		if (!er)
			continue;
		read_object(&reader->schema, &er->layout, &event, &er->values);
		if (event.bad)
			return -EBADMSG;
		er->info->add(reader, &er->values, er->layout.found);
	}
	return 0;
}

int jfr_read_events(struct recording_reader *reader)
{
	struct event_reader readers[ARRAY_SIZE(event_infos)];
	bool no_tlabs = !reader->ours && jfr_has_event(reader, JFR_ALLOCATION_SAMPLE);
	int r;

	/* Ours come in the order in which they were asked for. */
	if (!reader->ours && jfr_is_wanted(reader, JFR_CPU_EVENT) &&
	    jfr_has_event(reader, JFR_EXECUTION))
		cpu_event(reader);
	memset(readers, 0, sizeof(readers));
	for (size_t i = 0; i < ARRAY_SIZE(event_infos); i++) {
		uint32_t type = jfr_schema_find(&reader->schema, event_infos[i].type);

		if (type == JFR_NO_TYPE || (event_infos[i].tlab && no_tlabs))
			continue;
		readers[i].info = &event_infos[i];
		readers[i].type_id = reader->schema.types.items[type].id;
		jfr_layout_init(&readers[i].layout, &reader->schema, type, event_infos[i].wanted);
	}
	r = read_events(reader, readers, reader->events);
	jfr_merge_samples(reader);
	for (size_t i = 0; i < ARRAY_SIZE(event_infos); i++)
		jfr_layout_release(&readers[i].layout);
	return r;
}
