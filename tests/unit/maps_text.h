/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOSTPROF_TESTS_MAPS_TEXT_H
#define HOSTPROF_TESTS_MAPS_TEXT_H

#include "process/exec_maps.h"
#include "process/mappings.h"

static inline void maps_text_add_one(const struct exec_map *map, void *data)
{
	mappings_add(data, &map->m);
}

/* Adds the executable lines of /proc/PID/maps text to PROCESS, up to the first malformed one. */
static inline void mappings_add_text(struct process *process, const char *text, size_t len)
{
	exec_maps_parse(0, text, len, maps_text_add_one, process);
}

#endif
