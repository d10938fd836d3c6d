/* SPDX-License-Identifier: Apache-2.0 */
/* What a run says about itself, as comments of a pprof file: `go tool pprof -comments`. */
#ifndef HOSTPROF_OUTPUT_PPROF_PPROF_COMMENTS_H
#define HOSTPROF_OUTPUT_PPROF_PPROF_COMMENTS_H

#include "output/pprof/pprof_tables.h"

/* The quality of EVENT, or of all with PROFILE_NONE; the counters are the whole run's. */
void pprof_comments_write(struct pprof_tables *t, uint32_t event, struct strbuf *out);

#endif
