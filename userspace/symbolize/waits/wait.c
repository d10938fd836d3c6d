// SPDX-License-Identifier: Apache-2.0
#include "symbolize/waits/wait.h"

#include <string.h>

#include "profile/frame_kind.h"
#include "symbolize/symbolizer_private.h"

/* What waits is called by few of its own, before the program's frames begin. */
#define LOOKED_AT_USER 24
#define LOOKED_AT_JAVA 3
#define WEIGHT_MOST    3
/* Of a switch the programs that look at it: bpf_prog_…, bpf_trace_run4, __traceiter_sched_switch. */
#define LOOKED_AT_KERNEL 8
/* What a switch begins in, and a wake-up. */
#define SCHEDULE "__schedule"
#define WAKES	 "try_to_wake_up"

struct row {
	enum wire_cause cause, of;
	const char *name;
};

static const struct row rows[] = {

#define WIRE_WAIT_FRAME(cause, of, name) { WIRE_CAUSE_##cause, WIRE_CAUSE_##of, name },
#include "wire_waits.def"
#undef WIRE_WAIT_FRAME
};

/* What a virtual thread waits for calls some of java.base, which parks it. */
#define LOOKED_AT_UNMOUNTED 20

static const struct row unmounted_rows[] = {

#define WIRE_UNMOUNTED_FRAME(cause, of, name) { WIRE_CAUSE_##cause, WIRE_CAUSE_##of, name },
#include "wire_waits.def"
#undef WIRE_UNMOUNTED_FRAME
};

static const char *const reasons[] = {
#define WIRE_CAUSE(name, id, text) id,
#include "wire_states.def"
};

const char *wait_reason(enum wire_cause cause)
{
	return reasons[cause];
}

enum thread_state wait_state(unsigned int wire_state, bool in_user)
{
	switch ((enum wire_state)wire_state) {
	case WIRE_STATE_SLEEPING: return STATE_SLEEPING;
	case WIRE_STATE_BLOCKED: return STATE_BLOCKED;
	case WIRE_STATE_QUEUED: return STATE_QUEUED;
	case WIRE_STATE_STOPPED: return STATE_STOPPED;
	case WIRE_STATE_RUNNING:
	case WIRE_STATE_COUNT: break;
	}
	return in_user ? STATE_RUNNING_USER : STATE_RUNNING_KERNEL;
}

/* TEXT is NAME, with arguments or without, or begins with it where a '*' ends it. */
static bool is_name(const char *name, const char *text)
{
	size_t len = strlen(name);

	if (len && name[len - 1] == '*')
		return strncmp(name, text, len - 1) == 0;
	return strncmp(name, text, len) == 0 && (text[len] == '\0' || text[len] == '(');
}

static bool is_method(const char *name, const char *class_name, const char *method)
{
	size_t len = strlen(class_name);

	return strncmp(name, class_name, len) == 0 && name[len] == '.' &&
	       strcmp(name + len + 1, method) == 0;
}

/* WIRE_CAUSE_NONE: the frame says nothing. */
static enum wire_cause frame_cause(const struct profile *p, const struct profile_frame *frame,
				   enum wire_cause of)
{
	const char *class_name = profile_get_string(p, frame->class_name);
	const char *name = profile_get_string(p, frame->name);
	bool is_java = frame_kind_is_java(frame->kind);
	/* What a row's name has, too: most of the time that a sample's reason takes was comparing others. */
	char first = is_java ? class_name[0] : name[0];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].of != of || rows[i].name[0] != first)
			continue;
		if (is_java ? is_method(rows[i].name, class_name, name)
			    : is_name(rows[i].name, name))
			return rows[i].cause;
	}
	return WIRE_CAUSE_NONE;
}

/* How much a cause says: of which two nearer frames the one with more counts. */
static unsigned int weight_of(enum wire_cause cause)
{
	switch (cause) {
	case WIRE_CAUSE_NONE: return 0;
	case WIRE_CAUSE_MUTEX:
	case WIRE_CAUSE_RWLOCK:
	case WIRE_CAUSE_CONDITION:
	case WIRE_CAUSE_SEMAPHORE:
	case WIRE_CAUSE_BARRIER:
	case WIRE_CAUSE_JOIN: return 1;
	/* Whose lock of the JVM's it is a frame above may say. */
	case WIRE_CAUSE_JVM: return 2;
	default: return WEIGHT_MOST;
	}
}

static bool has_rows(enum wire_cause of)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].of == of)
			return true;
	return false;
}

enum wire_cause wait_cause(const struct profile *p, uint32_t stack_id, enum wire_cause of)
{
	struct profile_stack stack = profile_get_stack(p, stack_id);
	unsigned int user = 0, java = 0, weight = 0;
	enum wire_cause cause = of;

