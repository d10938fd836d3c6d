// SPDX-License-Identifier: Apache-2.0
#include "session/recorder_rights.h"

#include "base/rights.h"
#include "capture/preflight/preflight.h"
#include "process/proc.h"

/*
 * Some kernels ask for CAP_SYS_ADMIN where kernel.perf_event_paranoid is above 2 (Debian's). With hidepid /proc has no
 * processes of others for who may not trace them.
 */
static uint64_t wanted(uint64_t others)
{
	uint64_t rights = RIGHTS_TO_RECORD | others;

	rights_use(rights);
	if (!preflight_may_open_events())
		rights |= RIGHT(CAP_SYS_ADMIN);
	if (proc_hides_processes())
		rights |= RIGHT(CAP_SYS_PTRACE);
	return rights;
}

void recorder_rights_keep(uint64_t others)
{
	rights_keep(wanted(others));
}

uint64_t recorder_rights_of(uint64_t held)
{
	uint64_t rights = wanted(0) & held;

	rights_use(held);
	return rights;
}
