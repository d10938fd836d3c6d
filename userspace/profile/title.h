/* SPDX-License-Identifier: Apache-2.0 */
/* How every view calls a process and a thread. */
#ifndef HOSTPROF_PROFILE_TITLE_H
#define HOSTPROF_PROFILE_TITLE_H

#include "base/strbuf.h"
#include "profile/profile.h"

/* Append "java-4242"; "[unknown]" when PROCESS is PROFILE_NONE. */
void profile_format_process(struct strbuf *sb, const struct profile *p, uint32_t process);

/* Append "[http-worker-1 tid=4243]"; "[unknown]" when THREAD is PROFILE_NONE. */
void profile_format_thread(struct strbuf *sb, const struct profile *p, uint32_t thread);

/* The process of a thread, PROFILE_NONE when THREAD is. */
uint32_t profile_process_of(const struct profile *p, uint32_t thread);

#endif
