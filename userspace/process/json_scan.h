/* SPDX-License-Identifier: Apache-2.0 */
/* Single values of a JSON text (RFC 8259), found without making a tree of it. */
#ifndef HOSTPROF_PROCESS_JSON_SCAN_H
#define HOSTPROF_PROCESS_JSON_SCAN_H

#include <stdbool.h>

#include "base/strbuf.h"

/* At a value; the text is borrowed. */
struct json_scan {
	const char *at, *end;
};

/* From an object to the value of KEY in it; false, and the scan stays, when that is not there. */
bool json_scan_find(struct json_scan *scan, const char *key);

/* From an array to its first element, or (from an element) to the one behind it. */
bool json_scan_first(struct json_scan *scan);
bool json_scan_next(struct json_scan *scan);

/* The string that it is at; false when that is none. */
bool json_scan_string(const struct json_scan *scan, struct strbuf *out);

#endif
