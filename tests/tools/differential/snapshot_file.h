/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot as text, from tests/tools/record_stack.py: what perf cannot take, because it copies
 * nothing below the stack pointer. Lines: "pc A", "reg N A", "map START END OFFSET PATH" (as in
 * /proc/PID/maps, executable ones), "stack ADDRESS HEX", "frame PC".
 */
#ifndef HOSTPROF_TESTS_SNAPSHOT_FILE_H
#define HOSTPROF_TESTS_SNAPSHOT_FILE_H

#include "snapshot.h"

/* What the snapshot points to is never freed. */
int snapshot_file_read(const char *path, struct snapshot *ret_snapshot, struct frames *ret_frames);

#endif
