/* SPDX-License-Identifier: Apache-2.0 */
/* Records of jitdumps, in the reader. */
#ifndef HOSTPROF_ELF_READER_READER_SERVE_JIT_DUMP_H
#define HOSTPROF_ELF_READER_READER_SERVE_JIT_DUMP_H

#include "wall/wall_call.h"

/* FD is borrowed. -EBADMSG: it is none, or goes on with what is no record. */
int64_t reader_serve_jit_dump(struct wall_call *call, int fd);

#endif
