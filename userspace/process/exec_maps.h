/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc/PID/maps tells of code: the executable mappings of a process, one after the other. */
#ifndef HOSTPROF_PROCESS_EXEC_MAPS_H
#define HOSTPROF_PROCESS_EXEC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "process/mapping.h"
#include "wall/file_id.h"

struct exec_map {
	struct mapping m;
	bool writable;
	const struct file_id
		*file; /* behind it, found out in the same moment; NULL: nobody has looked */
};

/* MAP and its path are the callee's until it returns. */
typedef void (*exec_map_fn)(const struct exec_map *map, void *data);

/*
 * Call FN for every executable mapping that the maps file PATH of process PID has, in the order of addresses. The
 * kernel is asked for just these (Linux 6.11 on); older ones print all mappings as text. A process
 * that has none (a kernel thread, a first thread that has ended) is no error.
 */
int exec_maps_read(uint32_t pid, const char *path, exec_map_fn fn, void *data);

/*
 * The same, with the files behind them, where the kernel is asked for mappings: LOOKS of them at most, since each takes the
 * reader's time.
 */
int exec_maps_read_files(uint32_t pid, const char *path, unsigned int looks, exec_map_fn fn,
			 void *data);

/*
 * The two ways of it. Text tells of mappings that begin at FROM or later, up to the first malformed
 * line. A query looks at LOOKS files, goes on from *AT, and leaves there where it stopped: -ENOTTY on older kernels, -ENAMETOOLONG at a path that has no room.
 */
void exec_maps_parse(uint64_t from, const char *text, size_t len, exec_map_fn fn, void *data);
int exec_maps_query(uint32_t pid, const char *path, unsigned int looks, uint64_t *at,
		    exec_map_fn fn, void *data);

#endif
