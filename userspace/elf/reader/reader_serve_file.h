/* SPDX-License-Identifier: Apache-2.0 */
/* The reader's side of single questions about a file. For reader_trade.c only. */
#ifndef HOSTPROF_ELF_READER_READER_SERVE_FILE_H
#define HOSTPROF_ELF_READER_READER_SERVE_FILE_H

#include "base/err.h"
#include "wall/wall_call.h"

/* READER_BUILD_ID, READER_FILE, READER_FIND; of the file FD (borrowed). */
int64_t reader_serve_file(struct wall_call *call, int fd, struct err *err);

/* READER_OBJECTS, READER_USDT: where probes and breakpoints are (reader_serve_probe.c). */
int64_t reader_serve_probe(struct wall_call *call, int fd, struct err *err);

#endif
