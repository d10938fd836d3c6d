/* SPDX-License-Identifier: Apache-2.0 */
/* By what a file's separate debug file is found. */
#ifndef HOSTPROF_ELF_DEBUG_LINK_H
#define HOSTPROF_ELF_DEBUG_LINK_H

#include <limits.h>
#include <stdint.h>

/* 64 bytes in hex. */
#define BUILD_ID_BYTES 129

struct debug_link {
	char build_id[BUILD_ID_BYTES]; /* "": none */
	char name[NAME_MAX + 1];       /* of .gnu_debuglink; "": none */
	uint32_t crc;
};

#endif
