/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A decoder of profile.proto that shares nothing with the writer: it prints what it finds, in
 * names and not in ids, as lines to compare. Trusts its input: tests only.
 */
#ifndef HOSTPROF_TESTS_PPROF_DECODE_H
#define HOSTPROF_TESTS_PPROF_DECODE_H

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "base/strbuf.h"

#define DECODE_MAX 64 /* entries of any table in these tests */

struct decode_field {
	unsigned int number;
	uint64_t value;	      /* a varint, or the length */
	const uint8_t *bytes; /* NULL for a varint */
};

struct decode_message {
	const uint8_t *at, *end;
};

struct decoded {
	struct strbuf raw;
	struct decode_message tables[16][DECODE_MAX]; /* by field number of Profile */
	uint64_t numbers[16][DECODE_MAX];	      /* of its scalar fields */
	unsigned int len[16];
};

static inline uint64_t decode_varint(const uint8_t **at)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	do
		value |= (uint64_t)(**at & 0x7f) << shift;
	while (shift += 7, *(*at)++ & 0x80);
	return value;
}

static inline bool decode_next(struct decode_message *m, struct decode_field *ret_field)
{
	uint64_t tag;

	if (m->at >= m->end)
		return false;
	tag = decode_varint(&m->at);
	ret_field->number = (unsigned int)(tag >> 3);
	ret_field->value = decode_varint(&m->at);
	ret_field->bytes = NULL;
	assert_true((tag & 7) == 0 || (tag & 7) == 2);
	if ((tag & 7) == 2) {
		ret_field->bytes = m->at;
		m->at += ret_field->value;
		assert_true(m->at <= m->end);
	}
	return true;
}

static inline struct decode_message decode_inner(const struct decode_field *f)
{
	return (struct decode_message){ f->bytes, f->bytes + f->value };
}

static inline void decode_gunzip(const void *data, size_t len, struct strbuf *out)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)len };
	int r;

	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	do {
		strbuf_grow(out, 4096);
		z.next_out = (Bytef *)out->buf + out->len;
		z.avail_out = 4096;
		r = inflate(&z, Z_NO_FLUSH);
		out->len += 4096 - z.avail_out;
	} while (r == Z_OK);
	assert_int_equal(r, Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	inflateEnd(&z);
}

static inline void decode_add(struct decoded *d, unsigned int number, uint64_t value,
			      struct decode_message inner)
{
	assert_true(d->len[number] < DECODE_MAX);
	d->numbers[number][d->len[number]] = value;
	d->tables[number][d->len[number]++] = inner;
}

static inline void decode_init(struct decoded *d, const void *data, size_t len)
{
	struct decode_message profile;
	struct decode_field f;

	memset(d, 0, sizeof(*d));
	decode_gunzip(data, len, &d->raw);
	profile.at = (const uint8_t *)d->raw.buf;
	profile.end = profile.at + d->raw.len;
	while (decode_next(&profile, &f)) {
		struct decode_message inner = { NULL, NULL };

		assert_in_range(f.number, 1, 15);
		if (f.bytes)
			inner = decode_inner(&f);
		if (f.number == 13) /* comment: packed numbers */
			while (inner.at < inner.end)
				decode_add(d, 13, decode_varint(&inner.at), inner);
		else
			decode_add(d, f.number, f.value, inner);
	}
	assert_int_equal(d->tables[6][0].at == d->tables[6][0].end, 1); /* string 0 is "" */
}

static inline void decode_add_string(struct strbuf *sb, const struct decoded *d, uint64_t id)
{
	assert_true(id < d->len[6]);
	strbuf_add(sb, d->tables[6][id].at, (size_t)(d->tables[6][id].end - d->tables[6][id].at));
}

/* The scalar fields of a message by number; a later one of a repeated field wins. */
static inline void decode_scalars(struct decode_message m, uint64_t *values)
{
	struct decode_field f;

	memset(values, 0, 16 * sizeof(*values));
	while (decode_next(&m, &f))
		if (!f.bytes)
			values[f.number] = f.value;
}

/* The message of this id (field 1) in a table of Profile. */
static inline struct decode_message decode_find(const struct decoded *d, unsigned int table,
						uint64_t id)
{
	for (unsigned int i = 0; i < d->len[table]; i++) {
		uint64_t values[16];

		decode_scalars(d->tables[table][i], values);
		if (values[1] == id)
			return d->tables[table][i];
	}
	fail_msg("no entry %d with id %d", (int)table, (int)id);
	return (struct decode_message){ NULL, NULL };
}

/* "(name file:line name file:line) @mapping+address". */
static inline void decode_location(struct strbuf *sb, const struct decoded *d, uint64_t id)
{
	struct decode_message m = decode_find(d, 4, id);
	uint64_t values[16], line[16], function[16];
	struct decode_field f;
	const char *separator = "(";

	decode_scalars(m, values);
	while (decode_next(&m, &f)) {
		if (f.number != 4)
			continue;
		decode_scalars(decode_inner(&f), line);
		decode_scalars(decode_find(d, 5, line[1]), function);
		assert_int_equal(function[2], function[3]);
		strbuf_addstr(sb, separator);
		decode_add_string(sb, d, function[2]);
		if (function[4]) {
			strbuf_addch(sb, ' ');
			decode_add_string(sb, d, function[4]);
			strbuf_addf(sb, ":%" PRIu64, line[2]);
		}
		separator = " < ";
	}
	strbuf_addch(sb, ')');
	if (values[2]) {
		strbuf_addstr(sb, " @");
		decode_scalars(decode_find(d, 3, values[2]), function);
		decode_add_string(sb, d, function[5]);
		strbuf_addf(sb, "+%" PRIx64, values[3]);
	}
}

static inline void decode_label(struct strbuf *sb, const struct decoded *d, struct decode_message m)
{
	uint64_t values[16];

	decode_scalars(m, values);
	strbuf_addstr(sb, "  label ");
	decode_add_string(sb, d, values[1]);
	strbuf_addch(sb, '=');
	if (values[2])
		decode_add_string(sb, d, values[2]);
	else
		strbuf_addf(sb, "%" PRIu64, values[3]);
	strbuf_addch(sb, '\n');
}

/* The values in one line, then a line per location and label. */
static inline void decode_sample(struct strbuf *sb, const struct decoded *d, unsigned int index)
{
	struct decode_message m = d->tables[2][index], inner;
	struct strbuf values = STRBUF_INIT, rest = STRBUF_INIT;
	struct decode_field f;

	while (decode_next(&m, &f)) {
		inner = decode_inner(&f);
		if (f.number == 3) {
			decode_label(&rest, d, inner);
			continue;
		}
		while (inner.at < inner.end) {
			uint64_t value = decode_varint(&inner.at);

			if (f.number == 2) {
				strbuf_addf(&values, " %" PRIu64, value);
				continue;
			}
			strbuf_addstr(&rest, "  ");
			decode_location(&rest, d, value);
			strbuf_addch(&rest, '\n');
		}
	}
	strbuf_addf(sb, "sample%s\n%s", strbuf_str(&values), strbuf_str(&rest));
	strbuf_release(&values);
	strbuf_release(&rest);
}

static inline void decode_release(struct decoded *d)
{
	strbuf_release(&d->raw);
}

#endif
