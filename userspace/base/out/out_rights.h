/* SPDX-License-Identifier: Apache-2.0 */
/* What it takes to write an output at the end of a run. */
#ifndef HOSTPROF_BASE_OUT_OUT_RIGHTS_H
#define HOSTPROF_BASE_OUT_OUT_RIGHTS_H

#include <stdint.h>

/* Rights (base/rights.h) without which PATH cannot be written, replaced, removed and given to the user of sudo. NULL, "-": none. */
uint64_t out_rights_for(const char *path);

#endif
