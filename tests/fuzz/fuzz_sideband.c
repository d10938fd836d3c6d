// SPDX-License-Identifier: Apache-2.0
/* One side-band record. A name that is handed out must end within the record. */
#include <stdlib.h>
#include <string.h>

#include "capture/sideband.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct side_event event;

	if (sideband_decode(data, size, &event) < 0 || !event.name)
		return 0;
	if ((const uint8_t *)event.name + strlen(event.name) >= data + size)
		abort();
	return 0;
}
