// SPDX-License-Identifier: Apache-2.0
#include "base/text/text_cursor.h"

#include <string.h>

static int digit_value(char c)
{
	if (text_is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

bool text_take_number(struct text_cursor *text, unsigned int base, uint64_t *ret_value)
{
	const char *at = text->at;
	uint64_t value = 0;

	for (; at < text->end; at++) {
		unsigned int digit = (unsigned int)digit_value(*at);

		if (digit >= base)
			break;
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return false;
	}
	if (at == text->at)
		return false;
	text->at = at;
	*ret_value = value;
	return true;
}

bool text_take_c_number(struct text_cursor *text, uint64_t *ret_value)
{
	bool hex = text_take_prefix(text, "0x") || text_take_prefix(text, "0X");

	return text_take_number(text, hex ? 16 : 10, ret_value);
}

bool text_take_char(struct text_cursor *text, char c)
{
	if (text->at >= text->end || *text->at != c)
		return false;
	text->at++;
	return true;
}

void text_skip_blanks(struct text_cursor *text)
{
	while (text->at < text->end && (*text->at == ' ' || *text->at == '\t'))
		text->at++;
}

bool text_next_line(struct text_cursor *text, struct text_cursor *ret_line)
{
	const char *newline;

	if (text->at >= text->end)
		return false;
	newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
	ret_line->at = text->at;
	ret_line->end = newline ? newline : text->end;
	text->at = newline ? newline + 1 : text->end;
	return true;
}

bool text_take_prefix(struct text_cursor *text, const char *prefix)
{
	size_t len = strlen(prefix);

	if ((size_t)(text->end - text->at) < len || memcmp(text->at, prefix, len) != 0)
		return false;
	text->at += len;
	return true;
}
