/* SPDX-License-Identifier: Apache-2.0 */
/* The side of debuginfod that asks servers. For debuginfod.c only. */
#ifndef HOSTPROF_ELF_DEBUGINFOD_DEBUGINFOD_SERVE_H
#define HOSTPROF_ELF_DEBUGINFOD_DEBUGINFOD_SERVE_H

#include "elf/debug/debug_link.h"

struct debuginfod_ask {
	char build_id[BUILD_ID_BYTES];
};

/* A descriptor comes beside it, when `result` is 0. The first one comes unasked, and says whether it can begin. */
struct debuginfod_said {
	int result; /* a negative errno */
};

/* The life of the process: its rights go, then it answers on SOCKET until that is closed. */
void debuginfod_serve(int socket);

#endif
