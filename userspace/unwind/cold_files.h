/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files whose call frame information could not be had in time, as their disk is slow and nothing of them is in memory: opening a
 * large one reads some hundred places all over it. A thread of its own has a reader read what is wanted, with patience; then it can be tried again.
 */
#ifndef HOSTPROF_UNWIND_COLD_FILES_H
#define HOSTPROF_UNWIND_COLD_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "elf/image.h"

struct cold_files;

struct cold_files *cold_files_new(void);
/* Waits for what is being read. */
void cold_files_free(struct cold_files *files);
DEFINE_CLEANUP(struct cold_files *, cold_files_free);

/* Read IMAGE, of OWNER (reader_owner()), which process PID maps (0: nobody asks for that); FD is taken. Where too many are being read PID waits for one of these. */
void cold_files_add(struct cold_files *files, struct image *image, int fd, uint64_t owner,
		    uint32_t pid);

/* Is it being read? Then PID (0: nobody) waits for it, too. */
bool cold_files_is_reading(struct cold_files *files, const struct image *image, uint32_t pid);

/* How often somebody was told that a file is to be read first, or is being read. */
uint64_t cold_files_told(const struct cold_files *files);

/* A process whose file has been read: its mappings are to be looked at again. 0: none (any more). Call in each turn. */
uint32_t cold_files_take_pid(struct cold_files *files);

#endif
