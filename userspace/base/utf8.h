/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOSTPROF_BASE_UTF8_H
#define HOSTPROF_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* U+FFFD, which stands for what is none. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/* Length of the UTF-8 character at TEXT (1 to 4), 0 when there is none within LEN bytes. */
size_t utf8_len(const char *text, size_t len);

/*
 * Does TEXT begin with a mark of direction: U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069 (Unicode, UAX #9)? It has what
 * follows read backwards, and is three bytes long.
 */
bool utf8_is_direction(const char *text, size_t len);

#endif
