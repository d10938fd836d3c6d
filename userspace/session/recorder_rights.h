/* SPDX-License-Identifier: Apache-2.0 */
/* What a process may do while it records: all that took more is open already. */
#ifndef HOSTPROF_SESSION_RECORDER_RIGHTS_H
#define HOSTPROF_SESSION_RECORDER_RIGHTS_H

#include <stdint.h>

/* Give up all rights for good but those of a recording, of this host, and OTHERS (base/rights.h). Before other threads are made. */
void recorder_rights_keep(uint64_t others);

/* What recorder_rights_keep(0) keeps of HELD. */
uint64_t recorder_rights_of(uint64_t held);

#endif
