/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of one profile's tables in another's, with all that they refer to. */
#ifndef HOSTPROF_PROFILE_PROFILE_COPY_H
#define HOSTPROF_PROFILE_PROFILE_COPY_H

#include "profile/profile.h"

/* The ids in TO of FROM's entries. */
uint32_t profile_copy_stack(struct profile *to, const struct profile *from, uint32_t stack);
uint32_t profile_copy_thread(struct profile *to, const struct profile *from, uint32_t thread);

#endif
