// SPDX-License-Identifier: Apache-2.0
#include "process/own_vdso.h"

#include <stdint.h>
#include <sys/auxv.h>

#include "base/file.h"
#include "process/proc.h"

#define OWN_MAPS_LIMIT (16UL * 1024 * 1024)

/* The length of our mapping that begins at START, 0 when there is none. */
static size_t own_mapping_len(uint64_t start)
{
	_cleanup_strbuf_ struct strbuf maps = STRBUF_INIT;
	struct maps_line line;
	const char *text;
	ssize_t taken;

	if (file_read("/proc/self/maps", OWN_MAPS_LIMIT, &maps) < 0)
		return 0;
	text = strbuf_str(&maps);
	while ((taken = proc_parse_maps_line(text, maps.len, &line)) > 0) {
		if (line.start == start)
			return line.end - line.start;
		text += taken;
		maps.len -= (size_t)taken;
	}
	return 0;
}

const void *own_vdso(size_t *ret_len)
{
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	size_t len = start ? own_mapping_len(start) : 0;

	*ret_len = len;
	return len ? (const void *)(uintptr_t)start : NULL; /* NOLINT: its address is a number */
}
