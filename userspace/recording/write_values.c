/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/write_values.h"

#include <string.h>

#include "base/utf8.h"

/* Room for sizes up to 2^35; the padded form is as valid as the short one. */
#define SIZE_BYTES 5

static const char replacement[] = UTF8_REPLACEMENT;

size_t jfr_begin_event(struct strbuf *out, uint64_t type)
{
	size_t begin = out->len;

	strbuf_add(out, "\0\0\0\0\0", SIZE_BYTES);
	jfr_put_varint(out, type);
	return begin;
}

void jfr_end_event(struct strbuf *out, size_t begin)
{
	size_t size = out->len - begin;
	uint8_t *at = (uint8_t *)out->buf + begin;

	for (int i = 0; i < SIZE_BYTES - 1; i++, size >>= 7)
		*at++ = (uint8_t)(size | 0x80);
	*at = (uint8_t)(size & 0x7f);
}

static size_t ascii_len(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && text[n] > 0)
		n++;
	return n;
}

void jfr_clean_text(struct strbuf *out, const char *text, size_t len)
{
	size_t limit = out->len + JFR_STRING_LIMIT_BYTES;
	size_t at = ascii_len(text, MIN(len, (size_t)JFR_STRING_LIMIT_BYTES));

	strbuf_add(out, text, at);
	while (at < len) {
		/* A zero would end the text for some. */
		size_t n = text[at] ? utf8_len(text + at, len - at) : 0;
		size_t need = n ? n : sizeof(replacement) - 1;

		if (out->len + need > limit)
			return;
		strbuf_add(out, n ? text + at : replacement, need);
		at += n ? n : 1;
	}
}
