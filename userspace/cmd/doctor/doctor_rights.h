/* SPDX-License-Identifier: Apache-2.0 */
/* What each process of a recording may do (docs/security.md). */
#ifndef HOSTPROF_CMD_DOCTOR_DOCTOR_RIGHTS_H
#define HOSTPROF_CMD_DOCTOR_DOCTOR_RIGHTS_H

#include "capture/preflight/preflight.h"

/* Of one that is started by us now: rows, the last has no id. */
extern const struct preflight_check doctor_rights_checks[];

/* Of those that run: FN is told of each process, without run(). */
void doctor_rights_for_each(void (*fn)(const struct preflight_check *check,
				       const struct preflight_result *result, void *data),
			    void *data);

#endif
