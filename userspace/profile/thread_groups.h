/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that differ by a number alone, shown as one. */
#ifndef HOSTPROF_PROFILE_THREAD_GROUPS_H
#define HOSTPROF_PROFILE_THREAD_GROUPS_H

#include "base/strbuf.h"
#include "profile/profile.h"

/* Append NAME with a '*' in place of each number that counts: "pool-1-thread-17" is "pool-*-thread-*". */
void thread_group_name(struct strbuf *out, const char *name);

/*
 * Give the samples of each process's threads whose names are equal then to one thread without a tid, and add up those
 * that are equal then.
 */
void thread_groups_apply(struct profile *p);

#endif