	for (uint32_t i = 0; i < stack.len && has_rows(of); i++) {
		const struct profile_frame *frame = profile_get_frame(p, stack.frames[i]);
		enum wire_cause found;

		if (frame->kind == FRAME_KERNEL)
			continue;
		found = frame_cause(p, frame, of);
		if (weight_of(found) > weight) {
			cause = found;
			weight = weight_of(found);
		}
		if (weight == WEIGHT_MOST)
			break;
		java += frame_kind_is_java(frame->kind);
		if (++user == LOOKED_AT_USER || java == LOOKED_AT_JAVA)
			break;
	}
	return cause;
}

/* WIRE_CAUSE_NONE: the frame says nothing. */
static enum wire_cause unmounted_frame_cause(const struct profile *p,
					     const struct profile_frame *frame, enum wire_cause of)
{
	const char *class_name = profile_get_string(p, frame->class_name);
	const char *name = profile_get_string(p, frame->name);

	for (size_t i = 0; i < ARRAY_SIZE(unmounted_rows); i++)
		if (unmounted_rows[i].of == of &&
		    is_method(unmounted_rows[i].name, class_name, name))
			return unmounted_rows[i].cause;
	return WIRE_CAUSE_NONE;
}

static bool is_yield(const struct profile *p, const struct profile_frame *frame)
{
	return is_method("java.lang.VirtualThread.yieldContinuation",
			 profile_get_string(p, frame->class_name),
			 profile_get_string(p, frame->name));
}

/*
 * By the frames of STACK: who parks calls a method for it, who waits for a monitor (JDK 24 on) leaves its carrier where it was. One whose frames
 * were lost, so that a mark comes first, is taken for one that parks.
 */
static enum wire_cause unmounted_way(const struct profile *p, const struct profile_stack *stack)
{
	bool has_java = false;

	for (uint32_t i = 0; i < stack->len; i++) {
		const struct profile_frame *frame = profile_get_frame(p, stack->frames[i]);
		bool is_java = frame_kind_is_java(frame->kind);

		if ((is_java && is_yield(p, frame)) || (frame->kind == FRAME_MARK && !has_java))
			return WIRE_CAUSE_PARK;
		has_java |= is_java;
	}
	return has_java ? WIRE_CAUSE_MONITOR_ENTER : WIRE_CAUSE_PARK;
}

enum wire_cause wait_unmounted_cause(const struct profile *p, uint32_t stack_id, enum wire_cause of)
{
	struct profile_stack stack = profile_get_stack(p, stack_id);
	unsigned int looked_at = 0;

	if (of == WIRE_CAUSE_NONE)
		of = unmounted_way(p, &stack);

	for (uint32_t i = 0; i < stack.len && looked_at < LOOKED_AT_UNMOUNTED; i++) {
		const struct profile_frame *frame = profile_get_frame(p, stack.frames[i]);
		enum wire_cause found;

		if (!frame_kind_is_java(frame->kind))
			continue;
		found = unmounted_frame_cause(p, frame, of);
		if (found != WIRE_CAUSE_NONE)
			return found;
		looked_at++;
	}
	return of;
}

static bool begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static const char *frame_name(const struct stack_build *build, size_t at)
{
	uint32_t frame = build->symbolizer->frames.items[at];

	return profile_get_string(build->profile, profile_get_frame(build->profile, frame)->name);
}

/* The kernel's function that a program looks at, whose own frames come before it; NULL: none that is known. */
static const char *looked_at(const struct wire_sample *sample)
{
	if (sample->waker)
		return WAKES;
	return sample->state != WIRE_STATE_RUNNING ? SCHEDULE : NULL;
}

/* How many frames the tracepoint itself has in front: all before that function; else the program and who calls it. */
static size_t count_tracing(const struct stack_build *build, const struct wire_sample *sample)
{
	static const char *const ours[] = { "bpf_prog_", "bpf_trace_run", "__bpf_trace_",
					    "__traceiter_", "bpf_trampoline_" };
	size_t most = MIN(build->symbolizer->frames.len, (size_t)LOOKED_AT_KERNEL), at;
	const char *function = looked_at(sample);

	for (at = 0; function && at < most; at++)
		if (begins_with(frame_name(build, at), function))
			return at;
	for (at = 0; at < most; at++) {
		bool is_ours = false;

		for (size_t i = 0; i < ARRAY_SIZE(ours) && !is_ours; i++)
			is_ours = begins_with(frame_name(build, at), ours[i]);
		if (!is_ours)
			break;
	}
	return at;
}

void wait_drop_tracing(struct stack_build *build, const struct wire_sample *sample)
{
	struct symbolizer *symbolizer = build->symbolizer;
	uint32_t *frames = symbolizer->frames.items;
	size_t count;

	if (sample->cause == WIRE_CAUSE_NONE && !looked_at(sample))
		return;
	count = count_tracing(build, sample);
	if (!count)
		return;
	symbolizer->frames.len -= count;
	memmove(frames, frames + count, symbolizer->frames.len * sizeof(*frames));
}
