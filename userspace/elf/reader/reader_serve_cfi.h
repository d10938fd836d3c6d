/* SPDX-License-Identifier: Apache-2.0 */
/* The reader's side of call frame information: files that it keeps open, by handle. For reader_trade.c only. */
#ifndef HOSTPROF_ELF_READER_READER_SERVE_CFI_H
#define HOSTPROF_ELF_READER_READER_SERVE_CFI_H

#include "base/err.h"
#include "wall/wall_call.h"

/* READER_CFI_OPEN: of the file FD (taken). */
int64_t reader_serve_cfi_open(struct wall_call *call, int fd, struct err *err);
/* The others. */
int64_t reader_serve_cfi(struct wall_call *call, struct err *err);

#endif
