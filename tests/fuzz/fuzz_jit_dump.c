// SPDX-License-Identifier: Apache-2.0
/* jit-PID.dump: records that others write. Each name that is found is one of the file's. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/file.h"
#include "symbolize/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct perf_map *map_of(const uint8_t *data, size_t size)
{
	int fd = memfd_create("jitdump", MFD_CLOEXEC);

	if (fd < 0 || file_write_all(fd, data, size) < 0)
		abort();
	return perf_map_of_dump(fd, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(perf_map_freep) struct perf_map *map = map_of(data, size);

	for (uint64_t address = 0; address < 0x10000; address += 0x123) {
		const char *name = perf_map_find(map, address);

		if (name && (!*name || !memmem(data, size, name, strlen(name))))
			abort();
	}
	return 0;
}
