/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the kernel's locks it was that a thread waited for. */
#ifndef HOSTPROF_SESSION_KERNEL_LOCK_H
#define HOSTPROF_SESSION_KERNEL_LOCK_H

#include "symbolize/symbolizer.h"

/*
 * The reason of SAMPLE, one of -e kernellock, as a string of the profile: the kind of lock, and its name where that is known ("rwsem write
 * mmap_lock"). Where a lock lies is told to nobody.
 */
uint32_t kernel_lock_reason(struct profile *profile, struct symbolizer *symbolizer,
			    const struct wire_sample *sample);

#endif
