// SPDX-License-Identifier: Apache-2.0
/* perf-PID.map and /proc/kallsyms: text that others write. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/file.h"
#include "symbolize/kernel.h"
#include "symbolize/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct perf_map *map_of(const uint8_t *data, size_t size)
{
	int fd = memfd_create("perf map", MFD_CLOEXEC);

	if (fd < 0 || file_write_all(fd, data, size) < 0)
		abort();
	return perf_map_of(fd, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(perf_map_freep) struct perf_map *map = map_of(data, size);
	_cleanup_(kernel_symbols_freep) struct kernel_symbols *symbols = NULL;
	const char *name, *module;

	for (uint64_t address = 0; address < 0x10000; address += 0x123)
		perf_map_find(map, address);
	if (kernel_symbols_parse((const char *)data, size, &symbols) == 0)
		kernel_symbols_find(symbols, 0xffffffff81000000, &name, &module);
	return 0;
}
