/* SPDX-License-Identifier: Apache-2.0 */
/* Separate debug files, by build id and by .gnu_debuglink. */
#ifndef HOSTPROF_ELF_DEBUG_FILE_H
#define HOSTPROF_ELF_DEBUG_FILE_H

#include <stdint.h>

#include "elf/debug/debug_link.h"
#include "wall/file_id.h"

/*
 * The debug file that LINK tells of, of a file that process PID calls PATH: /usr/lib/debug/.build-id of this host,
 * then the places of gdb's manual ("Separate Debug Files") as that process sees them. It is checked
 * by build id, else by the link's CRC. A descriptor, or -ENODATA.
 * FOR_ALL: the file itself, when what is found will speak for every process that maps it. Then it must be
 * root's or of the same owner, since what a process shows in its mount namespace is its own matter. NULL:
 * for this process alone.
 */
int debug_file_open(const struct debug_link *link, const struct file_id *for_all, uint32_t pid,
		    const char *path);

#endif
