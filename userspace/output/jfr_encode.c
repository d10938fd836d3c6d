/* SPDX-License-Identifier: Apache-2.0 */
#include "output/jfr_encode.h"

#include <string.h>

/* Room for sizes up to 2^35; the padded form is as valid as the short one. */
#define SIZE_BYTES 5

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

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

/* Bytes of the character that begins here, 0 when it is not one (RFC 3629 table 3-7). */
static size_t character_len(const uint8_t *s, size_t left)
{
	uint8_t low = 0x80, high = 0xbf;
	size_t len;

	if (s[0] < 0x80)
		return s[0] ? 1 : 0;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	len = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (s[0] == 0xe0)
		low = 0xa0; /* shorter forms exist */
	else if (s[0] == 0xed)
		high = 0x9f; /* surrogates */
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f; /* above U+10FFFF */
	if (left < len || s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return len;
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
		size_t n = character_len((const uint8_t *)text + at, len - at);
		size_t need = n ? n : sizeof(replacement) - 1;

		if (out->len + need > limit)
			return;
		strbuf_add(out, n ? text + at : replacement, need);
		at += n ? n : 1;
	}
}
