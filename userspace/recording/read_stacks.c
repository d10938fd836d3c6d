/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "profile/frame_kind.h"
#include "profile/title.h"
#include "recording/read.h"
#include "recording/write_events.h"

const char *const jfr_stack_fields[] = { "frames", NULL };

enum { FRAME_METHOD, FRAME_LINE, FRAME_BCI, FRAME_TYPE, FRAME_LOCATION };

const char *const jfr_frame_fields[] = {
	[FRAME_METHOD] = "method", [FRAME_LINE] = "lineNumber",	  [FRAME_BCI] = "bytecodeIndex",
	[FRAME_TYPE] = "type",	   [FRAME_LOCATION] = "location", NULL,
};

static enum frame_kind foreign_kind(const struct recording_reader *reader, uint64_t type)
{
	uint32_t kind = jfr_keymap_get(&reader->pools[JFR_POOL_FRAME_TYPE], type, FRAME_JAVA_JIT);

	return kind == FRAME_NATIVE && !reader->native_types ? FRAME_JAVA_JIT
							     : (enum frame_kind)kind;
}

/* A frame of another producer: a method, which may stand for a symbol. */
static uint32_t foreign_frame(struct recording_reader *reader, const struct jfr_values *v)
{
	struct profile_frame frame = { .mapping = PROFILE_NONE };
	uint32_t method = jfr_keymap_get(&reader->pools[JFR_POOL_METHOD], v->number[FRAME_METHOD],
					 PROFILE_NONE);

	frame.kind = foreign_kind(reader, v->number[FRAME_TYPE]);
	frame.line = (int32_t)v->number[FRAME_LINE];
	frame.bci = (int32_t)v->number[FRAME_BCI];
	if (method != PROFILE_NONE) {
		frame.class_name = reader->methods.items[method].class_name;
		frame.name = reader->methods.items[method].name;
		if (frame_kind_is_java(frame.kind))
			frame.descriptor = reader->methods.items[method].descriptor;
	}
	return profile_frame(reader->profile, &frame);
}

/* The step that gives the location, when all steps are integers; -1: not so. */
static int location_step(const struct read_layout *layout)
{
	int found = -1;

	for (size_t i = 0; i < layout->steps.len; i++) {
		if (layout->steps.items[i].kind != JFR_STEP_VARINT)
			return -1;
		if (layout->steps.items[i].slot == FRAME_LOCATION)
			found = (int)i;
	}
	return found;
}

/* As read_frames() for our own files, whose stacks are most of what there is to read. */
static void read_own_frames(struct recording_reader *reader, int location, int steps,
			    struct jfr_cursor *c)
{
	const struct jfr_keymap *locations = &reader->pools[JFR_POOL_LOCATION];
	uint64_t count = jfr_get_varint(c);
	struct jfr_cursor at = *c;

	for (uint64_t i = 0; i < count && !at.bad; i++) {
		uint64_t key = 0;
		uint32_t id;

		for (int step = 0; step < steps; step++) {
			uint64_t v = jfr_get_varint(&at);

			if (step == location)
				key = v;
		}
		id = jfr_keymap_get(locations, key, PROFILE_NONE);
		if (id != PROFILE_NONE)
			vec_push(&reader->frames, id);
	}
	*c = at;
}

static void read_frames(struct recording_reader *reader, const struct read_layout *layout,
			struct jfr_cursor *c)
{
	uint64_t count = jfr_get_varint(c);
	struct jfr_values values;

	memset(&values, 0, sizeof(values));
	for (uint64_t i = 0; i < count && !c->bad; i++) {
		read_object(&reader->schema, layout, c, &values);
		if (!c->bad)
			vec_push(&reader->frames, foreign_frame(reader, &values));
	}
}

uint32_t jfr_read_stack(struct recording_reader *reader, const struct read_layout *stack,
			const struct read_layout *frame, struct jfr_cursor *c)
{
	int location = reader->ours ? location_step(frame) : -1;
	const struct jfr_step *step;
	struct jfr_values unused;

	reader->frames.len = 0;
	vec_for_each (step, &stack->steps) {
		if (c->bad)
			break;
		if (step->kind == JFR_STEP_ARRAY && location >= 0)
			read_own_frames(reader, location, (int)frame->steps.len, c);
		else if (step->kind == JFR_STEP_ARRAY && frame->steps.len)
			read_frames(reader, frame, c);
		else
			read_step(&reader->schema, step, c, &unused);
	}
	return profile_stack(reader->profile, reader->frames.items, (uint32_t)reader->frames.len);
}

/* What is no code comes first. */
static uint32_t stack_with_leaf(struct recording_reader *reader, uint32_t stack,
				const struct profile_frame *frame)
{
	struct profile *p = reader->profile;
	uint32_t id = profile_frame(p, frame);
	uint64_t key = (uint64_t)id << 32 | stack, have;
	struct profile_stack code;

	if (hmap_get(&reader->class_stacks, key, &have))
		return (uint32_t)have;
	code = profile_get_stack(p, stack);
	reader->frames.len = 0;
	vec_push(&reader->frames, id);
	for (uint32_t i = 0; i < code.len; i++)
		vec_push(&reader->frames, code.frames[i]);
	have = profile_stack(p, reader->frames.items, (uint32_t)reader->frames.len);
	hmap_put(&reader->class_stacks, key, have);
	return (uint32_t)have;
}

uint32_t jfr_stack_with_class(struct recording_reader *reader, uint32_t stack, uint32_t class_name,
			      enum frame_kind kind)
{
	const struct profile_frame frame = {
		.class_name = class_name, .mapping = PROFILE_NONE, .bci = -1, .kind = kind
	};

