/* SPDX-License-Identifier: Apache-2.0 */
/* The constant pools of a chunk become the tables of a profile. */
#include <errno.h>
#include <string.h>

#include "profile/class_name.h"
#include "profile/frame_kind.h"
#include "recording/read.h"
#include "recording/write_values.h"

uint32_t jfr_no_thread(struct recording_reader *reader)
{
	struct profile_thread thread = { 0 };

	if (reader->no_thread != PROFILE_NONE)
		return reader->no_thread;
	thread.process = jfr_no_process(reader);
	thread.name = profile_string(reader->profile, "unknown");
	reader->no_thread = profile_thread(reader->profile, &thread);
	return reader->no_thread;
}

void jfr_name_event(struct recording_reader *reader, uint32_t event)
{
	uint32_t name = profile_get_event(reader->profile, event)->name;
	uint64_t have;

	if (!hmap_get(&reader->events_by_name, name, &have))
		hmap_put(&reader->events_by_name, name, event);
}

uint32_t jfr_event_by_name(struct recording_reader *reader, uint32_t name, const char *unit)
{
	struct profile_event event = { .name = name };
	uint64_t have;

	if (hmap_get(&reader->events_by_name, name, &have))
		return (uint32_t)have;
	event.unit = profile_string(reader->profile, unit);
	have = profile_event(reader->profile, &event);
	hmap_put(&reader->events_by_name, name, have);
	return (uint32_t)have;
}

typedef void add_fn(struct recording_reader *reader, uint64_t key, const struct jfr_values *v);

static uint32_t pool_get(const struct recording_reader *reader, enum jfr_pool_id pool, uint64_t key)
{
	return jfr_keymap_get(&reader->pools[pool], key, PROFILE_NONE);
}

/* --- texts ------------------------------------------------------------------------------------ */

/* A symbol may be a reference to a string, and there it ends. */
static uint32_t decode(struct recording_reader *reader, const struct jfr_text *text)
{
	const struct jfr_text *real = text;

	if (text->encoding == JFR_STRING_POOL) {
		uint32_t index = pool_get(reader, JFR_POOL_STRING, text->len);

		if (index == PROFILE_NONE)
			return 0;
		real = &reader->texts.items[index].text;
		if (real->encoding == JFR_STRING_POOL)
			return 0;
	}
	strbuf_reset(&reader->text);
	jfr_decode_text(&reader->text, real);
	return profile_strn(reader->profile, strbuf_str(&reader->text), reader->text.len);
}

uint32_t jfr_text_string(struct recording_reader *reader, const struct jfr_text *text)
{
	return decode(reader, text);
}

uint32_t jfr_symbol_string(struct recording_reader *reader, uint64_t key)
{
	uint32_t index = pool_get(reader, JFR_POOL_SYMBOL, key);
	struct jfr_pool_text *entry;

	if (index == PROFILE_NONE)
		return 0;
	entry = &reader->texts.items[index];
	if (entry->string == PROFILE_NONE)
		entry->string = decode(reader, &entry->text);
	return entry->string;
}

static void add_text(struct recording_reader *reader, enum jfr_pool_id pool, uint64_t key,
		     const struct jfr_values *v)
{
	struct jfr_pool_text entry = { v->text[0], PROFILE_NONE };

	jfr_keymap_put(&reader->pools[pool], key, (uint32_t)reader->texts.len);
	vec_push(&reader->texts, entry);
}

static void add_string(struct recording_reader *reader, uint64_t key, const struct jfr_values *v)
{
	add_text(reader, JFR_POOL_STRING, key, v);
}

static void add_symbol(struct recording_reader *reader, uint64_t key, const struct jfr_values *v)
{
	add_text(reader, JFR_POOL_SYMBOL, key, v);
}

/* --- other producers' frames ------------------------------------------------------------------ */

static uint32_t dotted(struct recording_reader *reader, uint32_t string)
{
	struct strbuf *text = &reader->text;

	strbuf_reset(text);
	class_name_from_internal(text, profile_get_string(reader->profile, string));
	return profile_strn(reader->profile, strbuf_str(text), text->len);
}

