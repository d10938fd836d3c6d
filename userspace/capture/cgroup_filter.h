/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of the cgroup2 tree as the kernel compares it: its id and its depth. */
#ifndef HOSTPROF_CAPTURE_CGROUP_FILTER_H
#define HOSTPROF_CAPTURE_CGROUP_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * PATH must lie in a mounted cgroup2 tree, below its root. The level is that of
 * bpf_get_current_ancestor_cgroup_id(): 0 is the tree's root.
 */
int cgroup_filter_resolve(const char *path, uint64_t *ret_id, uint32_t *ret_level, struct err *err);

/*
 * Is a process whose cgroup is CGROUP, by /proc/PID/cgroup, in the one at PATH, which has this LEVEL, or in one
 * below it? One that is outside of our cgroup namespace is not.
 */
bool cgroup_filter_has(const char *path, uint32_t level, const char *cgroup);

#endif
