/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/stream_line.h"

#include <inttypes.h>

#include "base/json.h"
#include "profile/frame_kind.h"
#include "profile/title.h"

static const char *const state_names[] = {
	[STATE_RUNNING_USER] = "user", [STATE_RUNNING_KERNEL] = "kernel",
	[STATE_SLEEPING] = "sleeping", [STATE_UNKNOWN] = "unknown",
	[STATE_BLOCKED] = "blocked",   [STATE_QUEUED] = "queued",
	[STATE_STOPPED] = "stopped",
};

static void open_line(struct json *j, struct strbuf *out, const char *type)
{
	json_init(j, out, false);
	json_object_begin(j, NULL);
	json_str(j, "type", type);
}

static void close_line(struct json *j)
{
	json_object_end(j);
	strbuf_addch(j->out, '\n');
}

/* What is not known is left out. */
static void put_text(struct json *j, const char *key, const char *text)
{
	if (*text)
		json_str(j, key, text);
}

static void put_number(struct json *j, const char *key, uint64_t number)
{
	if (number)
		json_u64(j, key, number);
}

/* --- frames --- */

void stream_frames_release(struct stream_frames *frames)
{
	if (frames->is_open)
		intern_release(&frames->texts);
	hmap_release(&frames->by_id);
	*frames = (struct stream_frames){ 0 };
}

static void format_frame(struct strbuf *out, const struct profile *profile,
			 const struct profile_frame *frame)
{
	static const struct frame_name_options plain = { .names = FRAME_NAMES_EXACT };
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	struct json j;

	json_init(&j, out, false);
	json_object_begin(&j, NULL);
	frame_format_name(&name, profile, frame, &plain);
	json_strn(&j, "name", strbuf_str(&name), name.len);
	json_str(&j, "kind", frame_kind_info(frame->kind)->id);
	put_text(&j, "descriptor", profile_get_string(profile, frame->descriptor));
	if (frame->line > 0)
		json_i64(&j, "line", frame->line);
	put_text(&j, "file", profile_get_string(profile, frame->file));
	if (frame_kind_is_native(frame->kind)) {
		if (frame->mapping != PROFILE_NONE)
			put_text(&j, "module",
				 profile_get_string(
					 profile,
					 profile_get_mapping(profile, frame->mapping)->path));
		if (!frame->name) /* all that is known of it */
			put_number(&j, "address", frame->address);
	}
	json_object_end(&j);
}

static void put_frame(struct strbuf *out, struct stream_frames *frames,
		      const struct profile *profile, uint32_t id)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *known;
	uint64_t number;
	size_t len;

	if (!frames->is_open) {
		intern_init(&frames->texts);
		frames->is_open = true;
	}
	if (!hmap_get(&frames->by_id, id, &number)) {
		format_frame(&text, profile, profile_get_frame(profile, id));
		number = intern_put(&frames->texts, text.buf, text.len, NULL);
		hmap_put(&frames->by_id, id, number);
	}
	known = intern_get(&frames->texts, (uint32_t)number, &len);
	strbuf_add(out, known, len);
}

static void put_frames(struct json *j, struct stream_frames *frames, const struct profile *profile,
		       uint32_t stack_id)
{
	struct profile_stack stack = profile_get_stack(profile, stack_id);

	json_array_begin(j, "frames");
	for (uint32_t i = 0; i < stack.len; i++) {
		if (i)
			strbuf_addch(j->out, ',');
		put_frame(j->out, frames, profile, stack.frames[i]);
	}
	json_array_end(j);
}

/* --- lines --- */

void stream_line_begin(struct strbuf *out, const struct profile *profile)
{
	struct json j;

	open_line(&j, out, "begin");
	json_str(&j, "format", "hostprof-stream");
	json_u64(&j, "version", STREAM_VERSION);
	json_str(&j, "hostprof", HOSTPROF_VERSION);
	json_str(&j, "host", profile_get_string(profile, profile->host));
	json_str(&j, "command", profile_get_string(profile, profile->command));
	json_u64(&j, "time_ns", profile->start_ns);
	json_u64(&j, "wall_time_ns", profile->start_wall_ns);
	json_array_begin(&j, "events");
	for (uint32_t i = 0; i < intern_len(&profile->events); i++) {
		const struct profile_event *event = profile_get_event(profile, i);

		json_object_begin(&j, NULL);
		json_str(&j, "event", profile_get_string(profile, event->name));
		json_str(&j, "weight_unit", profile_get_string(profile, event->unit));
		put_number(&j, "period", event->period);
		json_object_end(&j);
	}
	json_array_end(&j);
	close_line(&j);
}

void stream_line_process(struct strbuf *out, uint64_t number, const struct sink_process *process)
{
	struct json j;

	open_line(&j, out, "process");
	json_u64(&j, "process", number);
	json_u64(&j, "pid", process->pid);
	put_number(&j, "start_time_ns", process->start_ns);
	json_str(&j, "name", process->name);
	put_text(&j, "exe", process->exe);
	put_text(&j, "container", process->container_id);
	put_text(&j, "container_name", process->container_name);
	put_text(&j, "container_image", process->container_image);
	put_text(&j, "cgroup", process->cgroup);
	put_text(&j, "jvm_version", process->jvm_version);
	put_text(&j, "main_class", process->main_class);
	close_line(&j);
}

