/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of perf maps, in the reader. */
#ifndef HOSTPROF_ELF_READER_READER_SERVE_PERF_MAP_H
#define HOSTPROF_ELF_READER_READER_SERVE_PERF_MAP_H

#include "wall/wall_call.h"

/* FD is borrowed. */
int64_t reader_serve_perf_map(struct wall_call *call, int fd);

#endif