static void add_class(struct recording_reader *reader, uint64_t key, const struct jfr_values *v)
{
	uint32_t name = jfr_symbol_string(reader, v->number[0]);

	jfr_keymap_put(&reader->pools[JFR_POOL_CLASS], key, dotted(reader, name));
}

static void add_method(struct recording_reader *reader, uint64_t key, const struct jfr_values *v)
{
	struct jfr_method_names names = {
		jfr_keymap_get(&reader->pools[JFR_POOL_CLASS], v->number[0], 0),
		jfr_symbol_string(reader, v->number[1]),
		jfr_symbol_string(reader, v->number[2]),
	};

	jfr_keymap_put(&reader->pools[JFR_POOL_METHOD], key, (uint32_t)reader->methods.len);
	vec_push(&reader->methods, names);
}

static void add_frame_type(struct recording_reader *reader, uint64_t key,
			   const struct jfr_values *v)
{
	const char *name =
		profile_get_string(reader->profile, jfr_text_string(reader, &v->text[0]));
	enum frame_kind kind;

	if (frame_kind_from_jfr(name, &kind) < 0)
		return;
	if (kind == FRAME_KERNEL)
		reader->native_types = true;
	jfr_keymap_put(&reader->pools[JFR_POOL_FRAME_TYPE], key, kind);
}

/* --- ours ------------------------------------------------------------------------------------- */

static void add_state(struct recording_reader *reader, uint64_t key, const struct jfr_values *v)
{
	static const struct {
		const char *name;
		enum thread_state state;
	} states[] = {
		{ "STATE_RUNNABLE", STATE_RUNNING_USER },   { "STATE_SLEEPING", STATE_SLEEPING },
		{ "STATE_UNINTERRUPTIBLE", STATE_BLOCKED }, { "STATE_RUN_QUEUE", STATE_QUEUED },
		{ "STATE_STOPPED", STATE_STOPPED },
	};

	const char *name =
		profile_get_string(reader->profile, jfr_text_string(reader, &v->text[0]));

	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		if (!strcmp(states[i].name, name))
			jfr_keymap_put(&reader->pools[JFR_POOL_STATE], key, states[i].state);
}

static void add_kind(struct recording_reader *reader, uint64_t key, const struct jfr_values *v)
{
	const char *id = profile_get_string(reader->profile, jfr_text_string(reader, &v->text[0]));

	for (uint32_t kind = 0; kind < FRAME_KIND_COUNT; kind++)
		if (!strcmp(frame_kind_info((enum frame_kind)kind)->id, id))
			jfr_keymap_put(&reader->pools[JFR_POOL_KIND], key, kind);
}

static void add_event(struct recording_reader *reader, uint64_t key, const struct jfr_values *v)
{
	struct profile_event event = {
		.name = jfr_symbol_string(reader, v->number[0]),
		.unit = jfr_symbol_string(reader, v->number[1]),
		.period = v->number[2],
	};

	(void)key; /* samples go by the name */
	jfr_name_event(reader, profile_event(reader->profile, &event));
}

static void add_mapping(struct recording_reader *reader, uint64_t key, const struct jfr_values *v)
{
	struct profile_mapping m = {
		.path = jfr_symbol_string(reader, v->number[0]),
		.build_id = jfr_symbol_string(reader, v->number[1]),
		.start = v->number[2],
		.limit = v->number[3],
		.offset = v->number[4],
	};

	jfr_keymap_put(&reader->pools[JFR_POOL_MAPPING], key, profile_mapping(reader->profile, &m));
}

static void add_process(struct recording_reader *reader, uint64_t key, const struct jfr_values *v)
{
	struct profile_process proc = {
		.pid = (uint32_t)v->number[0],
		.exec_count = (uint32_t)v->number[1],
		.start_ns = v->number[2],
		.name = jfr_symbol_string(reader, v->number[3]),
		.exe = jfr_symbol_string(reader, v->number[4]),
		.container_id = jfr_symbol_string(reader, v->number[5]),
		.cgroup = jfr_symbol_string(reader, v->number[6]),
		.jvm_version = jfr_symbol_string(reader, v->number[7]),
		.main_class = jfr_symbol_string(reader, v->number[8]),
		.container_name = jfr_symbol_string(reader, v->number[9]),
		.container_image = jfr_symbol_string(reader, v->number[10]),
	};

	jfr_keymap_put(&reader->pools[JFR_POOL_PROCESS], key,
		       profile_process(reader->profile, &proc));
}

