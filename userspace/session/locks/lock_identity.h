/* SPDX-License-Identifier: Apache-2.0 */
/* Which lock it was that a thread waited for. */
#ifndef HOSTPROF_SESSION_LOCK_IDENTITY_H
#define HOSTPROF_SESSION_LOCK_IDENTITY_H

#include "wire.h"

/*
 * Of a sample of -e lock: the identity hash of a monitor's object; of the object that a thread parked for an eighth of its address, which is
 * whole below 32 GiB, and another one when a collection has moved it. 0: not known.
 */
static inline uint32_t lock_identity(const struct wire_sample *sample)
{
	return (uint32_t)(sample->cause == WIRE_CAUSE_PARK ? sample->alloc_object >> 3
							   : sample->alloc_object);
}

#endif
