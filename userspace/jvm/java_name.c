/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/java_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"
#include "profile/class_name.h"

/* The class file format has no array of more dimensions. */
#define MAX_DIMENSIONS 255

void java_name_add_text(struct strbuf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		unsigned char c = (unsigned char)text[i];
		size_t n = c < 0x20 || c == 0x7f ? 0 : utf8_len(text + i, len - i);

		if (n)
			strbuf_add(out, text + i, n);
		else
			strbuf_addch(out, '?');
		i += n ? n : 1;
	}
}

static uint32_t char_at(const uint8_t *chars, size_t width, size_t at)
{
	return width == 1 ? chars[at] : (uint32_t)(chars[2 * at] | chars[2 * at + 1] << 8);
}

static void add_code_point(struct strbuf *out, uint32_t c)
{
	if (c < 0x20 || c == 0x7f || (c >= 0xd800 && c < 0xe000)) {
		strbuf_addch(out, '?');
	} else if (c < 0x80) {
		strbuf_addch(out, (char)c);
	} else if (c < 0x800) {
		strbuf_addch(out, (char)(0xc0 | c >> 6));
		strbuf_addch(out, (char)(0x80 | (c & 0x3f)));
	} else {
		if (c < 0x10000) {
			strbuf_addch(out, (char)(0xe0 | c >> 12));
		} else {
			strbuf_addch(out, (char)(0xf0 | c >> 18));
			strbuf_addch(out, (char)(0x80 | (c >> 12 & 0x3f)));
		}
		strbuf_addch(out, (char)(0x80 | (c >> 6 & 0x3f)));
		strbuf_addch(out, (char)(0x80 | (c & 0x3f)));
	}
}

void java_name_add_chars(struct strbuf *out, const void *chars, size_t width, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t c = char_at(chars, width, i), low;

		if (c >= 0xd800 && c < 0xdc00 && i + 1 < count) {
			low = char_at(chars, width, i + 1);
			if (low >= 0xdc00 && low < 0xe000) {
				c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
				i++;
			}
		}
		add_code_point(out, c);
	}
}

/* Is what follows the separator at AT the tail of a hidden class's name: digits, or 0x and hex? */
static bool is_hidden_suffix(const char *name, size_t len, size_t at)
{
	size_t i = at + 1;

	if (i < len && name[at] != '/' && name[i] != '0')
		return false;
	if (i >= len || !isdigit((unsigned char)name[i]))
		return false;
	for (; i < len; i++)
		if (!isxdigit((unsigned char)name[i]) && name[i] != 'x')
			return false;
	return true;
}

void java_name_add_class(struct strbuf *out, const char *name, size_t len)
{
	size_t start = out->len;
	size_t suffix = len;

	for (size_t i = 0; i < len; i++)
		if (name[i] == '/' || name[i] == '.' || name[i] == '+')
			suffix = i;
	if (suffix < len && !is_hidden_suffix(name, len, suffix))
		suffix = len;
	java_name_add_text(out, name, suffix);
	for (char *s = out->buf + start; out->buf && s < out->buf + out->len; s++)
		if (*s == '/')
			*s = '.';
	if (suffix == len)
		return;
	strbuf_addch(out, '/');
	java_name_add_text(out, name + suffix + 1, len - suffix - 1);
}

void java_name_add_signature(struct strbuf *out, const char *signature, size_t len)
{
	size_t dimensions = 0, rest;
	const char *type;

	while (dimensions < len && dimensions < MAX_DIMENSIONS && signature[dimensions] == '[')
		dimensions++;
	type = signature + dimensions;
	rest = len - dimensions;
	if (rest >= 3 && type[0] == 'L' && type[rest - 1] == ';') {
		java_name_add_class(out, type + 1, rest - 2);
	} else if (dimensions && rest == 1 && class_name_of_primitive(type[0])) {
		strbuf_addstr(out, class_name_of_primitive(type[0]));
	} else {
		java_name_add_text(out, signature, len);
		return;
	}
	while (dimensions--)
		strbuf_addstr(out, "[]");
}

static bool begins(const char *name, size_t len, const char *with)
{
	return len >= strlen(with) && !memcmp(name, with, strlen(with));
}

static bool ends(const char *name, size_t len, const char *with)
{
	return len >= strlen(with) && !memcmp(name + len - strlen(with), with, strlen(with));
}

/* share/runtime/stubInfo.cpp and stubDeclarations.hpp; share/runtime/sharedRuntime.cpp. */
void java_name_add_stub(struct strbuf *out, const char *name, size_t len)
{
	static const char generator[] = "Stub Generator ", stub[] = "_stub";
	static const char generated[] = "_stub (stub gen)", adapter[] = "I2C/C2I adapters";
	const size_t begin = begins(name, len, generator) ? strlen(generator) : 0;

	if (begin && ends(name + begin, len - begin, stub))
		java_name_add_text(out, name + begin, len - begin - strlen(stub));
	else if (ends(name, len, generated))
		java_name_add_text(out, name, len - strlen(generated));
	else
		java_name_add_text(out, name, begins(name, len, adapter) ? strlen(adapter) : len);
}

/* Behind the type that begins at AT, or 0 when none does. */
static size_t skip_type(const char *text, size_t len, size_t at)
{
	const size_t begin = at;

	while (at < len && at - begin < MAX_DIMENSIONS && text[at] == '[')
		at++;
	if (at >= len)
		return 0;
	if (text[at] != 'L')
		return class_name_of_primitive(text[at]) ? at + 1 : 0;
	for (size_t name = ++at; at < len; at++) {
		if (text[at] == ';')
			return at == name ? 0 : at + 1;
		if (strchr("()[", text[at]))
			return 0;
	}
	return 0;
}

static bool is_descriptor(const char *text, size_t len)
{
	size_t at = 1;

	if (!len || text[0] != '(')
		return false;
	while (at < len && text[at] != ')') {
		at = skip_type(text, len, at);
		if (!at)
			return false;
	}
	if (at + 2 == len && text[at + 1] == 'V')
		return true;
	return at + 1 < len && skip_type(text, len, at + 1) == len;
}

void java_name_add_descriptor(struct strbuf *out, const char *descriptor, size_t len)
{
	if (len <= JAVA_MAX_DESCRIPTOR && is_descriptor(descriptor, len))
		java_name_add_text(out, descriptor, len);
}

void java_name_add_symbol(struct strbuf *out, const char *symbol, size_t len)
{
	if (len && symbol[0] == '[')
		java_name_add_signature(out, symbol, len);
	else
		java_name_add_class(out, symbol, len);
}
