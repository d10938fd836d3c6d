// SPDX-License-Identifier: Apache-2.0
#include "capture/map_entry.h"

#include <bpf/bpf.h>
#include <errno.h>

int map_entry_set(int map_fd, const void *key, const void *value)
{
	if (value)
		return bpf_map_update_elem(map_fd, key, value, BPF_ANY) < 0 ? -errno : 0;
	return bpf_map_delete_elem(map_fd, key) < 0 && errno != ENOENT ? -errno : 0;
}

int map_entry_get(int map_fd, const void *key, void *ret_value)
{
	return bpf_map_lookup_elem(map_fd, key, ret_value) < 0 ? -errno : 0;
}
