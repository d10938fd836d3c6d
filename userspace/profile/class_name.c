/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/class_name.h"

#include <stdbool.h>
#include <string.h>

#include "base/macros.h"

static const struct {
	char descriptor;
	const char *name;
} primitives[] = {
	{ 'B', "byte" }, { 'C', "char" }, { 'D', "double" }, { 'F', "float" },
	{ 'I', "int" },	 { 'J', "long" }, { 'S', "short" },  { 'Z', "boolean" },
};

static void add_replaced(struct strbuf *out, const char *text, size_t len, char from, char to)
{
	size_t begin = out->len;

	strbuf_add(out, text, len);
	for (size_t i = begin; i < out->len; i++)
		if (out->buf[i] == from)
			out->buf[i] = to;
}

/* What an array consists of: "int" is 'I', a class 'L' and its name. */
static void add_element(struct strbuf *out, const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(primitives); i++) {
		if (strlen(primitives[i].name) != len || memcmp(primitives[i].name, name, len) != 0)
			continue;
		strbuf_addch(out, primitives[i].descriptor);
		return;
	}
	strbuf_addch(out, 'L');
	add_replaced(out, name, len, '.', '/');
	strbuf_addch(out, ';');
}

void class_name_to_internal(struct strbuf *out, const char *name)
{
	size_t len = strlen(name), element = len;

	while (element >= 2 && !memcmp(name + element - 2, "[]", 2))
		element -= 2;
	for (size_t i = element; i < len; i += 2)
		strbuf_addch(out, '[');
	if (element < len)
		add_element(out, name, element);
	else
		add_replaced(out, name, len, '.', '/');
}

const char *class_name_of_primitive(char descriptor)
{
	for (size_t i = 0; i < ARRAY_SIZE(primitives); i++)
		if (primitives[i].descriptor == descriptor)
			return primitives[i].name;
	return NULL;
}

/* Returns false, and appends nothing, when AT is no descriptor of an element. */
static bool add_element_name(struct strbuf *out, const char *at)
{
	size_t len = strlen(at);

	if (len == 1 && class_name_of_primitive(*at)) {
		strbuf_addstr(out, class_name_of_primitive(*at));
		return true;
	}
	if (len < 3 || at[0] != 'L' || at[len - 1] != ';')
		return false;
	add_replaced(out, at + 1, len - 2, '/', '.');
	return true;
}

void class_name_from_internal(struct strbuf *out, const char *name)
{
	size_t dimensions = strspn(name, "[");

	if (!dimensions || !add_element_name(out, name + dimensions)) {
		add_replaced(out, name, strlen(name), '/', '.');
		return;
	}
	while (dimensions--)
		strbuf_addstr(out, "[]");
}
