/* SPDX-License-Identifier: Apache-2.0 */
/* Escaped text is valid UTF-8, holds no markup, and escapes to something as clean. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "output/markup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_clean(const char *text, size_t len)
{
	for (size_t at = 0; at < len;) {
		size_t n = utf8_len(text + at, len - at);

		if (!n || memchr("<>\"'", text[at], 4) || (uint8_t)text[at] == 0x7f)
			abort();
		at += n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	markup_escape(&out, (const char *)data, size);
	check_clean(strbuf_str(&out), out.len);
	return 0;
}
