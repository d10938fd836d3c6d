/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording of another producer, of one JVM, says of its process. */
#include <string.h>

#include "recording/read.h"

/* The first event of a type; false when there is none. */
static bool find_event(struct recording_reader *reader, uint64_t type_id,
		       struct jfr_cursor *ret_event)
{
	struct jfr_cursor events = reader->events;

	while (jfr_left(&events)) {
		const uint8_t *begin = events.at;
		uint64_t size = jfr_get_varint(&events);
		struct jfr_cursor event = { events.at, begin + size, false };

		events.at = event.end;
		if (jfr_get_varint(&event) != type_id)
			continue;
		*ret_event = event;
		return true;
	}
	return false;
}

bool jfr_has_event(struct recording_reader *reader, const char *name)
{
	uint32_t type = jfr_schema_find(&reader->schema, name);
	struct jfr_cursor event;

	return type != JFR_NO_TYPE &&
	       find_event(reader, reader->schema.types.items[type].id, &event);
}

/* The number in "OpenJDK 64-Bit Server VM (17.0.15+6) for linux-amd64 JRE (…)"; else all of it. */
static uint32_t jvm_version(struct recording_reader *reader, uint32_t text)
{
	const char *whole = profile_get_string(reader->profile, text);
	const char *open = strchr(whole, '('), *close = open ? strchr(open, ')') : NULL;

	if (!close)
		return text;
	return profile_strn(reader->profile, open + 1, (size_t)(close - open - 1));
}

static void name_jvm(struct recording_reader *reader, struct profile_process *proc)
{
	static const char *const wanted[] = { "pid", "jvmVersion", "javaArguments", NULL };
	uint32_t type = jfr_schema_find(&reader->schema, "jdk.JVMInformation");
	struct jfr_values v;
	struct read_layout layout;
	struct jfr_cursor event;
	const char *arguments;

	memset(&v, 0, sizeof(v));
	proc->name = profile_string(reader->profile, "java");
	if (type == JFR_NO_TYPE || !find_event(reader, reader->schema.types.items[type].id, &event))
		return;
	jfr_layout_init(&layout, &reader->schema, type, wanted);
	read_object(&reader->schema, &layout, &event, &v);
	jfr_layout_release(&layout);
	if (event.bad)
		return;
	proc->pid = (uint32_t)v.number[0];
	proc->jvm_version = jvm_version(reader, jfr_text_string(reader, &v.text[1]));
	arguments = profile_get_string(reader->profile, jfr_text_string(reader, &v.text[2]));
	proc->main_class = profile_strn(reader->profile, arguments, strcspn(arguments, " "));
}

uint32_t jfr_no_process(struct recording_reader *reader)
{
	struct profile_process proc = { 0 };

	if (reader->no_process != PROFILE_NONE)
		return reader->no_process;
	if (reader->ours)
		proc.name = profile_string(reader->profile, "unknown");
	else
		name_jvm(reader, &proc);
	reader->no_process = profile_process(reader->profile, &proc);
	return reader->no_process;
}
