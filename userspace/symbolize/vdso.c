// SPDX-License-Identifier: Apache-2.0
/*
 * The kernel maps the same vDSO into every 64-bit process: ours stands for all. It is an ELF file
 * in memory, with section headers.
 */
#include <string.h>
#include <sys/auxv.h>

#include "base/file.h"
#include "process/proc.h"
#include "symbolize/symbolizer_private.h"

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

struct image *vdso_image(struct symbolizer *symbolizer)
{
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	size_t len;

	if (symbolizer->vdso || start == 0)
		return symbolizer->vdso;
	len = own_mapping_len(start);
	if (len > 0)
		symbolizer->vdso =
			image_cache_add_memory(symbolizer->images, "[vdso]",
					       (const void *)(uintptr_t)start, len); /* NOLINT */
	return symbolizer->vdso;
}
