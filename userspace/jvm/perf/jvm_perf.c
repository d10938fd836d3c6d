// SPDX-License-Identifier: Apache-2.0
#include "jvm/perf/jvm_perf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "jvm/perf/perf_data.h"
#include "process/proc.h"

/* hsperfdata_USER/PID below /tmp (os/posix/perfMemory_posix.cpp). */
#define DIRECTORY "/hsperfdata_"
/* It is 32 kB (-XX:PerfDataMemorySize); what is behind so many is not looked at. */
#define MOST_BYTES	(256UL << 10)
#define MOST_MAPS_BYTES (64UL << 20)

/* The mapping of it in MAPS; false: there is none. */
static bool find_mapping(const struct strbuf *maps, struct maps_line *ret_line)
{
	size_t at = 0;
	ssize_t n;

	while ((n = proc_parse_maps_line(maps->buf + at, maps->len - at, ret_line)) > 0) {
		at += (size_t)n;
		if (memmem(ret_line->path, ret_line->path_len, DIRECTORY, strlen(DIRECTORY)) &&
		    !ret_line->pgoff && ret_line->end > ret_line->start)
			return true;
	}
	return false;
}

int jvm_perf_find(const struct vm_memory *memory, const struct strbuf *maps, const char *name,
		  uint64_t *ret_address)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	struct maps_line line;
	size_t len, offset;
	int r;

	if (!maps->len || !find_mapping(maps, &line))
		return -ENODATA;
	len = MIN(line.end - line.start, MOST_BYTES);
	bytes = xmalloc(len);
	r = vm_memory_read(memory, line.start, bytes, len);
	if (r < 0)
		return r;
	r = perf_data_find(bytes, len, name, &offset);
	if (r < 0)
		return r == -ENODATA ? -EAGAIN : r;
	*ret_address = line.start + offset;
	return 0;
}

int jvm_perf_read(const struct vm_memory *memory, uint32_t pid, const char *name,
		  uint64_t *ret_address)
{
	_cleanup_strbuf_ struct strbuf maps = STRBUF_INIT;
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	r = proc_read_file(pid, path, MOST_MAPS_BYTES, &maps);
	return r < 0 ? r : jvm_perf_find(memory, &maps, name, ret_address);
}