	return stack_with_leaf(reader, stack, &frame);
}

uint32_t jfr_stack_with_reason(struct recording_reader *reader, uint32_t stack, uint32_t reason)
{
	struct profile_frame frame = { .mapping = PROFILE_NONE, .bci = -1, .kind = FRAME_MARK };

	strbuf_reset(&reader->text);
	strbuf_addf(&reader->text, "[%s]", profile_get_string(reader->profile, reason));
	frame.name = profile_strn(reader->profile, reader->text.buf, reader->text.len);
	return stack_with_leaf(reader, stack, &frame);
}

uint32_t jfr_stack_with_owner(struct recording_reader *reader, uint32_t stack, uint32_t thread)
{
	const struct profile_thread *owner = profile_get_thread(reader->profile, thread);
	struct profile_frame frame = { .mapping = PROFILE_NONE, .bci = -1, .kind = FRAME_MARK };

	strbuf_reset(&reader->text);
	strbuf_addf(&reader->text, "[held by %s]",
		    profile_get_string(reader->profile, owner->name));
	frame.name = profile_strn(reader->profile, reader->text.buf, reader->text.len);
	return stack_with_leaf(reader, stack, &frame);
}

/* --- who has ended a wait --------------------------------------------------------------------- */

#define WOKEN_BY  "[woken by]"
#define INTERRUPT "[interrupt]"
/* In `class_stacks`, where frames have smaller numbers. */
#define WAKER_KEY (1ULL << 63)

static void push_mark(struct recording_reader *reader, const char *text, size_t len)
{
	const struct profile_frame frame = { .name = profile_strn(reader->profile, text, len),
					     .mapping = PROFILE_NONE,
					     .bci = -1,
					     .kind = FRAME_MARK };

	vec_push(&reader->frames, profile_frame(reader->profile, &frame));
}

/* Whose doing it was. */
static void push_waker_name(struct recording_reader *reader, uint32_t thread)
{
	struct strbuf *text = &reader->text;

	strbuf_reset(text);
	profile_format_process(text, reader->profile, profile_process_of(reader->profile, thread));
	push_mark(reader, text->buf, text->len);
	strbuf_reset(text);
	profile_format_thread(text, reader->profile, thread);
	push_mark(reader, text->buf, text->len);
}

/* With the leaf nearest to who was woken a function that was inlined stands behind its caller: views would take another one for that. */
static uint32_t not_inlined(struct profile *p, uint32_t id)
{
	struct profile_frame frame = *profile_get_frame(p, id);

	if (frame.kind == FRAME_JAVA_INLINED)
		frame.kind = FRAME_JAVA_JIT;
	else if (frame.kind == FRAME_INLINED)
		frame.kind = FRAME_NATIVE;
	else
		return id;
	return profile_frame(p, &frame);
}

static void push_waker(struct recording_reader *reader, const struct profile_waker *waker)
{
	struct profile_stack frames = profile_get_stack(reader->profile, waker->stack);

	if (waker->thread == PROFILE_NONE)
		push_mark(reader, INTERRUPT, strlen(INTERRUPT));
	else
		push_waker_name(reader, waker->thread);
	for (uint32_t i = frames.len; i > 0; i--)
		vec_push(&reader->frames, not_inlined(reader->profile, frames.frames[i - 1]));
	push_mark(reader, WOKEN_BY, strlen(WOKEN_BY));
}

uint32_t jfr_waker(struct recording_reader *reader, uint64_t thread_key, uint64_t stack_key)
{
	const struct profile_waker waker = {
		jfr_keymap_get(&reader->pools[JFR_POOL_THREAD], thread_key, PROFILE_NONE),
		jfr_keymap_get(&reader->pools[JFR_POOL_STACK], stack_key, PROFILE_NONE),
	};

	return waker.stack == PROFILE_NONE ? 0 : profile_waker(reader->profile, &waker);
}

uint32_t jfr_stack_with_waker(struct recording_reader *reader, uint32_t stack, uint32_t id)
{
	const struct profile_waker *waker = profile_get_waker(reader->profile, id);
	uint64_t key = WAKER_KEY | (uint64_t)id << 32 | stack, have;
	struct profile_stack wait;

	if (!waker || reader->options->no_wakers)
		return stack;
	if (hmap_get(&reader->class_stacks, key, &have))
		return (uint32_t)have;
	reader->frames.len = 0;
	push_waker(reader, waker);
	wait = profile_get_stack(reader->profile, stack);
	for (uint32_t i = 0; i < wait.len; i++)
		vec_push(&reader->frames, wait.frames[i]);
	have = profile_stack(reader->profile, reader->frames.items, (uint32_t)reader->frames.len);
	hmap_put(&reader->class_stacks, key, have);
	return (uint32_t)have;
}

size_t jfr_wait_parts(struct recording_reader *reader, const struct profile_sample *s,
		      const char *queued_reason, struct profile_sample ret_parts[2])
{
	struct profile_sample part = *s;
	uint64_t queued = MIN(s->queued, s->weight);
	size_t count = 0;

	part.reason = part.chance = part.waker = 0;
	part.queued = 0;
	if (queued < s->weight || !queued) {
		part.weight = s->weight - queued;
		part.stack = jfr_stack_with_waker(
			reader, jfr_stack_with_reason(reader, s->stack, s->reason), s->waker);
		ret_parts[count++] = part;
		part.count = 0;
	}
	if (!queued)
		return count;
	part.weight = queued;
	part.state = STATE_QUEUED;
	part.stack = jfr_stack_with_reason(reader, s->stack,
					   profile_string(reader->profile, queued_reason));
	ret_parts[count++] = part;
	return count;
}