static void add_thread(struct recording_reader *reader, uint64_t key, const struct jfr_values *v)
{
	uint32_t java_name = jfr_text_string(reader, &v->text[2]);
	uint32_t os_name = jfr_text_string(reader, &v->text[0]);
	struct profile_thread t = {
		.process = pool_get(reader, JFR_POOL_PROCESS, v->number[4]),
		.tid = (uint32_t)v->number[1],
		.name = java_name ? java_name : os_name,
		.java_tid = (uint32_t)v->number[3],
		.is_virtual = v->number[5] != 0,
	};

	if (t.is_virtual && !t.name)
		t.name = profile_string(reader->profile, PROFILE_VIRTUAL_THREAD);
	if (t.process == PROFILE_NONE)
		t.process = jfr_no_process(reader);
	jfr_keymap_put(&reader->pools[JFR_POOL_THREAD], key, profile_thread(reader->profile, &t));
}

static void add_location(struct recording_reader *reader, uint64_t key, const struct jfr_values *v)
{
	struct profile_frame frame = {
		.name = jfr_symbol_string(reader, v->number[0]),
		.class_name = jfr_symbol_string(reader, v->number[1]),
		.file = jfr_symbol_string(reader, v->number[2]),
		.mapping = pool_get(reader, JFR_POOL_MAPPING, v->number[3]),
		.address = v->number[4],
		.line = (int32_t)v->number[5],
		.bci = (int32_t)v->number[6],
		.kind = jfr_keymap_get(&reader->pools[JFR_POOL_KIND], v->number[7], FRAME_NATIVE),
		.into = (uint32_t)v->number[8],
		.descriptor = jfr_symbol_string(reader, v->number[9]),
	};

	jfr_keymap_put(&reader->pools[JFR_POOL_LOCATION], key,
		       profile_frame(reader->profile, &frame));
}

/* --- all pools -------------------------------------------------------------------------------- */

static const struct pool_info {
	const char *type;
	const char *wanted[JFR_MAX_SLOTS];
	add_fn *add;  /* NULL: stacks, which are read by themselves */
	bool foreign; /* not needed in our own recordings */
} pool_infos[JFR_POOL_IDS] = {
	[JFR_POOL_STRING] = { "java.lang.String", { NULL }, add_string, false },
	[JFR_POOL_SYMBOL] = { "jdk.types.Symbol", { "string" }, add_symbol, false },
	[JFR_POOL_CLASS] = { "java.lang.Class", { "name" }, add_class, true },
	[JFR_POOL_METHOD] = { "jdk.types.Method",
			      { "type", "name", "descriptor" },
			      add_method,
			      true },
	[JFR_POOL_FRAME_TYPE] = { "jdk.types.FrameType", { "description" }, add_frame_type, true },
	[JFR_POOL_STATE] = { "jdk.types.ThreadState", { "name" }, add_state, false },
	[JFR_POOL_KIND] = { "hostprof.types.FrameKind", { "id" }, add_kind, false },
	[JFR_POOL_EVENT] = { "hostprof.types.EventKind",
			     { "name", "unit", "period" },
			     add_event,
			     false },
	[JFR_POOL_MAPPING] = { "hostprof.types.Mapping",
			       { "path", "buildId", "textStart", "textLimit", "fileOffset" },
			       add_mapping,
			       false },
	[JFR_POOL_PROCESS] = { "hostprof.types.Process",
			       { "pid", "execCount", "processStart", "name", "exe", "container",
				 "cgroup", "jvmVersion", "mainClass", "containerName",
				 "containerImage" },
			       add_process,
			       false },
	[JFR_POOL_THREAD] = { "java.lang.Thread",
			      { "osName", "osThreadId", "javaName", "javaThreadId", "process",
				"virtual" },
			      add_thread,
			      false },
	[JFR_POOL_LOCATION] = { "hostprof.types.Location",
				{ "name", "className", "file", "mapping", "address", "line",
				  "bytecodeIndex", "kind", "functionOffset", "descriptor" },
				add_location,
				false },
	[JFR_POOL_STACK] = { "jdk.types.StackTrace", { NULL }, NULL, false },
};

