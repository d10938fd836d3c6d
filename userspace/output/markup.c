/* SPDX-License-Identifier: Apache-2.0 */
#include "output/markup.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

/* XML 1.0, production 2 (Char), for what is valid UTF-8; and what is read as it is written. */
static bool is_shown(const char *text, size_t len)
{
	if (len == 1) {
		uint8_t c = (uint8_t)text[0];

		return c >= 0x20 ? c != 0x7f : c == '\t' || c == '\n' || c == '\r';
	}
	return !(len == 3 && !memcmp(text, "\xef\xbf", 2) && (uint8_t)text[2] >= 0xbe) &&
	       !utf8_is_direction(text, len);
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
		size_t n = utf8_len(text + at, len - at);
		const char *ref = reference(text[at]);

		if (ref)
			strbuf_addstr(out, ref);
		else if (n && is_shown(text + at, n))
			strbuf_add(out, text + at, n);
		else
			strbuf_addstr(out, UTF8_REPLACEMENT);
		at += n ? n : 1;
	}
}
