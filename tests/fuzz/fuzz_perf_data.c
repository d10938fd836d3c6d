/* SPDX-License-Identifier: Apache-2.0 */
/* A JVM's counters. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "jvm/perf/perf_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t offset = 0;

	if (perf_data_find(data, size, "sun.gc.cause", &offset) == 0 && offset >= size)
		abort();
	return 0;
}
