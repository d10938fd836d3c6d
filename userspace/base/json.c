/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"

#define INDENT "  "

void json_init(struct json *j, struct strbuf *out, bool pretty)
{
	*j = (struct json){ .out = out, .pretty = pretty };
}

static void new_line(struct json *j)
{
	if (!j->pretty)
		return;
	strbuf_addch(j->out, '\n');
	for (int i = 0; i < j->depth; i++)
		strbuf_addstr(j->out, INDENT);
}

/* Everything that stands before a value. */
static void begin_value(struct json *j, const char *key)
{
	if (j->need_comma)
		strbuf_addch(j->out, ',');
	if (j->depth)
		new_line(j);
	if (key) {
		json_quote(j->out, key, strlen(key));
		strbuf_addstr(j->out, j->pretty ? ": " : ":");
	}
	j->need_comma = true;
}

static void begin_group(struct json *j, const char *key, char open)
{
	begin_value(j, key);
	strbuf_addch(j->out, open);
	j->depth++;
	j->need_comma = false;
}

static void end_group(struct json *j, char close)
{
	j->depth--;
	if (j->need_comma)
		new_line(j);
	strbuf_addch(j->out, close);
	j->need_comma = true;
	if (!j->depth && j->pretty)
		strbuf_addch(j->out, '\n');
}

void json_object_begin(struct json *j, const char *key)
{
	begin_group(j, key, '{');
}

void json_object_end(struct json *j)
{
	end_group(j, '}');
}

void json_array_begin(struct json *j, const char *key)
{
	begin_group(j, key, '[');
}

void json_array_end(struct json *j)
{
	end_group(j, ']');
}

void json_strn(struct json *j, const char *key, const char *value, size_t len)
{
	begin_value(j, key);
	json_quote(j->out, value, len);
}

void json_str(struct json *j, const char *key, const char *value)
{
	begin_value(j, key);
	if (value)
		json_quote(j->out, value, strlen(value));
	else
		strbuf_addstr(j->out, "null");
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
	begin_value(j, key);
	strbuf_addf(j->out, "%llu", (unsigned long long)value);
}

void json_i64(struct json *j, const char *key, int64_t value)
{
	begin_value(j, key);
	strbuf_addf(j->out, "%lld", (long long)value);
}

void json_double(struct json *j, const char *key, double value)
{
	begin_value(j, key);
	if (isfinite(value))
		strbuf_addf(j->out, "%.10g", value);
	else
		strbuf_addstr(j->out, "null");
}

void json_bool(struct json *j, const char *key, bool value)
{
	begin_value(j, key);
	strbuf_addstr(j->out, value ? "true" : "false");
}

/* NEXT follows C: "</" and "<!" are hidden from HTML parsers, for JSON inside a script element. */
static bool is_plain(unsigned char c, unsigned char next)
{
	if (c == '<')
		return next != '/' && next != '!';
	return c >= 0x20 && c != '"' && c != '\\' && c < 0x80;
}

static void quote_special(struct strbuf *out, unsigned char c)
{
	static const char from[] = "\"\\\n\t\r";
	static const char to[] = "\"\\ntr";
	const char *at = c ? strchr(from, c) : NULL;

	if (at)
		strbuf_addf(out, "\\%c", to[at - from]);
	else
		strbuf_addf(out, "\\u%04x", c);
}

void json_quote(struct strbuf *out, const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t plain = 0;

	strbuf_addch(out, '"');
	for (size_t i = 0; i < len;) {
		size_t n = utf8_len(s + i, len - i);

		if (n > 1 || (n && is_plain(p[i], i + 1 < len ? p[i + 1] : 0))) {
			i += n;
			continue;
		}
		strbuf_add(out, s + plain, i - plain);
		if (n)
			quote_special(out, p[i]);
		else
			strbuf_addstr(out, UTF8_REPLACEMENT);
		plain = ++i;
	}
	strbuf_add(out, s + plain, len - plain);
	strbuf_addch(out, '"');
}
