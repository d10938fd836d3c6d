/* SPDX-License-Identifier: Apache-2.0 */
#include "output/pprof/pb.h"

enum wire_type { WIRE_VARINT = 0, WIRE_LEN = 2 };

#define VARINT_MAX_BYTES 10 /* 64 bits in groups of 7 */

static size_t put_varint(uint8_t *to, uint64_t value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		to[n++] = (uint8_t)(value | 0x80);
	to[n++] = (uint8_t)value;
	return n;
}

static size_t varint_size(uint64_t value)
{
	size_t n = 1;

	for (; value >= 0x80; value >>= 7)
		n++;
	return n;
}

void pb_add_varint(struct strbuf *out, uint64_t value)
{
	uint8_t bytes[VARINT_MAX_BYTES];

	strbuf_add(out, bytes, put_varint(bytes, value));
}

static void add_tag(struct strbuf *out, uint32_t field, enum wire_type type)
{
	pb_add_varint(out, (uint64_t)field << 3 | type);
}

void pb_add_u64(struct strbuf *out, uint32_t field, uint64_t value)
{
	if (!value)
		return;
	add_tag(out, field, WIRE_VARINT);
	pb_add_varint(out, value);
}

void pb_add_element(struct strbuf *out, uint32_t field, const void *data, size_t len)
{
	add_tag(out, field, WIRE_LEN);
	pb_add_varint(out, len);
	strbuf_add(out, data, len);
}

void pb_add_packed(struct strbuf *out, uint32_t field, const uint64_t *values, size_t len)
{
	size_t bytes = 0;

	if (!len)
		return;
	for (size_t i = 0; i < len; i++)
		bytes += varint_size(values[i]);
	add_tag(out, field, WIRE_LEN);
	pb_add_varint(out, bytes);
	strbuf_grow(out, bytes);
	for (size_t i = 0; i < len; i++)
		out->len += put_varint((uint8_t *)out->buf + out->len, values[i]);
	out->buf[out->len] = '\0';
}
