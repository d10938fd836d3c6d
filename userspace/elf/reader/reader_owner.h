/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose a file is, as far as can be told: its owner on its file system. Those who are root in a container have a file system
 * of their own. What others may write is nobody's; so are copies of servers' files (wall/foreign_file.h), whose server says what it likes.
 */
#ifndef HOSTPROF_ELF_READER_READER_OWNER_H
#define HOSTPROF_ELF_READER_READER_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#include "wall/file_id.h"

uint64_t reader_owner(const struct file_id *id);

/*
 * Files of one group have one reader. Those that are root's, or hostprof's own user's, on the file system of / or /usr are trusted: who may
 * write these needs no reader for it. Of other file systems root's are a group for each: a container has its own. Every other user is a group.
 */
#define READER_TRUSTED 0ULL

uint64_t reader_owner_group(uint64_t owner);

#endif
