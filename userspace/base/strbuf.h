/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing byte buffer, always NUL-terminated once something was added. Allocation failure is
 * fatal (base/alloc.h): a profiler that cannot get a few kilobytes has nothing left to say.
 */
#ifndef HOSTPROF_BASE_STRBUF_H
#define HOSTPROF_BASE_STRBUF_H

#include <stdarg.h>
#include <stdint.h>

#include "base/macros.h"

struct strbuf {
	char *buf; /* owned; NULL until something is added */
	size_t len;
	size_t cap;
};

#define STRBUF_INIT        \
	{                  \
		NULL, 0, 0 \
	}

void strbuf_release(struct strbuf *sb); /* frees, leaves an empty buffer */
void strbuf_reset(struct strbuf *sb);	/* empties, keeps the memory */
void strbuf_grow(struct strbuf *sb, size_t extra);
void strbuf_add(struct strbuf *sb, const void *data, size_t len);
void strbuf_addstr(struct strbuf *sb, const char *s);
void strbuf_addch(struct strbuf *sb, char c);
void strbuf_addf(struct strbuf *sb, const char *fmt, ...) PRINTF_LIKE(2, 3);
void strbuf_vaddf(struct strbuf *sb, const char *fmt, va_list ap);

/* The text as a borrowed C string, "" when empty. */
static inline const char *strbuf_str(const struct strbuf *sb)
{
	return sb->buf ? sb->buf : "";
}

/*
 * What comes after FROM, made fit for a terminal: control characters, which could steer it, and marks of direction, which could have
 * it read backwards, become '?'. Newlines stay.
 */
void strbuf_disarm(struct strbuf *sb, size_t from);

/* Hand over the buffer (caller frees); the strbuf is empty afterwards. Never NULL. */
char *strbuf_take(struct strbuf *sb);

#define _cleanup_strbuf_ _cleanup_(strbuf_release)

#endif
