/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values that JFR files are made of (src/jdk.jfr/share/classes/jdk/jfr/internal/consumer/
 * RecordingInput.java and StringParser.java, JDK 25): integers as LEB128 of at most nine bytes,
 * strings with a byte that says how, events that begin with their size.
 */
#ifndef HOSTPROF_RECORDING_WRITE_VALUES_H
#define HOSTPROF_RECORDING_WRITE_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

#define JFR_HEADER_BYTES     68
#define JFR_TICKS_PER_SECOND 1000000000ULL
#define JFR_FLAG_COMPRESSED  (1u << 0) /* integers are LEB128 */
#define JFR_FLAG_FINAL	     (1u << 1) /* no chunk follows */

/* Longer ones are cut: nobody reads them, and every tool holds them in memory. */
#define JFR_STRING_LIMIT_BYTES (64UL * 1024)

enum jfr_string_encoding {
	JFR_STRING_NULL,
	JFR_STRING_EMPTY,
	JFR_STRING_POOL,
	JFR_STRING_UTF8,
	JFR_STRING_CHARS,
	JFR_STRING_LATIN1,
};

/* Write V to AT; returns what follows. At most 9 bytes. */
static inline uint8_t *jfr_varint(uint8_t *at, uint64_t v)
{
	for (int i = 0; i < 8; i++) {
		if (v < 0x80) {
			*at++ = (uint8_t)v;
			return at;
		}
		*at++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*at++ = (uint8_t)v;
	return at;
}

static inline void jfr_put_varint(struct strbuf *out, uint64_t v)
{
	uint8_t *start;

	strbuf_grow(out, 9);
	start = (uint8_t *)out->buf + out->len;
	out->len += (size_t)(jfr_varint(start, v) - start);
}

/* An int is 32 bits wide, negative or not. */
static inline void jfr_put_int(struct strbuf *out, int32_t v)
{
	jfr_put_varint(out, (uint32_t)v);
}

static inline void jfr_put_byte(struct strbuf *out, uint8_t v)
{
	strbuf_add(out, &v, 1);
}

/* LEN bytes of UTF-8 that jfr_clean_text() has seen. */
static inline void jfr_put_utf8(struct strbuf *out, const char *text, size_t len)
{
	jfr_put_byte(out, JFR_STRING_UTF8);
	jfr_put_varint(out, len);
	strbuf_add(out, text, len);
}

/* Open an event and return where it begins; its size is filled in by jfr_end_event(). */
size_t jfr_begin_event(struct strbuf *out, uint64_t type);
void jfr_end_event(struct strbuf *out, size_t begin);

/*
 * Append TEXT as valid UTF-8 without NUL bytes: what is neither becomes U+FFFD, and what is longer
 * than the limit is cut between characters.
 */
void jfr_clean_text(struct strbuf *out, const char *text, size_t len);

#endif
