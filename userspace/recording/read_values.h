/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading JFR values from bytes that nobody vouches for. A cursor that meets its end, or a value
 * that cannot be, turns bad: everything read from then on is 0, and the caller asks once.
 */
#ifndef HOSTPROF_RECORDING_READ_VALUES_H
#define HOSTPROF_RECORDING_READ_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

struct jfr_cursor {
	const uint8_t *at; /* borrowed */
	const uint8_t *end;
	bool bad;
};

static inline size_t jfr_left(const struct jfr_cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline void jfr_fail(struct jfr_cursor *c)
{
	c->bad = true;
	c->at = c->end;
}

static inline void jfr_skip(struct jfr_cursor *c, uint64_t bytes)
{
	if (bytes > jfr_left(c))
		jfr_fail(c);
	else
		c->at += bytes;
}

static inline uint8_t jfr_get_byte(struct jfr_cursor *c)
{
	if (c->at == c->end) {
		jfr_fail(c);
		return 0;
	}
	return *c->at++;
}

/* More than three bytes long, or near the end. */
uint64_t jfr_get_long_varint(struct jfr_cursor *c);

static inline uint64_t jfr_get_varint(struct jfr_cursor *c)
{
	const uint8_t *at = c->at;

	if (jfr_left(c) >= 3) {
		if (at[0] < 0x80) {
			c->at = at + 1;
			return at[0];
		}
		if (at[1] < 0x80) {
			c->at = at + 2;
			return (at[0] & 0x7fu) | (uint64_t)at[1] << 7;
		}
		if (at[2] < 0x80) {
			c->at = at + 3;
			return (at[0] & 0x7fu) | (at[1] & 0x7fu) << 7 | (uint64_t)at[2] << 14;
		}
	}
	return jfr_get_long_varint(c);
}

/* A string as it lies in the file. */
struct jfr_text {
	uint8_t encoding;    /* enum jfr_string_encoding */
	uint64_t len;	     /* bytes; characters with JFR_STRING_CHARS; the key with _POOL */
	const uint8_t *data; /* borrowed from the cursor's bytes, to END */
	const uint8_t *end;
};

struct jfr_text jfr_get_text(struct jfr_cursor *c);

/* Append it as clean UTF-8 (jfr_clean_text()). Texts of pools must have been looked up before. */
void jfr_decode_text(struct strbuf *out, const struct jfr_text *text);

#endif
