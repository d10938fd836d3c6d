// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/libbpf_warning.h"

#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>

static char last_warning[256];

static int keep_warning(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char line[sizeof(last_warning)];

	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(line, sizeof(line), fmt, ap);
	line[strcspn(line, "\n")] = 0;
	/* The verifier's log comes as one warning of many lines; what failed was said before. */
	if (strncmp(line, "libbpf: ", 8) == 0 && !strstr(line, "ulimit") &&
	    !strstr(line, "-- BEGIN"))
		memcpy(last_warning, line, sizeof(line));
	return 0;
}

void libbpf_warning_listen(void)
{
	libbpf_set_print(keep_warning);
	last_warning[0] = 0;
}

const char *libbpf_warning(void)
{
	return last_warning;
}
