/* SPDX-License-Identifier: Apache-2.0 */
/* The data of a page, taken out of it as its script does. */
#ifndef HOSTPROF_TESTS_HTML_PAGE_H
#define HOSTPROF_TESTS_HTML_PAGE_H

#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/macros.h"

static const char data_begins[] = "<script id=\"data\" type=\"text/plain\">";

static inline int digit_value(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = strchr(digits, c);

	assert_true(c && at);
	return (int)(at - digits);
}

/* The bytes of the page's base64 text; caller frees. */
static inline uint8_t *decode_data(const char *page, size_t *ret_len)
{
	const char *text = strstr(page, data_begins);
	size_t len;
	uint8_t *bytes;

	assert_non_null(text);
	text += strlen(data_begins);
	len = strcspn(text, "<");
	assert_int_equal(len % 4, 0);
	bytes = xmalloc(len);
	*ret_len = 0;
	for (size_t i = 0; i < len; i += 4) {
		int pad = text[i + 3] != '=' ? 0 : text[i + 2] != '=' ? 1 : 2;
		uint32_t bits = 0;

		for (int k = 0; k < 4; k++)
			bits = bits << 6 | (uint32_t)(k < 4 - pad ? digit_value(text[i + k]) : 0);
		for (int k = 0; k < 3 - pad; k++)
			bytes[(*ret_len)++] = (uint8_t)(bits >> (16 - 8 * k));
	}
	return bytes;
}

/* The JSON inside of the page's data, and the columns behind it; caller frees both. */
static inline char *page_parts(const char *page, uint8_t **ret_columns, size_t *ret_len)
{
	size_t len;
	_cleanup_free_ uint8_t *packed = decode_data(page, &len);
	uLongf size = 1 << 20;
	_cleanup_free_ uint8_t *bytes = xmalloc(size);
	uint32_t json_len;

	assert_int_equal(uncompress(bytes, &size, packed, len), Z_OK);
	assert_true(size > 4);
	memcpy(&json_len, bytes, 4);
	assert_true(json_len < size - 4);
	*ret_len = size - 4 - json_len;
	*ret_columns = xmemdup(bytes + 4 + json_len, *ret_len);
	return xstrndup((const char *)bytes + 4, json_len);
}

static inline char *page_json(const char *page)
{
	uint8_t *columns;
	size_t len;
	char *json = page_parts(page, &columns, &len);

	free(columns);
	return json;
}

#endif
