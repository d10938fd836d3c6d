/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small JSON writer: commas, quoting and indentation are its business. Text that is not UTF-8
 * (file names, thread names) is written with U+FFFD for the bad bytes.
 */
#ifndef HOSTPROF_BASE_JSON_H
#define HOSTPROF_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

struct json {
	struct strbuf *out; /* borrowed */
	int depth;
	bool need_comma;
	bool pretty;
};

void json_init(struct json *j, struct strbuf *out, bool pretty);

/* KEY is NULL inside arrays and at the top. */
void json_object_begin(struct json *j, const char *key);
void json_object_end(struct json *j);
void json_array_begin(struct json *j, const char *key);
void json_array_end(struct json *j);
void json_str(struct json *j, const char *key, const char *value); /* NULL value: null */
void json_strn(struct json *j, const char *key, const char *value, size_t len);
void json_u64(struct json *j, const char *key, uint64_t value);
void json_i64(struct json *j, const char *key, int64_t value);
void json_double(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);

/* Only the quoted string, for writers of their own. */
void json_quote(struct strbuf *out, const char *s, size_t len);

#endif