static enum jfr_pool_id pool_of_type(const struct recording_reader *reader, uint32_t type)
{
	const char *name = reader->schema.types.items[type].name;
	int pool = 0;

	while (pool < JFR_POOL_IDS && strcmp(pool_infos[pool].type, name) != 0)
		pool++;
	if (pool < JFR_POOL_IDS && pool_infos[pool].foreign && reader->ours)
		return JFR_POOL_IDS;
	return (enum jfr_pool_id)pool;
}

static void skip_entries(const struct recording_reader *reader, struct jfr_cursor *c, uint32_t type,
			 uint64_t count)
{
	for (uint64_t i = 0; i < count && !c->bad; i++) {
		jfr_get_varint(c);
		read_skip_value(&reader->schema, c, type);
	}
}

int read_index_checkpoint(struct recording_reader *reader, struct jfr_cursor body)
{
	uint64_t pools;

	jfr_get_varint(&body); /* start */
	jfr_get_varint(&body); /* duration */
	jfr_get_varint(&body); /* where the checkpoint before is; we have met it */
	jfr_get_byte(&body);   /* kind of checkpoint */
	pools = jfr_get_varint(&body);
	for (uint64_t i = 0; i < pools && !body.bad; i++) {
		uint32_t type = jfr_schema_find_id(&reader->schema, jfr_get_varint(&body));
		struct jfr_segment segment = { .type = type, .count = jfr_get_varint(&body) };

		if (type == JFR_NO_TYPE)
			return -EBADMSG;
		segment.pool = pool_of_type(reader, type);
		segment.entries = body;
		if (segment.pool < JFR_POOL_IDS)
			vec_push(&reader->segments, segment);
		if (i + 1 < pools)
			skip_entries(reader, &body, type, segment.count);
	}
	return body.bad ? -EBADMSG : 0;
}

static void read_plain(struct recording_reader *reader, const struct jfr_segment *segment,
		       struct jfr_cursor *c)
{
	const struct pool_info *info = &pool_infos[segment->pool];
	struct jfr_values values;
	struct read_layout layout;

	memset(&values, 0, sizeof(values));
	jfr_layout_init(&layout, &reader->schema, segment->type, info->wanted);
	for (uint64_t i = 0; i < segment->count && !c->bad; i++) {
		uint64_t key = jfr_get_varint(c);

		read_object(&reader->schema, &layout, c, &values);
		if (!c->bad)
			info->add(reader, key, &values);
	}
	jfr_layout_release(&layout);
}

static void read_stacks(struct recording_reader *reader, const struct jfr_segment *segment,
			struct jfr_cursor *c)
{
	struct read_layout stack, frame = { .found = 0 };
	const struct jfr_step *step;

	jfr_layout_init(&stack, &reader->schema, segment->type, jfr_stack_fields);
	vec_for_each (step, &stack.steps) {
		const struct jfr_field *field = &reader->schema.fields.items[step->field];

		if (step->kind == JFR_STEP_ARRAY && !field->pool && !frame.steps.len)
			jfr_layout_init(&frame, &reader->schema, field->type, jfr_frame_fields);
	}
	for (uint64_t i = 0; i < segment->count && !c->bad; i++) {
		uint64_t key = jfr_get_varint(c);
		uint32_t id = jfr_read_stack(reader, &stack, &frame, c);

		if (!c->bad)
			jfr_keymap_put(&reader->pools[JFR_POOL_STACK], key, id);
	}
	jfr_layout_release(&stack);
	jfr_layout_release(&frame);
}

int jfr_read_pools(struct recording_reader *reader)
{
	for (int pool = 0; pool < JFR_POOL_IDS; pool++) {
		const struct jfr_segment *segment;

		vec_for_each (segment, &reader->segments) {
			struct jfr_cursor c = segment->entries;

			if ((int)segment->pool != pool)
				continue;
			if (pool == JFR_POOL_STACK)
				read_stacks(reader, segment, &c);
			else
				read_plain(reader, segment, &c);
			if (c.bad)
				return -EBADMSG;
		}
	}
	return 0;
}
