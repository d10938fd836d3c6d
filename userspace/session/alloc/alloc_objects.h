/* SPDX-License-Identifier: Apache-2.0 */
/* For how many objects a sample of an allocation stands. */
#ifndef HOSTPROF_SESSION_ALLOC_OBJECTS_H
#define HOSTPROF_SESSION_ALLOC_OBJECTS_H

#include <stdint.h>

#include "wire.h"

/*
 * The same whoever asks, and whenever. What is not a whole object is rounded up or down by a chance that
 * the sample itself decides, so that sums are right. 0: SAMPLE is none of an allocation.
 */
uint64_t alloc_objects(const struct wire_sample *sample);

#endif
