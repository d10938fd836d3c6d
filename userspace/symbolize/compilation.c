// SPDX-License-Identifier: Apache-2.0
#include "symbolize/compilation.h"

#include <ctype.h>
#include <string.h>

#include "symbolize/words/sample_words.h"

static struct compilation_name take_name(const char **at, size_t len, size_t most)
{
	struct compilation_name name = { *at, len, len == most };

	*at += len;
	return name;
}

bool compilation_read(const struct wire_sample *sample, struct compilation *ret)
{
	size_t bytes;
	const char *at = sample_words_text(sample, &bytes);
	const struct wire_compilation *head = &ret->head;

	if (sample->text != WIRE_TEXT_COMPILATION || bytes < sizeof(*head))
		return false;
	memcpy(&ret->head, at, sizeof(ret->head));
	if (bytes != sizeof(*head) + head->class_bytes + head->method_bytes + head->signature_bytes)
		return false;
	at += sizeof(*head);
	ret->class_name = take_name(&at, head->class_bytes, WIRE_COMPILED_CLASS_BYTES);
	ret->method = take_name(&at, head->method_bytes, WIRE_COMPILED_METHOD_BYTES);
	ret->signature = take_name(&at, head->signature_bytes, WIRE_COMPILED_SIGNATURE_BYTES);
	return true;
}

void compilation_add_compiler(struct strbuf *out, const struct compilation *compilation)
{
	const char *name = compilation->head.compiler;
	size_t len = strnlen(name, WIRE_COMPILER_BYTES);

	if (!len)
		strbuf_addstr(out, "JIT");
	for (size_t i = 0; i < len; i++)
		strbuf_addch(out, isalnum((unsigned char)name[i]) ? name[i] : '?');
}

bool class_load_read(const struct wire_sample *sample, struct compilation_name *ret_name)
{
	struct wire_class_load head;
	size_t bytes;
	const char *at = sample_words_text(sample, &bytes);

	if (sample->text != WIRE_TEXT_CLASS_LOAD || bytes < sizeof(head))
		return false;
	memcpy(&head, at, sizeof(head));
	if (bytes != sizeof(head) + head.class_bytes)
		return false;
	at += sizeof(head);
	*ret_name = take_name(&at, head.class_bytes, WIRE_LOADED_CLASS_BYTES);
	return true;
}

static void clean(char name[WIRE_GC_NAME_BYTES])
{
	size_t len = strnlen(name, WIRE_GC_NAME_BYTES - 1);

	for (size_t i = 0; i < len; i++)
		if (!isprint((unsigned char)name[i]) || name[i] == ';')
			name[i] = '?';
	name[len] = '\0';
}

bool gc_pause_read(const struct wire_sample *sample, struct wire_gc_pause *ret)
{
	size_t bytes;
	const char *at = sample_words_text(sample, &bytes);

	if (sample->text != WIRE_TEXT_GC || bytes != sizeof(*ret))
		return false;
	memcpy(ret, at, sizeof(*ret));
	clean(ret->operation);
	clean(ret->cause);
	return true;
}
