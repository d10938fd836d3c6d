/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/names/line_table.h"

#include <stdbool.h>

/* A byte of at least this much says that another one follows; each carries 6 bits of worth. */
#define UNSIGNED5_MORE	    192
#define UNSIGNED5_MAX_BYTES 5
#define UNSIGNED5_BITS	    6

#define LINE_END    0
#define LINE_ESCAPE 0xff /* two signed numbers follow instead of the packed byte */
#define LINE_BITS   3	 /* of a packed byte; the upper five are the bci's step */

struct stream {
	const uint8_t *data;
	size_t len, at;
	uint8_t bias;
};

static bool stream_unsigned5(struct stream *s, uint32_t *ret_value)
{
	uint32_t value = 0;

	for (unsigned int i = 0; i < UNSIGNED5_MAX_BYTES; i++) {
		uint8_t byte;

		if (s->at >= s->len)
			return false;
		byte = s->data[s->at++];
		if (byte < s->bias)
			return false;
		value += (uint32_t)(byte - s->bias) << (UNSIGNED5_BITS * i);
		if (byte < UNSIGNED5_MORE)
			break;
	}
	*ret_value = value;
	return true;
}

/* The sign is the lowest bit. */
static bool stream_signed5(struct stream *s, int32_t *ret_value)
{
	uint32_t value;

	if (!stream_unsigned5(s, &value))
		return false;
	*ret_value = (int32_t)(value >> 1) ^ -(int32_t)(value & 1);
	return true;
}

static bool stream_step(struct stream *s, int64_t *bci, int64_t *line)
{
	int32_t bci_step, line_step;
	uint8_t byte;

	if (s->at >= s->len)
		return false;
	byte = s->data[s->at++];
	if (byte == LINE_END)
		return false;
	if (byte != LINE_ESCAPE) {
		bci_step = byte >> LINE_BITS;
		line_step = byte & ((1 << LINE_BITS) - 1);
	} else if (!stream_signed5(s, &bci_step) || !stream_signed5(s, &line_step)) {
		return false;
	}
	*bci += bci_step;
	*line += line_step;
	return *bci >= 0 && *bci <= UINT16_MAX && *line >= 0 && *line <= UINT16_MAX;
}

size_t line_table_decode(const void *data, size_t len, uint8_t unsigned5_bias,
			 struct line_entry *ret_entries, size_t max)
{
	struct stream s = { .data = data, .len = len, .bias = unsigned5_bias };
	int64_t bci = 0, line = 0;
	size_t count = 0;

	while (count < max && stream_step(&s, &bci, &line))
		ret_entries[count++] =
			(struct line_entry){ .bci = (uint16_t)bci, .line = (uint16_t)line };
	return count;
}

uint16_t line_table_find(const struct line_entry *entries, size_t count, uint16_t bci)
{
	const struct line_entry *best = NULL;

	for (size_t i = 0; i < count; i++) {
		if (entries[i].bci == bci)
			return entries[i].line;
		if (entries[i].bci < bci && (!best || entries[i].bci >= best->bci))
			best = &entries[i];
	}
	return best ? best->line : 0;
}
