/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a chunk become samples and figures of a profile. */
#include <errno.h>
#include <string.h>

#include "recording/read.h"
#include "recording/write_events.h"

static uint64_t to_ns(const struct recording_reader *reader, uint64_t ticks)
{
	__int128 since = (int64_t)(ticks - reader->start_ticks);

	if (reader->ours)
		return ticks;
	return reader->start_wall_ns +
	       (uint64_t)(since * 1000000000 / (__int128)reader->ticks_per_second);
}

/* --- samples ---------------------------------------------------------------------------------- */

enum {
	SAMPLE_TIME,
	SAMPLE_THREAD,
	SAMPLE_STACK,
	SAMPLE_STATE,
	SAMPLE_WEIGHT,
	SAMPLE_COUNT,
	SAMPLE_KERNEL,
	SAMPLE_EVENT,
	SAMPLE_OBJECTS,
	SAMPLE_AGE,
	SAMPLE_CLASS_NAME,
	SAMPLE_OUTSIDE,
	SAMPLE_CLASS,
	SAMPLE_SIZE, /* of the object, where that is not the weight */
	SAMPLE_REASON,
	SAMPLE_QUEUED,
	SAMPLE_CHANCE,
	SAMPLE_SAMPLES, /* of others' wall clock */
	SAMPLE_IDENTITY,
	SAMPLE_WAKER,
	SAMPLE_WAKER_STACK,
	SAMPLE_OWNER,
	SAMPLE_SLOTS
};

/* The list of names ends with NULL. */
_Static_assert(SAMPLE_SLOTS < JFR_MAX_SLOTS, "slots of a sample");

/* How the events call their thread and their weight differs. */
#define SAMPLE_WANTED(thread, weight)                                                           \
	"startTime", thread, "stackTrace", "state", weight, "count", "kernel", "eventName",     \
		"objects", "age", "className", "outsideTlab", "objectClass", "allocationSize",  \
		"reason", "queued", "chance", "samples", "address", "waker", "wakerStackTrace", \
		"owner"

