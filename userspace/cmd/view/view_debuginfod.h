/* SPDX-License-Identifier: Apache-2.0 */
/* --debuginfod of record and report: names that the host does not have, for a view. */
#ifndef HOSTPROF_CMD_VIEW_VIEW_DEBUGINFOD_H
#define HOSTPROF_CMD_VIEW_VIEW_DEBUGINFOD_H

#include "base/err.h"
#include "elf/debuginfod/debuginfod.h"
#include "profile/profile.h"

/* What has no name in PROFILE gets one from whom IT asks; says what came of it. There must be no wall. */
int view_debuginfod(struct profile *profile, struct debuginfod *it, struct err *err);

#endif
