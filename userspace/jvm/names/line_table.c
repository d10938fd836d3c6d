/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/names/line_table.h"

#include <stdbool.h>

#include "jvm/names/unsigned5.h"

#define LINE_END    0
#define LINE_ESCAPE 0xff /* two signed numbers follow instead of the packed byte */
#define LINE_BITS   3	 /* of a packed byte; the upper five are the bci's step */

static bool step(struct unsigned5 *s, int64_t *bci, int64_t *line)
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
	} else if (!unsigned5_read_signed(s, &bci_step) || !unsigned5_read_signed(s, &line_step)) {
		return false;
	}
	*bci += bci_step;
	*line += line_step;
	return *bci >= 0 && *bci <= UINT16_MAX && *line >= 0 && *line <= UINT16_MAX;
}

size_t line_table_decode(const void *data, size_t len, uint8_t unsigned5_bias,
			 struct line_entry *ret_entries, size_t max)
{
	struct unsigned5 s = { .data = data, .len = len, .bias = unsigned5_bias };
	int64_t bci = 0, line = 0;
	size_t count = 0;

	while (count < max && step(&s, &bci, &line))
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
