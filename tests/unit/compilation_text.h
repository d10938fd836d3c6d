/* SPDX-License-Identifier: Apache-2.0 */
/* What stands behind the words of a sample of -e jit, -e classload and -e gc. */
#ifndef HOSTPROF_TESTS_COMPILATION_TEXT_H
#define HOSTPROF_TESTS_COMPILATION_TEXT_H

#include <string.h>

#include "wire.h"

struct compiled {
	struct wire_compilation head; /* without the lengths of names */
	const char *class_name, *method, *signature;
};

static inline char *put_text(char *at, const char *text, uint16_t *ret_bytes)
{
	*ret_bytes = (uint16_t)strlen(text);
	memcpy(at, text, *ret_bytes);
	return at + *ret_bytes;
}

/* To SAMPLE, which has room for it. */
static inline void put_compilation(struct wire_sample *sample, const struct compiled *c)
{
	size_t words = (size_t)sample->kernel_frames + sample->user_words;
	char *begin = (char *)(sample->words + words);
	struct wire_compilation head = c->head;
	char *at = begin + sizeof(head);

	at = put_text(at, c->class_name, &head.class_bytes);
	at = put_text(at, c->method, &head.method_bytes);
	at = put_text(at, c->signature, &head.signature_bytes);
	memcpy(begin, &head, sizeof(head));
	sample->text = WIRE_TEXT_COMPILATION;
	sample->name_width = 1;
	sample->name_bytes = (uint16_t)(at - begin);
	sample->size =
		(uint32_t)(sizeof(*sample) + 8 * (words + WIRE_NAME_WORDS(sample->name_bytes)));
}

/* Of -e classload, likewise. */
static inline void put_class_load(struct wire_sample *sample, const char *name)
{
	size_t words = (size_t)sample->kernel_frames + sample->user_words;
	char *begin = (char *)(sample->words + words);
	struct wire_class_load head = { .chance = 1 };
	char *end = put_text(begin + sizeof(head), name, &head.class_bytes);

	memcpy(begin, &head, sizeof(head));
	sample->text = WIRE_TEXT_CLASS_LOAD;
	sample->name_width = 1;
	sample->name_bytes = (uint16_t)(end - begin);
	sample->size =
		(uint32_t)(sizeof(*sample) + 8 * (words + WIRE_NAME_WORDS(sample->name_bytes)));
}

/* Of -e gc, likewise; longer names have no end. */
static inline void put_pause(struct wire_sample *sample, const char *operation, const char *cause)
{
	size_t words = (size_t)sample->kernel_frames + sample->user_words;
	struct wire_gc_pause pause = { 0 };

	memcpy(pause.operation, operation, strnlen(operation, WIRE_GC_NAME_BYTES));
	memcpy(pause.cause, cause, strnlen(cause, WIRE_GC_NAME_BYTES));
	memcpy(sample->words + words, &pause, sizeof(pause));
	sample->text = WIRE_TEXT_GC;
	sample->name_width = 1;
	sample->name_bytes = sizeof(pause);
	sample->size =
		(uint32_t)(sizeof(*sample) + 8 * (words + WIRE_NAME_WORDS(sample->name_bytes)));
}

#endif
