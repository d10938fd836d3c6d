/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of the cgroup2 tree as the kernel compares it: its id and its depth. */
#ifndef HOSTPROF_CAPTURE_CGROUP_FILTER_H
#define HOSTPROF_CAPTURE_CGROUP_FILTER_H

#include <stdint.h>

#include "base/err.h"

/*
 * PATH must lie in a mounted cgroup2 tree, below its root. The level is that of
 * bpf_get_current_ancestor_cgroup_id(): 0 is the tree's root.
 */
int cgroup_filter_resolve(const char *path, uint64_t *ret_id, uint32_t *ret_level, struct err *err);

#endif
