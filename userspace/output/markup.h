/* SPDX-License-Identifier: Apache-2.0 */
/* Text from other people's programs on its way into HTML and XML. */
#ifndef HOSTPROF_OUTPUT_MARKUP_H
#define HOSTPROF_OUTPUT_MARKUP_H

#include <stddef.h>

#include "base/strbuf.h"

/*
 * Append TEXT so that HTML and XML parsers read it back as text, inside elements and quoted
 * attributes: & < > " ' become references; bytes that are not UTF-8, and characters that XML 1.0
 * does not have (controls, U+FFFE, U+FFFF), become U+FFFD.
 */
void markup_escape(struct strbuf *out, const char *text, size_t len);

#endif
