// SPDX-License-Identifier: Apache-2.0
/* What the stack of an allocation, or of a wait for a lock, has instead of the JVM's own frames: the class, as its leaf. */
#include <string.h>

#include "symbolize/symbolizer_private.h"

#define UNKNOWN_CLASS "[unknown class]"
#define NO_BLOCKER    "[no blocker]"

static const char *find_class(struct jvm *jvm, const struct wire_sample *sample)
{
	if (!sample->alloc_class)
		return NULL;
	if (!wire_sample_has_klass(sample))
		return jvm_class_name(jvm, sample->alloc_class);
	if (sample->alloc_class == WIRE_PARKED_FOR_NOTHING)
		return NO_BLOCKER;
	return jvm_find_class(jvm, sample->alloc_class);
}

void allocation_push_class(struct stack_build *build, const struct wire_sample *sample)
{
	enum frame_kind kind =
		sample->flags & WIRE_SAMPLE_OUTSIDE_TLAB ? FRAME_CLASS_OUTSIDE : FRAME_CLASS;
	struct profile_frame frame = { .mapping = jit_mapping_id(build), .bci = -1, .kind = kind };
	const char *name = NULL;

	if (build->jvm)
		name = find_class(build->jvm, sample);
	/* It may be told a moment later. */
	if (!name)
		build->cacheable = false;
	frame.class_name = profile_string(build->profile, name ? name : UNKNOWN_CLASS);
	stack_push(build, &frame);
}

/* A mark stands for frames that are not known: Java ones may be among them. */
static bool ends_jvm_frames(enum frame_kind kind)
{
	switch (kind) {
	case FRAME_JAVA_INTERPRETED:
	case FRAME_JAVA_C1:
	case FRAME_JAVA_JIT:
	case FRAME_JAVA_INLINED:
	case FRAME_MARK: return true;
	default: return false;
	}
}

void allocation_drop_jvm_frames(struct stack_build *build, size_t first)
{
	struct symbolizer *symbolizer = build->symbolizer;
	uint32_t *frames = symbolizer->frames.items;
	size_t at = first, len = symbolizer->frames.len;

	while (at < len && !ends_jvm_frames(profile_get_frame(build->profile, frames[at])->kind))
		at++;
	/* A stack without any is shown as it is. */
	if (at == len || symbolizer->jvm_frames)
		return;
	memmove(frames + first, frames + at, (len - at) * sizeof(*frames));
	symbolizer->frames.len -= at - first;
}
