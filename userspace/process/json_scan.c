// SPDX-License-Identifier: Apache-2.0
#include "process/json_scan.h"

#include <stdint.h>
#include <string.h>

static void skip_space(struct json_scan *s)
{
	while (s->at < s->end && strchr(" \t\r\n", *s->at) && *s->at)
		s->at++;
}

static bool take(struct json_scan *s, char c)
{
	skip_space(s);
	if (s->at == s->end || *s->at != c)
		return false;
	s->at++;
	return true;
}

static bool skip_string(struct json_scan *s)
{
	if (!take(s, '"'))
		return false;
	for (; s->at < s->end; s->at++) {
		if (*s->at == '"') {
			s->at++;
			return true;
		}
		if (*s->at == '\\')
			s->at++;
	}
	s->at = s->end;
	return false;
}

/* A number, or a word. */
static void skip_word(struct json_scan *s)
{
	while (s->at < s->end && !strchr(",]} \t\r\n", *s->at))
		s->at++;
}

/* Whatever it is. What is in brackets is skipped by counting them, so no depth matters. */
static bool skip_value(struct json_scan *s)
{
	uint32_t depth = 0;

	for (;;) {
		skip_space(s);
		if (s->at == s->end)
			return false;
		if (*s->at == '{' || *s->at == '[') {
			depth++;
			s->at++;
			continue;
		}
		if (*s->at == '"') {
			if (!skip_string(s))
				return false;
		} else if (depth == 0) {
			skip_word(s);
			return true;
		} else {
			depth -= *s->at == '}' || *s->at == ']';
			s->at++;
		}
		if (depth == 0)
			return true;
	}
}

static bool is_key(const struct json_scan *from, const struct json_scan *to, const char *key)
{
	size_t len = strlen(key);

	return (size_t)(to->at - from->at) == len + 2 && memcmp(from->at + 1, key, len) == 0;
}

bool json_scan_find(struct json_scan *scan, const char *key)
{
	struct json_scan s = *scan, before;

	if (!take(&s, '{'))
		return false;
	do {
		skip_space(&s);
		before = s;
		if (!skip_string(&s))
			return false;
		if (is_key(&before, &s, key)) {
			if (!take(&s, ':'))
				return false;
			skip_space(&s);
			*scan = s;
			return true;
		}
		if (!take(&s, ':') || !skip_value(&s))
			return false;
	} while (take(&s, ','));
	return false;
}

bool json_scan_first(struct json_scan *scan)
{
	struct json_scan s = *scan;

	if (!take(&s, '['))
		return false;
	skip_space(&s);
	if (s.at == s.end || *s.at == ']')
		return false;
	*scan = s;
	return true;
}

bool json_scan_next(struct json_scan *scan)
{
	struct json_scan s = *scan;

	if (!skip_value(&s) || !take(&s, ','))
		return false;
	skip_space(&s);
	*scan = s;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "\uXXXX" as UTF-8; one of a pair is a question mark. False: these are no digits. */
static bool add_escaped_code(const char *at, const char *end, struct strbuf *out)
{
	uint32_t code = 0;

	for (int i = 0; i < 4; i++) {
		int digit = at + i < end ? hex_digit(at[i]) : -1;

		if (digit < 0)
			return false;
		code = code << 4 | (uint32_t)digit;
	}
	if (code < 0x80) {
		strbuf_addch(out, (char)code);
	} else if (code < 0x800) {
		strbuf_addch(out, (char)(0xc0 | code >> 6));
		strbuf_addch(out, (char)(0x80 | (code & 0x3f)));
	} else if (code >= 0xd800 && code < 0xe000) {
		strbuf_addch(out, '?');
	} else {
		strbuf_addch(out, (char)(0xe0 | code >> 12));
		strbuf_addch(out, (char)(0x80 | (code >> 6 & 0x3f)));
		strbuf_addch(out, (char)(0x80 | (code & 0x3f)));
	}
	return true;
}

bool json_scan_string(const struct json_scan *scan, struct strbuf *out)
{
	static const char names[] = "\"\\/bfnrt", codes[] = "\"\\/\b\f\n\r\t";
	struct json_scan s = *scan;
	const char *known;

	if (!take(&s, '"'))
		return false;
	for (; s.at < s.end && *s.at != '"'; s.at++) {
		if (*s.at != '\\') {
			strbuf_addch(out, *s.at);
			continue;
		}
		if (++s.at == s.end)
			return false;
		if (*s.at == 'u') {
			if (!add_escaped_code(s.at + 1, s.end, out))
				return false;
			s.at += 4;
			continue;
		}
		known = *s.at ? strchr(names, *s.at) : NULL;
		if (!known)
			return false;
		strbuf_addch(out, codes[known - names]);
	}
	return s.at < s.end;
}
