// SPDX-License-Identifier: Apache-2.0
/*
 * Frames of a JVM's code. What an address means changes with the time, and an agent's code map
 * answers for the time of the sample: of that whole stacks are kept as long as it does not change, and nothing else. What is read from
 * outside goes by numbers that a JVM gives once (compile ids, identities of classes), and is kept.
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

static void add_java_frame(struct stack_build *build, struct answer *answer,
			   const struct java_frame *java, enum frame_kind kind)
{
	struct profile_frame frame = {
		.name = profile_string(build->profile, java->method),
		.class_name = profile_string(build->profile, java->class_name),
		.file = profile_string(build->profile, java->source ? java->source : ""),
		.descriptor =
			profile_string(build->profile, java->descriptor ? java->descriptor : ""),
		.mapping = jit_mapping_id(build),
		.line = java->line,
		.bci = java->bci,
		.kind = kind,
	};

	answer_add(answer, &frame);
}

/* Nothing that was inlined has begun there: it is the method's own, and at none of its bytecodes. */
static void leave_inlined(const struct symbol_query *query, struct java_answer *java)
{
	if (query->kind != ASK_COMPILED || !(query->words[1] & WIRE_COMPILED_ENTERING) ||
	    !java->count)
		return;
	java->frames[0] = java->frames[java->count - 1];
	java->frames[0].bci = -1;
	java->frames[0].line = 0;
	java->frames[0].inlined = false;
	java->count = 1;
}

/* What was found for QUERY, and SURE is of that. KIND: of a method that is not inlined. */
static void take(struct stack_build *build, const struct symbol_query *query,
		 enum java_lookup found, enum frame_kind kind, enum answer_sure sure,
		 struct answer *answer)
{
	struct java_answer *java = &build->symbolizer->java;

	switch (found) {
	case JAVA_FRAMES:
		answer->sure = sure;
		leave_inlined(query, java);
		for (unsigned int i = 0; i < java->count; i++)
			add_java_frame(build, answer, &java->frames[i],
				       java->frames[i].inlined ? FRAME_JAVA_INLINED : kind);
		break;
	case JAVA_STUB:
		answer->sure = sure;
		answer_add_name(answer, build->profile, java->stub, FRAME_STUB,
				jit_mapping_id(build));
		break;
	case JAVA_EVICTED: answer->sure = ANSWER_EVICTED; break;
	case JAVA_UNKNOWN:
	case JAVA_ELSEWHERE: break;
	}
}

void java_find_code(struct stack_build *build, struct symbol_query *query, struct answer *answer)
{
	struct java_answer *java = &build->symbolizer->java;
	enum java_lookup found;

	if (!build->jvm || (query->kind == ASK_COMPILED && !build->cache->has_code_map))
		return;
	found = jvm_find_code(build->jvm, query->address, build->time_ns, java);
	if (found == JAVA_ELSEWHERE && query->kind == ASK_CODE)
		return;
	answer->of_moment = true;
	answer->of_code_map = true;
	take(build, query, found, FRAME_JAVA_JIT, ANSWER_TIMED, answer);
	/* Of compiled code its words may say more. */
	if (found == JAVA_UNKNOWN && query->kind == ASK_CODE) {
		answer->sure = ANSWER_PLACE;
		answer_add_name(answer, build->profile, "[JIT]", FRAME_JAVA_JIT,
				jit_mapping_id(build));
	}
}

/* From outside: the same words are the same code for as long as the JVM lives. */
void java_find_compiled(struct stack_build *build, struct symbol_query *query,
			struct answer *answer)
{
	struct java_answer *java = &build->symbolizer->java;
	enum java_lookup found = JAVA_UNKNOWN;

	if (build->jvm)
		found = jvm_find_compiled(build->jvm, query->words, java);
	take(build, query, found, FRAME_JAVA_JIT, ANSWER_PROVEN, answer);
}

void java_find_interpreted(struct stack_build *build, struct symbol_query *query,
			   struct answer *answer)
{
	struct java_answer *java = &build->symbolizer->java;
	enum java_lookup found = JAVA_UNKNOWN;
	bool has_identity = query->words[4] != 0;

	if (build->jvm)
		found = jvm_find_interpreted(build->jvm, query->words, java);
	take(build, query, found, FRAME_JAVA_INTERPRETED,
	     has_identity ? ANSWER_PROVEN : ANSWER_RANGE, answer);
	/* Without an identity of the sample's time the next one may be another's. */
	answer->of_moment = !has_identity || query->words[0] & WIRE_FRAME_LATE;
}
