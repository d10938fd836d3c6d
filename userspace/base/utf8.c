/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <stdbool.h>
#include <stdint.h>

/* Unicode 15, table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF. */
static bool is_second_byte(uint8_t first, uint8_t second)
{
	switch (first) {
	case 0xe0: return second >= 0xa0 && second <= 0xbf;
	case 0xed: return second >= 0x80 && second <= 0x9f;
	case 0xf0: return second >= 0x90 && second <= 0xbf;
	case 0xf4: return second >= 0x80 && second <= 0x8f;
	default: return second >= 0x80 && second <= 0xbf;
	}
}

size_t utf8_len(const char *text, size_t len)
{
	uint8_t first;
	size_t need;

	if (!len)
		return 0;
	first = (uint8_t)text[0];
	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	need = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	if (need > len || !is_second_byte(first, (uint8_t)text[1]))
		return 0;
	for (size_t i = 2; i < need; i++)
		if (((uint8_t)text[i] & 0xc0) != 0x80)
			return 0;
	return need;
}

bool utf8_is_direction(const char *text, size_t len)
{
	const unsigned char *c = (const unsigned char *)text;

	if (len < 3 || c[0] != 0xe2)
		return false;
	if (c[1] == 0x81)
		return c[2] >= 0xa6 && c[2] <= 0xa9;
	return c[1] == 0x80 && (c[2] == 0x8e || c[2] == 0x8f || (c[2] >= 0xaa && c[2] <= 0xae));
}
