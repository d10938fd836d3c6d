// SPDX-License-Identifier: Apache-2.0
#include "jvm/perf/perf_data.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* struct PerfDataPrologue, from which only this is needed. */
#define MAGIC		    "\xca\xfe\xc0\xc0"
#define BYTE_ORDER_AT	    4
#define LITTLE_ENDIAN_ORDER 1
#define MAJOR_AT	    5
#define MAJOR		    2
#define FIRST_AT	    24
#define COUNT_AT	    28
#define PROLOGUE	    32

/* struct PerfDataEntry; offsets are from its beginning. */
struct entry {
	uint32_t length, name, vector;
	uint8_t type, flags, units, variability;
	uint32_t data;
};

_Static_assert(sizeof(struct entry) == 20, "as the JVM has it");

/* jbyte, of which strings are made. */
#define TYPE_BYTE 'B'

static uint32_t word_at(const uint8_t *bytes, size_t at)
{
	uint32_t word;

	memcpy(&word, bytes + at, sizeof(word));
	return word;
}

/* The string at AT of ENTRY's LEN bytes is NAME. */
static bool has_name(const uint8_t *entry, size_t len, size_t at, const char *name)
{
	size_t bytes = strlen(name) + 1;

	return at < len && len - at >= bytes && !memcmp(entry + at, name, bytes);
}

int perf_data_find(const uint8_t *bytes, size_t len, const char *name, size_t *ret_offset)
{
	uint32_t count;
	size_t at;

	if (len < PROLOGUE || memcmp(bytes, MAGIC, 4) != 0 ||
	    bytes[BYTE_ORDER_AT] != LITTLE_ENDIAN_ORDER || bytes[MAJOR_AT] != MAJOR)
		return -EBADMSG;
	at = word_at(bytes, FIRST_AT);
	count = word_at(bytes, COUNT_AT);
	for (uint32_t i = 0; i < count; i++) {
		struct entry entry;

		if (at > len || len - at < sizeof(entry))
			return -EBADMSG;
		memcpy(&entry, bytes + at, sizeof(entry));
		if (entry.length < sizeof(entry) || entry.length > len - at)
			return -EBADMSG;
		if (has_name(bytes + at, entry.length, entry.name, name)) {
			if (entry.type != TYPE_BYTE || entry.data >= entry.length)
				return -EBADMSG;
			*ret_offset = at + entry.data;
			return 0;
		}
		at += entry.length;
	}
	return -ENODATA;
}
