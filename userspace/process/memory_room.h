/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory a process may still take before its memory cgroup, or one above it, is full. What is
 * taken from outside of the program's own plan can be the end of it: the kernel kills, it does not refuse.
 */
#ifndef HOSTPROF_PROCESS_MEMORY_ROOM_H
#define HOSTPROF_PROCESS_MEMORY_ROOM_H

#include <stddef.h>
#include <stdint.h>

/* No cgroup of the process has a limit, or none whose files can be seen. */
#define MEMORY_ROOM_UNLIMITED UINT64_MAX

/*
 * Bytes, by the text of /proc/PID/cgroup and the tree at MOUNT (/sys/fs/cgroup): limit less usage, the least
 * of all levels. Cached files that nobody used twice count as room, since they give way first; swap
 * does not.
 */
uint64_t memory_room_find(const char *mount, const char *cgroups, size_t len);

/* The same of a process of this host. */
uint64_t memory_room_of(uint32_t pid);

#endif
