/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/read_values.h"

#include "base/macros.h"
#include "recording/write_values.h"

uint64_t jfr_get_long_varint(struct jfr_cursor *c)
{
	uint64_t v = 0;

	for (int shift = 0; shift < 56; shift += 7) {
		uint8_t byte = jfr_get_byte(c);

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return v;
	}
	return v | (uint64_t)jfr_get_byte(c) << 56;
}

static void skip_chars(struct jfr_cursor *c, uint64_t count)
{
	if (count > jfr_left(c))
		jfr_fail(c);
	for (uint64_t i = 0; i < count && !c->bad; i++)
		jfr_get_varint(c);
}

struct jfr_text jfr_get_text(struct jfr_cursor *c)
{
	struct jfr_text text = { .encoding = jfr_get_byte(c) };

	switch ((enum jfr_string_encoding)text.encoding) {
	case JFR_STRING_NULL:
	case JFR_STRING_EMPTY: return text;
	case JFR_STRING_POOL: text.len = jfr_get_varint(c); return text;
	case JFR_STRING_UTF8:
	case JFR_STRING_LATIN1:
		text.len = jfr_get_varint(c);
		text.data = c->at;
		jfr_skip(c, text.len);
		break;
	case JFR_STRING_CHARS:
		text.len = jfr_get_varint(c);
		text.data = c->at;
		skip_chars(c, text.len);
		break;
	default: jfr_fail(c);
	}
	text.end = c->at;
	if (c->bad)
		text = (struct jfr_text){ .encoding = JFR_STRING_NULL };
	return text;
}

static void add_character(struct strbuf *out, uint32_t ch)
{
	if (ch < 0x80) {
		strbuf_addch(out, (char)ch);
	} else if (ch < 0x800) {
		strbuf_addch(out, (char)(0xc0 | ch >> 6));
		strbuf_addch(out, (char)(0x80 | (ch & 0x3f)));
	} else if (ch < 0x10000) {
		strbuf_addch(out, (char)(0xe0 | ch >> 12));
		strbuf_addch(out, (char)(0x80 | (ch >> 6 & 0x3f)));
		strbuf_addch(out, (char)(0x80 | (ch & 0x3f)));
	} else {
		strbuf_addch(out, (char)(0xf0 | ch >> 18));
		strbuf_addch(out, (char)(0x80 | (ch >> 12 & 0x3f)));
		strbuf_addch(out, (char)(0x80 | (ch >> 6 & 0x3f)));
		strbuf_addch(out, (char)(0x80 | (ch & 0x3f)));
	}
}

/* UTF-16; half a pair becomes what jfr_clean_text() replaces. */
static void add_chars(struct strbuf *out, const struct jfr_text *text)
{
	struct jfr_cursor c = { text->data, text->end, false };
	uint32_t high = 0;

	for (uint64_t i = 0; i < text->len && out->len < 4 * JFR_STRING_LIMIT_BYTES; i++) {
		uint32_t unit = (uint16_t)jfr_get_varint(&c);

		if (high && unit >= 0xdc00 && unit < 0xe000) {
			add_character(out, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
			high = 0;
			continue;
		}
		if (high)
			add_character(out, high);
		high = unit >= 0xd800 && unit < 0xdc00 ? unit : 0;
		if (!high)
			add_character(out, unit);
	}
	if (high)
		add_character(out, high);
}

static void add_latin1(struct strbuf *out, const struct jfr_text *text)
{
	size_t len = MIN(text->len, (uint64_t)JFR_STRING_LIMIT_BYTES);

	for (size_t i = 0; i < len; i++)
		add_character(out, text->data[i]);
}

void jfr_decode_text(struct strbuf *out, const struct jfr_text *text)
{
	_cleanup_strbuf_ struct strbuf raw = STRBUF_INIT;

	if (text->encoding == JFR_STRING_UTF8) {
		jfr_clean_text(out, (const char *)text->data, text->len);
		return;
	}
	if (text->encoding == JFR_STRING_CHARS)
		add_chars(&raw, text);
	else if (text->encoding == JFR_STRING_LATIN1)
		add_latin1(&raw, text);
	jfr_clean_text(out, strbuf_str(&raw), raw.len);
}
