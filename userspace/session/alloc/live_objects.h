/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampled allocations whose objects may still be alive: what agents said nothing else of, for the
 * samples of "live" that are made at the end; and native memory that was not given back (malloc_kept.h).
 * Bounded: a process that has too many is thinned, as a JVM's agent thins (codemap_live_keeps()), so that
 * each one that is left stands for 2^level.
 *
 * Whose they are a process's SERIAL tells.
 */
#ifndef HOSTPROF_SESSION_LIVE_OBJECTS_H
#define HOSTPROF_SESSION_LIVE_OBJECTS_H

#include <stdint.h>

#include "base/hmap.h"
#include "base/vec.h"
#include "codemap.h"
#include "profile/profile.h"

/* Of one process twice as many as a JVM's agent follows; of all together as many as there is room for. */
#define LIVE_OBJECTS_MAX_OF_ONE 16384
/* What one takes: 40 bytes of it, and its place in the table of ids, each up to twice. */
#define LIVE_OBJECTS_EACH_BYTES 128
/* More than this is of no use. */
#define LIVE_OBJECTS_MOST_BYTES (8ULL << 20)
/* Of 8,192 objects that stand for 2^24 each there are more than a JVM has. */
#define LIVE_OBJECTS_MOST_LEVELS 24

/* --live */
enum live_mode { LIVE_OFF, LIVE_ON, LIVE_COLLECT /* after a full collection */ };

struct live_object {
	uint64_t id; /* the agent's, or BPF's of native memory; not 0 */
	uint64_t time_ns, weight, objects;
	uint32_t stack, thread; /* in the profile's tables */
};

/* All 0: empty. */
struct live_objects {
	VEC(struct live_owner *) owners; /* owned */
	size_t room;			 /* objects of all together; 0: as many as may ever be */
};

/* They may take BYTES; before there are any. */
void live_objects_set_limit(struct live_objects *all, uint64_t bytes);

void live_objects_release(struct live_objects *all);

/* An object was sampled. */
void live_objects_add(struct live_objects *all, uint64_t serial, const struct live_object *object);

/* Likewise what SAMPLE is of, which has ID; one without an id (0) is not followed. */
void live_objects_add_sample(struct live_objects *all, uint64_t serial, uint64_t id,
			     const struct profile_sample *sample);

/* The event of PROFILE, NAME in bytes, that samples of them are told by. */
uint32_t live_objects_event(struct profile *profile, const char *name);

/* The agent does not follow ID any more; one that is not known is ignored. */
void live_objects_drop(struct live_objects *all, uint64_t serial, uint64_t id);

/* Its agent has come to LEVEL. */
void live_objects_thin(struct live_objects *all, uint64_t serial, uint32_t level);

/* All are thinned alike. */
void live_objects_thin_all(struct live_objects *all, uint32_t level);

/* Those from before BEFORE_NS whose ids are not in KEPT have gone, and so has who has no others. */
void live_objects_retain(struct live_objects *all, const struct hmap *kept, uint64_t before_ns);

/* Adds the ids of all that are known. */
void live_objects_put_ids(const struct live_objects *all, struct hmap *ids);

/* The process has ended. */
void live_objects_forget(struct live_objects *all, uint64_t serial);

/* FROM's tables are given up for TO's: what stacks and threads are known of is copied. */
void live_objects_move(struct live_objects *all, const struct profile *from, struct profile *to);

/*
 * Make samples of EVENT, in PROFILE, of those COUNT objects that are ALIVE by the JVM's report and known here.
 * LEVEL is the report's. Returns how many.
 */
uint32_t live_objects_tell(struct live_objects *all, uint64_t serial,
			   const struct codemap_object *alive, size_t count, uint32_t level,
			   uint32_t event, struct profile *profile);

/* Likewise of all those whose ids are in KEPT; their age is the seconds since then until NOW_NS. ADDED is called for each process. */
void live_objects_tell_kept(struct live_objects *all, const struct hmap *kept, uint64_t now_ns,
			    uint32_t event, struct profile *profile,
			    void (*added)(uint64_t serial, size_t first, void *data), void *data);

#endif
