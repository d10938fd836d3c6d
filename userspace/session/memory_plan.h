/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --memory-limit: what our resident memory, that of readers and the BPF maps may take together, and who gets how
 * much of it. As `ps` and bpftool show them: pages of maps that are mapped here count in both.
 */
#ifndef HOSTPROF_SESSION_MEMORY_PLAN_H
#define HOSTPROF_SESSION_MEMORY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/budget/resident.h"

#define MEMORY_DEFAULT_LIMIT_BYTES (128ULL << 20)
/* Less does not hold the program, its rings and the code of a few processes. */
#define MEMORY_LEAST_LIMIT_BYTES (48ULL << 20)

struct memory_plan {
	uint64_t limit_bytes;
	bool follows_objects; /* --live; to be set before memory_plan_share() */
	/* Needed before anything is open. */
	uint64_t table_bytes; /* unwind tables in BPF maps */
	uint64_t rings_bytes; /* all rings together */
	/*
	 * Limits and no shares: who takes so much is named, and the guard has the others' symbols and
	 * then the largest code map go before all together reach the limit.
	 */
	uint64_t process_bytes; /* mappings and names of all processes, and once more their files */
	uint64_t perf_map_bytes; /* perf maps of all processes */
	uint64_t code_map_bytes; /* what all agents told */
	uint64_t
		known_bytes; /* files that no process has any more, and once more as files that rows were made from */
	/* From what is left: */
	uint64_t symbol_bytes; /* symbols of all files */
	uint64_t parse_bytes;  /* one file while its symbols are read */
	uint64_t queue_bytes;  /* records that are held back */
	uint64_t file_bytes;   /* files whose rows are being made */
	uint64_t object_bytes; /* sampled objects that are followed; 0: none are */
};

/* LIMIT_BYTES 0: the default. */
void memory_plan_begin(struct memory_plan *plan, uint64_t limit_bytes);
/* The maps are open and take MAP_BYTES, and MAPPED_BYTES of them once more here (struct capture_stats). */
void memory_plan_share(struct memory_plan *plan, uint64_t map_bytes, uint64_t mapped_bytes);

/* Watches that the sum stays below the limit. */
struct memory_guard {
	uint64_t limit_bytes, map_bytes;
	uint64_t shed_ns;    /* when memory was last given up */
	uint64_t next_ns;    /* when to look again: the sooner the less room there is */
	uint64_t looked_ns;  /* when that was done last; 0: never */
	uint64_t room_bytes; /* what was left then, before memory is given up */
	uint64_t sheds;
	uint64_t
		tidy_bytes; /* what was resident after memory_guard_tidy() had something to do; 0: it had not yet */
	uint64_t hole_bytes; /* the least that malloc() had free since then, given back or not */
	struct resident_watch self;
};

void memory_guard_init(struct memory_guard *guard, uint64_t limit_bytes, uint64_t map_bytes);
void memory_guard_release(struct memory_guard *guard);
/* Is it time to give up what can be had again? Not more often than every half a second. */
bool memory_guard_wants_room(struct memory_guard *guard, uint64_t now_ns);
/* There is as much as a moment ago: what was given up did not do. */
bool memory_guard_is_near(struct memory_guard *guard);
/* There is as much as there may be, whatever was given up. */
bool memory_guard_is_full(struct memory_guard *guard);
/* Give what was freed back to the kernel. */
void memory_guard_trim(void);
/*
 * The same when we have grown, or what is free has, by a 128th of the limit since the last time: what comes and goes leaves holes, which
 * malloc() keeps. Call every ten seconds.
 */
void memory_guard_tidy(struct memory_guard *guard);

/* Tells malloc() how to deal with large blocks and with freed memory; before the first thread. */
void memory_tune_allocator(void);

#endif
