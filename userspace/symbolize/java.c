// SPDX-License-Identifier: Apache-2.0
/*
 * Frames of a JVM's code. What an address means changes with the time, and an agent's code map
 * answers for the time of the sample: nothing of that is kept. What is read from outside goes by
 * numbers that a JVM gives once (compile ids, identities of classes), and is.
 */
#include "symbolize/symbolizer_private.h"

/* All JIT code of all JVMs, and that of other runtimes, is in one pseudo file. */
uint32_t jit_mapping_id(struct stack_build *build)
{
	struct symbolizer *symbolizer = build->symbolizer;
	struct profile_mapping mapping = { 0 };

	if (symbolizer->jit_mapping == PROFILE_NONE) {
		mapping.path = profile_string(build->profile, "[JIT]");
		symbolizer->jit_mapping = profile_mapping(build->profile, &mapping);
	}
	return symbolizer->jit_mapping;
}

static uint32_t push_java_frame(struct stack_build *build, const struct java_frame *java,
				enum frame_kind kind)
{
	struct profile_frame frame = {
		.name = profile_string(build->profile, java->method),
		.class_name = profile_string(build->profile, java->class_name),
		.file = profile_string(build->profile, java->source ? java->source : ""),
		.mapping = jit_mapping_id(build),
		.line = java->line,
		.bci = java->bci,
		.kind = kind,
	};

	return stack_push(build, &frame);
}

static void push_found(struct stack_build *build, enum java_lookup found,
		       const struct java_frame *frames, unsigned int count, const char *stub)
{
	switch (found) {
	case JAVA_FRAMES:
		for (unsigned int i = 0; i < count; i++)
			push_java_frame(build, &frames[i],
					frames[i].inlined ? FRAME_JAVA_INLINED : FRAME_JAVA_JIT);
		break;
	case JAVA_STUB: stack_push_name(build, stub, FRAME_STUB, jit_mapping_id(build)); break;
	case JAVA_EVICTED: stack_push_name(build, "[evicted]", FRAME_MARK, PROFILE_NONE); break;
	case JAVA_UNKNOWN:
		stack_push_name(build, "[JIT]", FRAME_JAVA_JIT, jit_mapping_id(build));
		break;
	}
}

bool java_push_code(struct stack_build *build, uint64_t address)
{
	struct java_frame frames[JAVA_MAX_INLINE];
	unsigned int count = 0;
	const char *stub = "";
	enum java_lookup found;

	if (!build->jvm || !jvm_owns_address(build->jvm, address))
		return false;
	build->cacheable = false;
	found = jvm_find_code(build->jvm, address, build->time_ns, frames, &count, &stub);
	push_found(build, found, frames, count, stub);
	return true;
}

/* From outside: the same words are the same code for as long as the JVM lives. */
static void push_from_outside(struct stack_build *build, const uint64_t words[WIRE_COMPILED_WORDS],
			      enum java_lookup otherwise)
{
	struct java_frame frame;
	const char *stub = NULL;
	enum java_lookup found = JAVA_UNKNOWN;
	uint64_t key = hash_bytes(words, WIRE_COMPILED_WORDS * sizeof(words[0])), id;

	if (hmap_get(&build->cache->code, key, &id)) {
		stack_push_known(build, (uint32_t)id);
		return;
	}
	if (build->jvm)
		found = jvm_find_compiled(build->jvm, words, &frame, &stub);
	if (found == JAVA_FRAMES) {
		id = push_java_frame(build, &frame, FRAME_JAVA_JIT);
	} else if (found == JAVA_STUB) {
		id = stack_push_name(build, stub, FRAME_STUB, jit_mapping_id(build));
	} else {
		build->cacheable = false;
		push_found(build, found == JAVA_UNKNOWN ? otherwise : found, NULL, 0, NULL);
		return;
	}
	hmap_put(&build->cache->code, key, id);
}

void java_push_compiled(struct stack_build *build, const uint64_t words[WIRE_COMPILED_WORDS],
			uint64_t address)
{
	struct java_frame frames[JAVA_MAX_INLINE];
	unsigned int count = 0;
	const char *stub = "";
	enum java_lookup found = JAVA_UNKNOWN;

	if (build->cache->has_code_map) {
		build->cacheable = false;
		found = jvm_find_code(build->jvm, address, build->time_ns, frames, &count, &stub);
	}
	if (found == JAVA_FRAMES || found == JAVA_STUB)
		push_found(build, found, frames, count, stub);
	else
		push_from_outside(build, words, found);
}

void java_push_interpreted(struct stack_build *build, const uint64_t words[WIRE_INTERPRETED_WORDS])
{
	struct java_frame frame;
	enum java_lookup found = JAVA_UNKNOWN;

	if (build->jvm)
		found = jvm_find_interpreted(build->jvm, words, &frame);
	/* Without an identity the next one may be another's. */
	build->cacheable &= found == JAVA_FRAMES && words[4] != 0;
	if (found == JAVA_FRAMES)
		push_java_frame(build, &frame, FRAME_JAVA_INTERPRETED);
	else if (found == JAVA_EVICTED)
		push_found(build, JAVA_EVICTED, NULL, 0, NULL);
	else
		/* "Interpreter" is its own code, without a method; here one is that cannot be read. */
		stack_push_name(build, "[interpreted]", FRAME_JAVA_INTERPRETED,
				jit_mapping_id(build));
}
