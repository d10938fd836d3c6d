// SPDX-License-Identifier: Apache-2.0
#include "session/memory_plan.h"

#include <malloc.h>
#include <string.h>

#include "base/clock.h"
#include "base/macros.h"
#include "elf/reader/reader.h"
#include "session/alloc/live_objects.h"

/*
 * The program with its libraries, the profile's tables of one chunk, and some 3 kB for each of two
 * thousand processes.
 */
#define OWN_BYTES (28ULL << 20)
#define SHED_NS	  (500 * NSEC_PER_MSEC)
/* In which an eighth of the limit is not filled: to look costs 10 us. */
#define EIGHTH_NS (100 * NSEC_PER_MSEC)

void memory_plan_begin(struct memory_plan *plan, uint64_t limit_bytes)
{
	memset(plan, 0, sizeof(*plan));
	plan->limit_bytes = limit_bytes ? limit_bytes : MEMORY_DEFAULT_LIMIT_BYTES;
	plan->table_bytes = plan->limit_bytes / 10;
	plan->rings_bytes = plan->limit_bytes / 12;
	plan->process_bytes = plan->limit_bytes / 8;
	plan->perf_map_bytes = plan->limit_bytes / 4;
	plan->code_map_bytes = plan->limit_bytes / 2;
	plan->known_bytes = plan->limit_bytes / 64;
}

void memory_plan_share(struct memory_plan *plan, uint64_t map_bytes, uint64_t mapped_bytes)
{
	uint64_t taken = map_bytes + mapped_bytes + MIN(OWN_BYTES, plan->limit_bytes / 3);
	uint64_t left = plan->limit_bytes > taken ? plan->limit_bytes - taken : 0;

	/* Of a shortage there is always this much: a guard gives it up again. */
	left = MAX(left, plan->limit_bytes / 8);
	plan->object_bytes = plan->follows_objects ? MIN(left / 5, LIVE_OBJECTS_MOST_BYTES) : 0;
	left -= plan->object_bytes;
	plan->parse_bytes = left * 40 / 100;
	plan->symbol_bytes = left * 30 / 100;
	plan->queue_bytes = left * 15 / 100;
	plan->file_bytes = left * 10 / 100;
}

/* --- guard ------------------------------------------------------------------------------------ */

/* 0: no /proc, nothing to watch. */
static uint64_t resident_bytes(struct memory_guard *guard)
{
	return resident_watch_read(&guard->self, 0).resident_bytes;
}

static uint64_t taken_bytes(struct memory_guard *guard)
{
	return resident_bytes(guard) + reader_resident_bytes() + guard->map_bytes;
}

void memory_guard_init(struct memory_guard *guard, uint64_t limit_bytes, uint64_t map_bytes)
{
	memset(guard, 0, sizeof(*guard));
	guard->limit_bytes = limit_bytes;
	guard->map_bytes = map_bytes;
}

void memory_guard_release(struct memory_guard *guard)
{
	resident_watch_release(&guard->self);
}

bool memory_guard_wants_room(struct memory_guard *guard, uint64_t now_ns)
{
	uint64_t eighth = MAX(guard->limit_bytes / 8, 1), taken;

	if (now_ns < guard->next_ns || now_ns - guard->shed_ns < SHED_NS)
		return false;
	taken = taken_bytes(guard);
	guard->looked_ns = now_ns;
	guard->room_bytes = taken < eighth * 7 ? eighth * 7 - taken : 0;
	if (guard->room_bytes) {
		guard->next_ns = now_ns + guard->room_bytes * EIGHTH_NS / eighth;
		return false;
	}
	guard->shed_ns = now_ns;
	guard->sheds++;
	return true;
}

bool memory_guard_is_near(struct memory_guard *guard)
{
	return taken_bytes(guard) >= MAX(guard->limit_bytes / 8, 1) * 7;
}

bool memory_guard_is_full(struct memory_guard *guard)
{
	return taken_bytes(guard) >= guard->limit_bytes;
}

void memory_guard_trim(void)
{
	malloc_trim(0);
}

void memory_guard_tidy(struct memory_guard *guard)
{
	uint64_t resident = resident_bytes(guard), holes = mallinfo2().fordblks;
	uint64_t step = guard->limit_bytes / 128;

	if (guard->tidy_bytes && resident <= guard->tidy_bytes + step &&
	    holes <= guard->hole_bytes + step) {
		guard->hole_bytes = MIN(guard->hole_bytes, holes);
		return;
	}
	malloc_trim(0);
	guard->tidy_bytes = resident_bytes(guard);
	guard->hole_bytes = mallinfo2().fordblks;
}

/*
 * The worker's arena would keep what parsing a large file took, and the thresholds grow by
 * themselves with every large block that is freed.
 */
void memory_tune_allocator(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
	mallopt(M_TRIM_THRESHOLD, 512 * 1024);
}
