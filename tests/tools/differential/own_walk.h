/* SPDX-License-Identifier: Apache-2.0 */
/* The walk that is on trial: bpf/'s step functions with tables made of the files' CFI. */
#ifndef HOSTPROF_TESTS_OWN_WALK_H
#define HOSTPROF_TESTS_OWN_WALK_H

#include "snapshot.h"
#include "unwind/walk.h"

struct own_walk;

struct own_walk *own_walk_new(void);
void own_walk_free(struct own_walk *own);
DEFINE_CLEANUP(struct own_walk *, own_walk_free);

/* A read of the walk, while one is set; nothing is read in bulk then, so that only what it needs
 * is told. */
typedef void read_fn(uint64_t address, const void *bytes, size_t len, void *data);
void own_walk_trace(struct own_walk *own, read_fn *fn, void *data);

/* The processes of later snapshots are others, even at the same address. */
void own_walk_forget(struct own_walk *own);

/* The frames, and why they end. */
enum unwind_reason own_walk_frames(struct own_walk *own, const struct snapshot *snapshot,
				   struct frames *ret_frames);

/* The range of an address as the last walk's process had it, or NULL. */
const struct wire_range *own_walk_range(const struct own_walk *own, uint64_t address);

/* The rule of an address of the last walk's process; kind WIRE_RULE_NONE where there is none. */
struct wire_rule own_walk_rule(struct own_walk *own, uint64_t address);

#endif
