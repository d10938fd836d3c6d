/* SPDX-License-Identifier: Apache-2.0 */
/* How the reason of a compilation's sample says what is behind the compiler's name: "C2 tier 4, OSR, failed". */
#ifndef HOSTPROF_PROFILE_COMPILATION_REASON_H
#define HOSTPROF_PROFILE_COMPILATION_REASON_H

#define COMPILATION_TIER   " tier "
#define COMPILATION_OSR	   ", OSR"
#define COMPILATION_FAILED ", failed"

#endif
