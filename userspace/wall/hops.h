/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading where what was just read leads: a way through another process's memory in one call, a step of all that go it at once.
 * Whatever stands there, no more is read than was asked for, and nothing but that process's memory.
 */
#ifndef HOSTPROF_WALL_HOPS_H
#define HOSTPROF_WALL_HOPS_H

#include <stddef.h>
#include <stdint.h>

#define WALL_NO_HOP   UINT16_MAX
#define WALL_MAX_HOPS 768
/* So many hops lead from the first to the last at most. */
#define WALL_MAX_STEPS 16

/*
 * LEN bytes, and up to MORE of the same page, at ADDRESS behind: the pointer that stands AT bytes into what the hop BASE has read
 * (its lowest bit is a mark, and it is not 0), and 8 bytes for each of the 16-bit number that stands INDEX_AT bytes into INDEX. Both
 * come before it; WALL_NO_HOP: nothing. Afterwards ADDRESS is where it was, and LEN what was read: 0 when it could not be.
 */
struct wall_hop {
	uint64_t address;
	uint32_t len, more;
	uint16_t base, base_at, index, index_at;
};

struct wall_landing {
	uint64_t address;
	size_t len;
	void *data;
};

/* How many of COUNT (not 0) could be read before one that could not; or -EPERM, -ESRCH, …: no other could, either. */
typedef int wall_land_fn(const struct wall_landing *landings, unsigned int count, void *arg);

/* What DATA must have room for: each hop has LEN + MORE bytes, one behind the other. */
size_t wall_hops_bytes(const struct wall_hop *hops, unsigned int count);

/* -E2BIG: there are too many, or they want more than SIZE; -EINVAL: they lead nowhere. */
int wall_hops_read(struct wall_hop *hops, unsigned int count, uint8_t *data, size_t size,
		   wall_land_fn *land, void *arg);

#endif
