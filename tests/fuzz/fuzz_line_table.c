/* SPDX-License-Identifier: Apache-2.0 */
/* The first byte is the coding's bias. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/macros.h"
#include "jvm/names/line_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct line_entry entries[512];
	size_t count;

	if (!size)
		return 0;
	count = line_table_decode(data + 1, size - 1, data[0], entries, ARRAY_SIZE(entries));
	if (count > size - 1)
		abort();
	line_table_find(entries, count, (uint16_t)size);
	return 0;
}
