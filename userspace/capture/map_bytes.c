// SPDX-License-Identifier: Apache-2.0
#include "capture/map_bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

uint64_t bpf_map_bytes(int map_fd)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[64];
	const char *line;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", map_fd);
	if (file_read(path, 65536, &text) < 0)
		return 0;
	line = strstr(strbuf_str(&text), "memlock:");
	return line ? strtoull(line + strlen("memlock:"), NULL, 10) : 0;
}
