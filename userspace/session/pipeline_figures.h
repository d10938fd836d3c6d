/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording says of itself: what was counted, left out and could not be read. */
#ifndef HOSTPROF_SESSION_PIPELINE_FIGURES_H
#define HOSTPROF_SESSION_PIPELINE_FIGURES_H

#include "session/pipeline.h"

/* Into the counters of the profile, when all samples are in it. Those that are 0 are left out. */
void pipeline_write_figures(struct pipeline *pipeline);

#endif
