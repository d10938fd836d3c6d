/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof: a gzip'd profile.proto. Each event gives two sample types, "samples/count" and its own,
 * as "cpu/nanoseconds"; allocations give "alloc_objects/count" and "alloc_space/bytes", what is
 * alive of them "inuse_…". The first event's own is the default; options->event PROFILE_NONE writes all events that have samples. Process and
 * thread are labels (pid, comm, tid, thread, container_id, container_name, container_image), the quality statement is comments.
 */
#ifndef HOSTPROF_OUTPUT_PPROF_VIEW_PPROF_H
#define HOSTPROF_OUTPUT_PPROF_VIEW_PPROF_H

#include <stdio.h>

#include "base/err.h"
#include "output/view_options.h"
#include "profile/profile.h"

int view_pprof_write(const struct profile *p, const struct view_options *options, FILE *out,
		     struct err *err);

#endif