void stream_line_thread(struct strbuf *out, uint64_t number, uint64_t process,
			const struct sink_sample *sample)
{
	struct json j;

	open_line(&j, out, "thread");
	json_u64(&j, "thread", number);
	json_u64(&j, "process", process);
	json_u64(&j, "pid", sample->process->pid);
	json_u64(&j, "tid", sample->tid);
	json_str(&j, "name", sample->thread);
	put_number(&j, "java_tid", sample->java_tid);
	if (sample->is_virtual)
		json_bool(&j, "virtual", true);
	close_line(&j);
}

void stream_line_sample(struct strbuf *out, struct stream_frames *frames,
			const struct profile *profile, const struct sink_sample *sample,
			uint64_t thread)
{
	const struct profile_event *event = profile_get_event(profile, sample->event);
	struct json j;

	open_line(&j, out, "sample");
	json_u64(&j, "id", sample->id);
	json_u64(&j, "time_ns", sample->time_ns);
	json_str(&j, "event", profile_get_string(profile, event->name));
	json_u64(&j, "weight", sample->weight);
	if (sample->objects) {
		json_str(&j, "weight_unit", profile_get_string(profile, event->unit));
		json_u64(&j, "objects", sample->objects);
	}
	put_number(&j, "age", sample->age);
	json_str(&j, "state", state_names[sample->state]);
	if (sample->chance) {
		json_str(&j, "reason", sample->reason);
		put_number(&j, "queued", sample->queued);
		json_u64(&j, "chance", sample->chance);
	}
	json_u64(&j, "pid", sample->process->pid);
	json_u64(&j, "tid", sample->tid);
	json_u64(&j, "thread", thread);
	put_frames(&j, frames, profile, sample->stack);
	close_line(&j);
}

void stream_line_correction(struct strbuf *out, struct stream_frames *frames,
			    const struct profile *profile, const struct sink_sample *sample,
			    uint64_t thread)
{
	struct json j;

	open_line(&j, out, "correction");
	json_u64(&j, "id", sample->id);
	json_u64(&j, "thread", thread);
	put_frames(&j, frames, profile, sample->stack);
	close_line(&j);
}

void stream_line_life(struct strbuf *out, const struct sink_process_event *event)
{
	static const char *const types[] = {
		[SINK_STARTED] = "process_start",
		[SINK_EXECED] = "process_exec",
		[SINK_EXITED] = "process_exit",
	};
	struct json j;

	open_line(&j, out, types[event->life]);
	json_u64(&j, "time_ns", event->time_ns);
	json_u64(&j, "pid", event->pid);
	if (event->life == SINK_STARTED)
		json_u64(&j, "ppid", event->ppid);
	if (event->life == SINK_EXECED)
		json_str(&j, "name", event->name);
	close_line(&j);
}

void stream_line_loss(struct strbuf *out, const struct sink_loss *loss)
{
	struct json j;

	open_line(&j, out, "lost");
	put_number(&j, "pid", loss->pid);
	put_text(&j, "event", loss->event);
	json_str(&j, "reason", loss->reason);
	json_u64(&j, "samples", loss->samples);
	json_u64(&j, "weight", loss->weight);
	close_line(&j);
}

void stream_line_lost_lines(struct strbuf *out, uint64_t samples, uint64_t corrections,
			    uint64_t others)
{
	struct json j;

	open_line(&j, out, "lost_lines");
	json_u64(&j, "lines", samples + corrections + others);
	json_u64(&j, "samples", samples);
	json_u64(&j, "corrections", corrections);
	close_line(&j);
}

void stream_line_end(struct strbuf *out, uint64_t time_ns, const struct sink_sums *sums,
		     uint64_t lost_lines)
{
	struct json j;

	open_line(&j, out, "end");
	json_u64(&j, "time_ns", time_ns);
	json_u64(&j, "samples", sums->samples);
	json_u64(&j, "late_samples", sums->late_samples);
	json_u64(&j, "lost_samples", sums->lost_samples);
	json_u64(&j, "lost_lines", lost_lines);
	close_line(&j);
}

void stream_line_collapsed(struct strbuf *out, const struct profile *profile,
			   const struct sink_sample *sample)
{
	static const struct frame_name_options plain = { .names = FRAME_NAMES_EXACT };
	struct profile_stack stack = profile_get_stack(profile, sample->stack);
	size_t at = out->len;

	strbuf_addf(out, "%s-%u", sample->process->name, sample->process->pid);
	profile_make_plain(out, at);
	for (uint32_t i = stack.len; i-- > 0;) {
		strbuf_addch(out, ';');
		at = out->len;
		frame_format_name(out, profile, profile_get_frame(profile, stack.frames[i]),
				  &plain);
		profile_make_plain(out, at);
	}
	strbuf_addf(out, " %" PRIu64 "\n", sample->weight);
}
