/* SPDX-License-Identifier: Apache-2.0 */
/* What JIT runtimes other than ours say of their code: /tmp/perf-PID.map, "START SIZE name" in hex with or without 0x, and jitdumps. */
#ifndef HOSTPROF_SYMBOLIZE_PERF_MAP_H
#define HOSTPROF_SYMBOLIZE_PERF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/budget/budget.h"
#include "base/macros.h"
#include "process/mapping.h"

struct perf_map;

/* As long as nobody says something else: entries and names of all maps. */
#define PERF_MAP_BYTES (64ULL << 20)

/* What all maps draw from. Lines that there is no room for are left out. */
struct budget *perf_map_budget(void);

/* The lines that were left out of all maps so far, and whose the first of these was. */
uint64_t perf_map_left_out(uint32_t *ret_pid);

/* The map of a process (in its own mount namespace, by its pid there); NULL when there is none. */
struct perf_map *perf_map_open(uint32_t pid);
/* That in the file FD (taken); PID is told whose it is. NULL: it cannot be looked at. */
struct perf_map *perf_map_of(int fd, uint32_t pid);

/* Has a jitdump such a name? jit-PID.dump: node, .NET, Python, wasmtime; perf-PID.dump: PHP. */
bool perf_map_is_dump(const char *path);
/* The jitdump that a process has MAPPING of; NULL: it cannot be had. What is none names nothing. */
struct perf_map *perf_map_open_dump(uint32_t pid, const struct mapping *mapping);
/* That in the file FD (taken). */
struct perf_map *perf_map_of_dump(int fd, uint32_t pid);
void perf_map_free(struct perf_map *map);
DEFINE_CLEANUP(struct perf_map *, perf_map_free);

/* Borrowed name, or NULL. Reads the file's new lines when it has grown since. */
const char *perf_map_find(struct perf_map *map, uint64_t address);

#endif
