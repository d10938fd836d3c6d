/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second reference: gdb, on a core file that is made of the snapshot (registers, stack, names of
 * the mapped files). One gdb stays for all snapshots, so that it reads each file's symbols once.
 */
#ifndef HOSTPROF_TESTS_GDB_WALK_H
#define HOSTPROF_TESTS_GDB_WALK_H

#include "snapshot.h"

struct gdb_walk;

/* WANTED of each file's snapshots are asked for, spread out. NULL: there is no gdb. */
struct gdb_walk *gdb_walk_new(size_t wanted);
void gdb_walk_free(struct gdb_walk *gdb);

/* Another file's snapshots follow. NULL is taken. */
void gdb_walk_forget(struct gdb_walk *gdb);

/* -EAGAIN: this one is not among them. */
int gdb_walk_frames(struct gdb_walk *gdb, const struct snapshot *snapshot,
		    struct frames *ret_frames);

/* Whatever gdb_walk_new() said. */
int gdb_walk_ask(struct gdb_walk *gdb, const struct snapshot *snapshot, struct frames *ret_frames);

/* A core file of it (include/uapi/linux/elfcore.h, fs/binfmt_elf.c fill_files_note()). */
int core_file_write(const char *path, const struct snapshot *snapshot);

#endif
