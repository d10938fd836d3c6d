/* SPDX-License-Identifier: Apache-2.0 */
/* One entry of a BPF hash map, by the map's descriptor. */
#ifndef HOSTPROF_CAPTURE_MAP_ENTRY_H
#define HOSTPROF_CAPTURE_MAP_ENTRY_H

/* VALUE NULL deletes (no error when it is not there). 0 or a negative errno; -E2BIG: full. */
int map_entry_set(int map_fd, const void *key, const void *value);
/* -ENOENT when it is not there. */
int map_entry_get(int map_fd, const void *key, void *ret_value);

#endif
