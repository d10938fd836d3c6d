/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strbuf.h"

#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"

void strbuf_release(struct strbuf *sb)
{
	free(sb->buf);
	*sb = (struct strbuf)STRBUF_INIT;
}

void strbuf_reset(struct strbuf *sb)
{
	sb->len = 0;
	if (sb->buf)
		sb->buf[0] = '\0';
}

void strbuf_grow(struct strbuf *sb, size_t extra)
{
	size_t need = sb->len + extra + 1;

	if (need <= sb->cap)
		return;
	sb->cap = MAX(need, sb->cap ? sb->cap * 2 : 64);
	sb->buf = xrealloc(sb->buf, sb->cap);
	sb->buf[sb->len] = '\0';
}

void strbuf_add(struct strbuf *sb, const void *data, size_t len)
{
	strbuf_grow(sb, len);
	if (len)
		memcpy(sb->buf + sb->len, data, len);
	sb->len += len;
	sb->buf[sb->len] = '\0';
}

void strbuf_addstr(struct strbuf *sb, const char *s)
{
	strbuf_add(sb, s, strlen(s));
}

void strbuf_addch(struct strbuf *sb, char c)
{
	strbuf_add(sb, &c, 1);
}

void strbuf_vaddf(struct strbuf *sb, const char *fmt, va_list ap)
{
	va_list again;
	int len;

	va_copy(again, ap);
	len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (len < 0)
		return;
	strbuf_grow(sb, (size_t)len);
	vsnprintf(sb->buf + sb->len, (size_t)len + 1, fmt, ap);
	sb->len += (size_t)len;
}

void strbuf_addf(struct strbuf *sb, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(sb, fmt, ap);
	va_end(ap);
}

void strbuf_disarm(struct strbuf *sb, size_t from)
{
	size_t to = from;

	for (size_t i = from; i < sb->len; i++) {
		unsigned char c = (unsigned char)sb->buf[i];

		/* U+0080 to U+009F are control characters as well (ECMA-48). */
		if (c == 0xc2 && i + 1 < sb->len && (sb->buf[i + 1] & 0xe0) == 0x80) {
			c = '?';
			i++;
		} else if (utf8_is_direction(sb->buf + i, sb->len - i)) {
			c = '?';
			i += 2;
		} else if ((c < 0x20 && c != '\n') || c == 0x7f) {
			c = '?';
		}
		sb->buf[to++] = (char)c;
	}
	if (sb->buf)
		sb->buf[to] = '\0';
	sb->len = to;
}

char *strbuf_take(struct strbuf *sb)
{
	strbuf_grow(sb, 0);
	sb->len = 0;
	sb->cap = 0;
	return TAKE_PTR(sb->buf);
}
