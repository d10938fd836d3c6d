// SPDX-License-Identifier: Apache-2.0
/* Frames onto the stack that is being built: those of an answer are kept, where time does not change it. */
#include <string.h>

#include "symbolize/symbolizer_private.h"

void stack_push_known(struct stack_build *build, uint32_t id)
{
	const struct profile_frame *frame = profile_get_frame(build->profile, id);

	vec_push(&build->symbolizer->frames, id);
	build->unnamed_tail = frame->kind == FRAME_NATIVE && frame->name == 0;
}

uint32_t stack_push(struct stack_build *build, const struct profile_frame *frame)
{
	uint32_t id = profile_frame(build->profile, frame);

	stack_push_known(build, id);
	return id;
}

uint32_t stack_push_name(struct stack_build *build, const char *name, enum frame_kind kind,
			 uint32_t mapping)
{
	struct profile_frame frame = { .name = profile_string(build->profile, name),
				       .mapping = mapping,
				       .bci = -1,
				       .kind = kind };

	return stack_push(build, &frame);
}

/* Frames that were found together; a single one is kept as its id. */
struct kept_frames {
	uint32_t count;
	uint32_t ids[];
};

#define IS_SINGLE (1ULL << 63)

void kept_frames_drop(uint64_t value, void *data)
{
	(void)data;
	if (!(value & IS_SINGLE))
		free((void *)(uintptr_t)value);
}

static bool push_kept(struct stack_build *build, struct lru *kept, uint64_t key)
{
	const struct kept_frames *frames;
	uint64_t value;

	if (!lru_get(kept, key, &value))
		return false;
	if (value & IS_SINGLE) {
		stack_push_known(build, (uint32_t)value);
		return true;
	}
	frames = (const struct kept_frames *)(uintptr_t)value;
	for (uint32_t i = 0; i < frames->count; i++)
		stack_push_known(build, frames->ids[i]);
	return true;
}

/* The COUNT frames that were pushed last. */
static void keep(struct stack_build *build, struct lru *kept, uint64_t key, uint32_t count)
{
	const uint32_t *ids =
		build->symbolizer->frames.items + build->symbolizer->frames.len - count;
	size_t bytes = count * sizeof(*ids);
	struct kept_frames *frames;

	if (count == 1) {
		lru_put(kept, key, IS_SINGLE | ids[0], 0);
		return;
	}
	frames = xmalloc(sizeof(*frames) + bytes);
	frames->count = count;
	memcpy(frames->ids, ids, bytes);
	lru_put(kept, key, (uintptr_t)frames, sizeof(*frames) + bytes);
}

static void push_unnamed(struct stack_build *build, unsigned int kind, bool evicted)
{
	build->cacheable = false;
	if (evicted)
		stack_push_name(build, "[evicted]", FRAME_MARK, PROFILE_NONE);
	else if (kind == ASK_COMPILED)
		stack_push_name(build, "[JIT]", FRAME_JAVA_JIT, jit_mapping_id(build));
	else if (kind == ASK_INTERPRETED)
		/* "Interpreter" is its own code, without a method; here one is that cannot be read. */
		stack_push_name(build, "[interpreted]", FRAME_JAVA_INTERPRETED,
				jit_mapping_id(build));
	else
		stack_push_name(build, "[unknown]", FRAME_NATIVE, PROFILE_NONE);
}

/* True when there are frames. */
static bool ask(struct stack_build *build, const struct symbol_source *source,
		struct symbol_query *query, struct lru *kept)
{
	struct answer *answer = &build->symbolizer->answer;

	answer->sure = ANSWER_NONE;
	answer->of_moment = false;
	answer->of_code_map = false;
	answer->count = 0;
	source->find(build, query, answer);
	build->cacheable &= !answer->of_moment || answer->of_code_map;
	build->by_code_map |= answer->of_code_map;
	if (answer->sure < ANSWER_PLACE || answer->count == 0)
		return false;
	for (unsigned int i = 0; i < answer->count; i++)
		stack_push(build, &answer->frames[i]);
	if (source->keeps && !answer->of_moment)
		keep(build, kept, query->key, answer->count);
	return true;
}

void stack_push_answer(struct stack_build *build, struct symbol_query *query)
{
	struct symbolizer *symbolizer = build->symbolizer;
	struct lru *kept =
		query->kind == ASK_KERNEL ? &symbolizer->kernel_frames : &build->cache->frames;
	bool looked = false, evicted = false;

	for (const struct symbol_source *source = symbol_sources; source->name; source++) {
		if (!(source->kinds & query->kind) || (evicted && !source->proves))
			continue;
		if (source->keeps && !looked && push_kept(build, kept, query->key))
			return;
		looked |= source->keeps;
		if (ask(build, source, query, kept))
			return;
		if (symbolizer->answer.sure == ANSWER_WAIT) {
			build->waits = true;
			return;
		}
		evicted |= symbolizer->answer.sure == ANSWER_EVICTED;
	}
	push_unnamed(build, query->kind, evicted);
}
