/* SPDX-License-Identifier: Apache-2.0 */
#include "output/markup.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Unicode 15, table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF. */
static bool is_second_byte(uint8_t first, uint8_t second)
{
	switch (first) {
	case 0xe0: return second >= 0xa0 && second <= 0xbf;
	case 0xed: return second >= 0x80 && second <= 0x9f;
	case 0xf0: return second >= 0x90 && second <= 0xbf;
	case 0xf4: return second >= 0x80 && second <= 0x8f;
	default: return second >= 0x80 && second <= 0xbf;
	}
}

size_t markup_utf8_len(const char *text, size_t len)
{
	uint8_t first = (uint8_t)text[0];
	size_t need;

	if (!len)
		return 0;
	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	need = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	if (need > len || !is_second_byte(first, (uint8_t)text[1]))
		return 0;
	for (size_t i = 2; i < need; i++)
		if (((uint8_t)text[i] & 0xc0) != 0x80)
			return 0;
	return need;
}

/* XML 1.0, production 2 (Char), for what is valid UTF-8. */
static bool is_xml_char(const char *text, size_t len)
{
	if (len == 1) {
		uint8_t c = (uint8_t)text[0];

		return c >= 0x20 ? c != 0x7f : c == '\t' || c == '\n' || c == '\r';
	}
	return !(len == 3 && !memcmp(text, "\xef\xbf", 2) && (uint8_t)text[2] >= 0xbe);
}

static const char *reference(char c)
{
	switch (c) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '"': return "&quot;";
	case '\'': return "&#39;";
	default: return NULL;
	}
}

void markup_escape(struct strbuf *out, const char *text, size_t len)
{
	for (size_t at = 0; at < len;) {
		size_t n = markup_utf8_len(text + at, len - at);
		const char *ref = reference(text[at]);

		if (ref)
			strbuf_addstr(out, ref);
		else if (n && is_xml_char(text + at, n))
			strbuf_add(out, text + at, n);
		else
			strbuf_addstr(out, "\xef\xbf\xbd");
		at += n ? n : 1;
	}
}
