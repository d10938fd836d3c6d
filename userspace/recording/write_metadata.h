/* SPDX-License-Identifier: Apache-2.0 */
/* The metadata event: our types (recording/types.h) as JFR describes types to its readers. */
#ifndef HOSTPROF_RECORDING_WRITE_METADATA_H
#define HOSTPROF_RECORDING_WRITE_METADATA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

/* GMT_OFFSET_MS is what tools add to show local times. */
void jfr_put_metadata(struct strbuf *out, uint64_t start_ns, int64_t gmt_offset_ms,
		      bool tells_wakers);

#endif
