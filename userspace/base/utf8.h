/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOSTPROF_BASE_UTF8_H
#define HOSTPROF_BASE_UTF8_H

#include <stddef.h>

/* U+FFFD, which stands for what is none. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/* Length of the UTF-8 character at TEXT (1 to 4), 0 when there is none within LEN bytes. */
size_t utf8_len(const char *text, size_t len);

#endif
