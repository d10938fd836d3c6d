/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are part of the program: the flame graph page, its styles and its script. */
#ifndef HOSTPROF_OUTPUT_HTML_EMBEDDED_H
#define HOSTPROF_OUTPUT_HTML_EMBEDDED_H

#include <stddef.h>

struct embedded {
	const char *data; /* not NUL-terminated */
	size_t len;
};

struct embedded embedded_page(void);
struct embedded embedded_style(void);
struct embedded embedded_script(void);

#endif
