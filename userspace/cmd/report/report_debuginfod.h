/* SPDX-License-Identifier: Apache-2.0 */
/* report --debuginfod. */
#ifndef HOSTPROF_CMD_REPORT_REPORT_DEBUGINFOD_H
#define HOSTPROF_CMD_REPORT_REPORT_DEBUGINFOD_H

#include "base/err.h"
#include "profile/profile.h"

/* Names from the servers of DEBUGINFOD_URLS for what has none; says what came of it. */
int report_debuginfod(struct profile *profile, struct err *err);

#endif