static bool has(uint32_t found, int slot)
{
	return found & 1u << slot;
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

static void merge_batch(struct recording_reader *reader)
{
	profile_add_batch(reader->profile, reader->batch, reader->batch_len);
	reader->batch_len = 0;
}

/* The class that the event names, a string; 0 when it names none. */
static uint32_t sample_class(struct recording_reader *reader, const struct jfr_values *v,
			     uint32_t found)
{
	if (has(found, SAMPLE_CLASS_NAME))
		return jfr_symbol_string(reader, v->number[SAMPLE_CLASS_NAME]);
	return jfr_keymap_get(&reader->pools[JFR_POOL_CLASS], v->number[SAMPLE_CLASS], 0);
}

static struct profile_sample make_sample(struct recording_reader *reader,
					 const struct jfr_values *v, uint32_t found, uint32_t event)
{
	struct profile_sample s = {
		.time_ns = to_ns(reader, v->number[SAMPLE_TIME]),
		.weight = has(found, SAMPLE_WEIGHT) ? v->number[SAMPLE_WEIGHT] : 1,
		.count = has(found, SAMPLE_COUNT) ? v->number[SAMPLE_COUNT] : 1,
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

static void put_class(struct recording_reader *reader, struct profile_sample *s,
		      uint32_t class_name, bool outside)
{
	if (class_name)
		s->stack = jfr_stack_with_class(reader, s->stack, class_name,
						outside ? FRAME_CLASS_OUTSIDE : FRAME_CLASS);
}

static void add_sample(struct recording_reader *reader, const struct profile_sample *s)
{
	if (!reader->options->merge) {
		profile_add(reader->profile, s);
		return;
	}
	reader->batch[reader->batch_len++] = *s;
	if (reader->batch_len == PROFILE_BATCH)
		merge_batch(reader);
}

static bool is_wanted(const struct recording_reader *reader, const char *name)
{
	return !reader->options->event || !strcmp(reader->options->event, name);
}

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

	if (!is_wanted(reader, JFR_CPU_EVENT))
		return;
	s = make_sample(reader, v, found, cpu_event(reader));
	add_sample(reader, &s);
}

static void add_event_sample(struct recording_reader *reader, const struct jfr_values *v,
			     uint32_t found)
{
	uint32_t name = jfr_symbol_string(reader, v->number[SAMPLE_EVENT]);
	struct profile_sample s;

	if (!is_wanted(reader, profile_get_string(reader->profile, name)))
		return;
	s = make_sample(reader, v, found, jfr_event_by_name(reader, name, "count"));
	put_class(reader, &s, sample_class(reader, v, found), v->number[SAMPLE_OUTSIDE]);
	add_sample(reader, &s);
}

/* S is one, with what a wait has beside. */
static void add_parts(struct recording_reader *reader, const struct jfr_values *v,
		      struct profile_sample *s)
{
	uint64_t chance = MAX(v->number[SAMPLE_CHANCE], 1U);
	struct profile_sample parts[2];

	s->reason = jfr_symbol_string(reader, v->number[SAMPLE_REASON]);
	s->chance = (uint32_t)MIN(chance, UINT32_MAX);
	s->queued = v->number[SAMPLE_QUEUED] * s->chance;
	s->waker = jfr_waker(reader, v->number[SAMPLE_WAKER], v->number[SAMPLE_WAKER_STACK]);
	if (!reader->options->merge) {
		add_sample(reader, s);
		return;
	}
	for (size_t i = 0, count = jfr_wait_parts(reader, s, parts); i < count; i++)
		add_sample(reader, &parts[i]);
}

static struct profile_sample make_wait(struct recording_reader *reader, const struct jfr_values *v,
				       uint32_t found, const char *name)
{
	return make_sample(
		reader, v, found,
		jfr_event_by_name(reader, profile_string(reader->profile, name), "nanoseconds"));
}

static void add_wait(struct recording_reader *reader, const struct jfr_values *v, uint32_t found)
{
	struct profile_sample s;

	if (!is_wanted(reader, JFR_OFFCPU_EVENT))
		return;
	s = make_wait(reader, v, found, JFR_OFFCPU_EVENT);
	add_parts(reader, v, &s);
}

/* Others have no weights. */
static void add_native_lock(struct recording_reader *reader, const struct jfr_values *v,
			    uint32_t found)
{
	struct profile_sample s;

	if (!reader->ours || !is_wanted(reader, JFR_NATIVE_LOCK_EVENT))
		return;
	s = make_wait(reader, v, found, JFR_NATIVE_LOCK_EVENT);
	add_parts(reader, v, &s);
}

/* Its time is that of its end. */
static void add_kernel_lock(struct recording_reader *reader, const struct jfr_values *v,
			    uint32_t found)
{
	struct profile_sample s;

	if (!is_wanted(reader, JFR_KERNEL_LOCK_EVENT))
		return;
	s = make_wait(reader, v, found, JFR_KERNEL_LOCK_EVENT);
	s.time_ns += s.weight / MAX(v->number[SAMPLE_CHANCE], 1U);
	add_parts(reader, v, &s);
}

/* Others count samples, and know no reasons. */
static void add_wall(struct recording_reader *reader, const struct jfr_values *v, uint32_t found)
{
	struct profile_sample s;

	if (!is_wanted(reader, JFR_WALL_EVENT))
		return;
	s = make_sample(reader, v, found,
			jfr_event_by_name(reader, profile_string(reader->profile, JFR_WALL_EVENT),
					  has(found, SAMPLE_WEIGHT) ? "nanoseconds" : "count"));
	if (!has(found, SAMPLE_WEIGHT) && has(found, SAMPLE_SAMPLES))
		s.weight = s.count = v->number[SAMPLE_SAMPLES];
	if (jfr_symbol_string(reader, v->number[SAMPLE_REASON]))
		add_parts(reader, v, &s);
	else
		add_sample(reader, &s);
}

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

	if (!reader->ours || !is_wanted(reader, JFR_LOCK_EVENT))
		return;
	s = make_wait(reader, v, found, JFR_LOCK_EVENT);
	s.time_ns += s.weight;
	s.weight *= chance;
	put_class(reader, &s, sample_class(reader, v, found), false);
	s.owner = sample_owner(reader, v->number[SAMPLE_OWNER]);
	if (!reader->options->merge) {
		s.chance = (uint32_t)chance;
		s.identity = (uint32_t)(v->number[SAMPLE_IDENTITY] >> shift);
		s.reason = profile_string(reader->profile, reason);
	} else {
		put_owner(reader, &s);
	}
	add_sample(reader, &s);
}

/* Likewise. The operation's name is in the reason. */
static void add_safepoint(struct recording_reader *reader, const struct jfr_values *v,
			  uint32_t found)
{
	struct profile_sample s;

	if (!reader->ours || !is_wanted(reader, JFR_SAFEPOINT_EVENT))
		return;
	s = make_wait(reader, v, found, JFR_SAFEPOINT_EVENT);
	s.time_ns += s.weight;
	add_parts(reader, v, &s);
}

static void add_enter(struct recording_reader *reader, const struct jfr_values *v, uint32_t found)
{
	add_lock(reader, v, found, JFR_BY_ENTER, 0);
}

static void add_monitor_wait(struct recording_reader *reader, const struct jfr_values *v,
			     uint32_t found)
{
	add_lock(reader, v, found, JFR_BY_WAIT, 0);
}

static void add_park(struct recording_reader *reader, const struct jfr_values *v, uint32_t found)
{
	add_lock(reader, v, found, JFR_BY_PARK, JFR_ADDRESS_SHIFT);
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

	if (!is_wanted(reader, name))
		return;
	s = make_sample(reader, v, found,
			jfr_event_by_name(reader, profile_string(reader->profile, name), "bytes"));
	put_class(reader, &s, sample_class(reader, v, found), outside);
	if (!has(found, SAMPLE_OBJECTS))
		s.objects = guess_objects(&s, v->number[SAMPLE_SIZE]);
	add_sample(reader, &s);
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
	{ "jdk.JavaMonitorEnter", { SPAN_WANTED }, add_enter, false },
	{ "jdk.JavaMonitorWait", { SPAN_WANTED }, add_monitor_wait, false },
	{ "jdk.ThreadPark", { SPAN_WANTED }, add_park, false },
	{ "jdk.ExecuteVMOperation", { SPAN_WANTED }, add_safepoint, false },
	{ "jdk.SafepointBegin", { SPAN_WANTED }, add_safepoint, false },
	{ "jdk.SafepointEnd", { SPAN_WANTED }, add_safepoint, false },
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
	if (!reader->ours && is_wanted(reader, JFR_CPU_EVENT) &&
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
	merge_batch(reader);
	for (size_t i = 0; i < ARRAY_SIZE(event_infos); i++)
		jfr_layout_release(&readers[i].layout);
	return r;
}
