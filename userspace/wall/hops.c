// SPDX-License-Identifier: Apache-2.0
#include "wall/hops.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/macros.h"

#define PAGE_BYTES  4096
#define INDEX_BYTES 8
#define MARK	    1ULL
/* Twice as many as there are hops, and a power of two. */
#define SLOTS 2048
#define EMPTY UINT16_MAX

_Static_assert(SLOTS >= 2 * WALL_MAX_HOPS && WALL_MAX_HOPS < EMPTY, "each hop has a slot");

struct way {
	struct wall_hop *hops;
	unsigned int count;
	uint8_t *data;
	uint32_t at[WALL_MAX_HOPS]; /* in the data */
	uint8_t step[WALL_MAX_HOPS];
	/* Of the step of now. */
	struct wall_landing landings[WALL_MAX_HOPS];
	uint16_t landing_of[WALL_MAX_HOPS]; /* of each hop */
	uint16_t slots[SLOTS];		    /* by address → landing */
	bool failed[WALL_MAX_HOPS];
	unsigned int landing_count;
};

size_t wall_hops_bytes(const struct wall_hop *hops, unsigned int count)
{
	size_t bytes = 0;

	for (unsigned int i = 0; i < count; i++)
		bytes += (size_t)hops[i].len + hops[i].more;
	return bytes;
}

/* The step behind that of hop FROM; 0: there is none such before hop AT. */
static unsigned int step_behind(const struct way *way, unsigned int at, uint16_t from,
				uint16_t from_at, size_t len)
{
	if (from >= at || (size_t)from_at + len > way->hops[from].len)
		return 0;
	return way->step[from] + 1U;
}

static int plan(struct way *way)
{
	uint32_t at = 0;

	for (unsigned int i = 0; i < way->count; i++) {
		const struct wall_hop *hop = &way->hops[i];
		unsigned int base = 0, index = 0;

		if (hop->base != WALL_NO_HOP) {
			base = step_behind(way, i, hop->base, hop->base_at, sizeof(uint64_t));
			if (!base)
				return -EINVAL;
		}
		if (hop->index != WALL_NO_HOP) {
			index = step_behind(way, i, hop->index, hop->index_at, sizeof(uint16_t));
			if (!index)
				return -EINVAL;
		}
		if (MAX(base, index) >= WALL_MAX_STEPS)
			return -EINVAL;
		way->step[i] = (uint8_t)MAX(base, index);
		way->at[i] = at;
		at += hop->len + hop->more;
	}
	return 0;
}

/* Where hop AT leads; false: nowhere. */
static bool find_address(const struct way *way, unsigned int at, uint64_t *ret_address)
{
	const struct wall_hop *hop = &way->hops[at];
	uint64_t base = 0;
	uint16_t index = 0;

	if (hop->base != WALL_NO_HOP) {
		if (!way->hops[hop->base].len)
			return false;
		memcpy(&base, way->data + way->at[hop->base] + hop->base_at, sizeof(base));
		base &= ~MARK;
		if (!base)
			return false;
	}
	if (hop->index != WALL_NO_HOP) {
		if (!way->hops[hop->index].len)
			return false;
		memcpy(&index, way->data + way->at[hop->index] + hop->index_at, sizeof(index));
	}
	*ret_address = hop->address + base + (uint64_t)index * INDEX_BYTES;
	return true;
}

/* What several want is read once. */
static uint16_t add_landing(struct way *way, uint64_t address, size_t len, void *data)
{
	uint64_t slot = (address * 0x9e3779b97f4a7c15ULL >> 32) % SLOTS;

	for (; way->slots[slot] != EMPTY; slot = (slot + 1) % SLOTS) {
		const struct wall_landing *other = &way->landings[way->slots[slot]];

		if (other->address == address && other->len == len)
			return way->slots[slot];
	}
	way->slots[slot] = (uint16_t)way->landing_count;
	way->landings[way->landing_count] = (struct wall_landing){ address, len, data };
	way->failed[way->landing_count] = false;
	return (uint16_t)way->landing_count++;
}

static void plan_step(struct way *way, unsigned int step)
{
	way->landing_count = 0;
	memset(way->slots, 0xff, sizeof(way->slots));
	for (unsigned int i = 0; i < way->count; i++) {
		struct wall_hop *hop = &way->hops[i];
		uint64_t rest;

		if (way->step[i] != step)
			continue;
		if (!hop->len || !find_address(way, i, &hop->address)) {
			hop->len = 0;
			continue;
		}
		rest = PAGE_BYTES - hop->address % PAGE_BYTES;
		hop->len = MAX(hop->len, (uint32_t)MIN(rest, (uint64_t)hop->len + hop->more));
		way->landing_of[i] =
			add_landing(way, hop->address, hop->len, way->data + way->at[i]);
	}
}

static int land(struct way *way, wall_land_fn *fn, void *arg)
{
	for (unsigned int at = 0; at < way->landing_count; at++) {
		int n = fn(way->landings + at, way->landing_count - at, arg);

		if (n < 0)
			return n;
		at += (unsigned int)n;
		if (at < way->landing_count)
			way->failed[at] = true;
	}
	return 0;
}

static void take_step(struct way *way, unsigned int step)
{
	for (unsigned int i = 0; i < way->count; i++) {
		const struct wall_landing *landing;

		if (way->step[i] != step || !way->hops[i].len)
			continue;
		landing = &way->landings[way->landing_of[i]];
		if (way->failed[way->landing_of[i]])
			way->hops[i].len = 0;
		else if (landing->data != way->data + way->at[i])
			memcpy(way->data + way->at[i], landing->data, landing->len);
	}
}

int wall_hops_read(struct wall_hop *hops, unsigned int count, uint8_t *data, size_t size,
		   wall_land_fn *fn, void *arg)
{
	struct way way;
	unsigned int last = 0;
	int r;

	if (count > WALL_MAX_HOPS || wall_hops_bytes(hops, count) > size)
		return -E2BIG;
	way.hops = hops;
	way.count = count;
	way.data = data;
	r = plan(&way);
	for (unsigned int i = 0; i < count && !r; i++)
		last = MAX(last, way.step[i]);
	for (unsigned int step = 0; step <= last && !r; step++) {
		plan_step(&way, step);
		r = land(&way, fn, arg);
		if (!r)
			take_step(&way, step);
	}
	return r;
}
