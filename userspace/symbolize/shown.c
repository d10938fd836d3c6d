// SPDX-License-Identifier: Apache-2.0
/* What a stack shows beside the code that runs: the class whose method a stub calls, the method that a thread compiles. */
#include <stdio.h>

#include "jvm/java_name.h"
#include "symbolize/compilation.h"
#include "symbolize/symbolizer_private.h"

#define UNKNOWN_CLASS  "[unknown class]"
#define UNKNOWN_METHOD "[unknown method]"
/* Behind what is left of a name. */
#define CUT "..."

void shown_push_receiver(struct stack_build *build, const uint64_t *words)
{
	const char *name = build->jvm ? jvm_receiver_class(build->jvm, words) : NULL;
	struct profile_frame frame = {
		.class_name = profile_string(build->profile, name ? name : UNKNOWN_CLASS),
		.mapping = jit_mapping_id(build),
		.bci = -1,
		.kind = FRAME_RECEIVER,
	};

	if (!name)
		build->cacheable = false;
	stack_push(build, &frame);
}

/* WORDS: a WIRE_FRAME_COMPILING's. */
static void push_compiling(struct stack_build *build, const uint64_t *words)
{
	const struct java_answer *answer = &build->symbolizer->java;
	struct profile_frame frame = {
		.mapping = jit_mapping_id(build),
		.bci = (int32_t)(words[0] & WIRE_FRAME_ADDRESS_MASK) - 1,
		.kind = FRAME_COMPILING,
	};

	if (build->jvm &&
	    jvm_find_interpreted(build->jvm, words, &build->symbolizer->java) == JAVA_FRAMES) {
		const struct java_frame *java = &answer->frames[0];

		frame.name = profile_string(build->profile, java->method);
		frame.class_name = profile_string(build->profile, java->class_name);
		frame.file = profile_string(build->profile, java->source ? java->source : "");
		frame.descriptor =
			profile_string(build->profile, java->descriptor ? java->descriptor : "");
	} else {
		build->cacheable = false;
		frame.name = profile_string(build->profile, UNKNOWN_METHOD);
	}
	stack_push(build, &frame);
}

void shown_push_compiling(struct stack_build *build, struct word_reader user)
{
	struct user_word word;

	/* It is the first one. */
	if (user_word_next(&user, &word) && word.kind == WIRE_FRAME_COMPILING)
		push_compiling(build, word.words);
}

static uint32_t string_of(struct stack_build *build,
			  void (*add)(struct strbuf *out, const char *text, size_t len),
			  const struct compilation_name *name)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	add(&text, name->at, name->len);
	if (name->cut && text.len)
		strbuf_addstr(&text, CUT);
	return profile_string(build->profile, strbuf_str(&text));
}

void shown_push_compiled(struct stack_build *build, const struct wire_sample *sample)
{
	struct profile_frame frame = { .mapping = jit_mapping_id(build),
				       .bci = -1,
				       .kind = FRAME_COMPILING };
	struct compilation c;

	/* Another one has the same words. */
	build->cacheable = false;
	if (compilation_read(sample, &c) && c.method.len) {
		frame.name = string_of(build, java_name_add_text, &c.method);
		frame.class_name = string_of(build, java_name_add_class, &c.class_name);
		frame.descriptor = string_of(build, java_name_add_descriptor, &c.signature);
	} else {
		frame.name = profile_string(build->profile, UNKNOWN_METHOD);
	}
	stack_push(build, &frame);
}

void shown_push_loaded(struct stack_build *build, const struct wire_sample *sample)
{
	struct profile_frame frame = { .mapping = jit_mapping_id(build),
				       .bci = -1,
				       .kind = FRAME_CLASS };
	struct compilation_name name;

	/* As above. */
	build->cacheable = false;
	if (class_load_read(sample, &name) && name.len)
		frame.class_name = string_of(build, java_name_add_class, &name);
	else
		frame.class_name = profile_string(build->profile, UNKNOWN_CLASS);
	stack_push(build, &frame);
}

void shown_push_pause(struct stack_build *build, const struct wire_sample *sample)
{
	struct wire_gc_pause pause;
	char name[WIRE_GC_NAME_BYTES + 2];

	/* Likewise. */
	build->cacheable = false;
	if (!gc_pause_read(sample, &pause) || !pause.operation[0])
		return;
	snprintf(name, sizeof(name), "[%s]", pause.operation);
	stack_push_name(build, name, FRAME_MARK, PROFILE_NONE);
}
