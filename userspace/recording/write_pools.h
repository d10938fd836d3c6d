/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The constant pools of one chunk, filled from a profile's tables. Each checkpoint event holds
 * what came since the one before, so that events can refer to everything written so far.
 */
#ifndef HOSTPROF_RECORDING_WRITE_POOLS_H
#define HOSTPROF_RECORDING_WRITE_POOLS_H

#include <stdint.h>

#include "base/hmap.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "profile/profile.h"
#include "recording/write_stable.h"

#define JFR_POOL_COUNT 12

/* Keys of the pools that never change; those of other pools are made by jfr_key(). */
enum jfr_state_key {
	JFR_STATE_RUNNABLE = 1,
	JFR_STATE_SLEEPING,
	JFR_STATE_UNKNOWN,
	JFR_STATE_BLOCKED,
	JFR_STATE_QUEUED,
	JFR_STATE_STOPPED,
};

struct jfr_method {
	uint32_t class_id;
	uint32_t name, descriptor; /* symbol ids */
};

struct jfr_pools {
	struct jfr_stable *stable;     /* borrowed */
	uint64_t parity;	       /* of the chunk's number; see jfr_key() */
	struct intern symbols;	       /* texts */
	struct intern classes;	       /* symbol ids */
	struct intern methods;	       /* struct jfr_method */
	VEC(uint32_t) class_keys;      /* by class id */
	VEC(uint32_t) thread_keys;     /* by thread id of the profile */
	VEC(uint32_t) string_symbols;  /* by string id of the profile */
	VEC(uint32_t) frame_methods;   /* by frame id of the profile */
	uint32_t done[JFR_POOL_COUNT]; /* entries of each pool that are in the file */
	struct strbuf scratch;
};

void jfr_pools_init(struct jfr_pools *pools, struct jfr_stable *stable, uint64_t chunk);
void jfr_pools_release(struct jfr_pools *pools);

/*
 * Append a checkpoint with everything that PROFILE's tables have new. DELTA is where the chunk's
 * previous checkpoint begins, relative to this one; 0 when there is none.
 */
void jfr_put_checkpoint(struct strbuf *out, struct jfr_pools *pools, const struct profile *p,
			uint64_t time_ns, int64_t delta);

/*
 * The key of a table entry; PROFILE_NONE gives 0, JFR's "none". The JDK's reader keeps the objects
 * of the chunk before and takes equal keys for equal objects (ChunkParser.fillConstantPools), so
 * chunks take turns with even and odd keys.
 */
static inline uint64_t jfr_key(const struct jfr_pools *pools, uint32_t id)
{
	return id == PROFILE_NONE ? 0 : ((uint64_t)id + 1) << 1 | pools->parity;
}

/* The key of a thread of the profile. */
static inline uint64_t jfr_thread_key(const struct jfr_pools *pools, uint32_t thread)
{
	return thread == PROFILE_NONE ? 0 : (uint64_t)pools->thread_keys.items[thread] + 1;
}

/* The symbol of a string of the profile, 0 for "". */
static inline uint64_t jfr_string_key(const struct jfr_pools *pools, uint32_t string)
{
	return string ? jfr_key(pools, pools->string_symbols.items[string]) : 0;
}

/*
 * The frame that says which class a stack allocates, PROFILE_NONE when it begins with code. JFR has
 * the class in the event and not in the stack, so there it is written, and put back by readers.
 */
uint32_t jfr_class_frame(const struct profile *p, uint32_t stack);

/* The key of that class. */
static inline uint64_t jfr_class_key(const struct jfr_pools *pools, uint32_t class_id)
{
	return (uint64_t)pools->class_keys.items[class_id] + 1;
}

/* Give new strings and frames of the profile their symbols, classes and methods. */
void jfr_pools_update(struct jfr_pools *pools, const struct profile *p);

/* The fields that pools and events have in common. */
void jfr_put_event_kind(struct strbuf *out, const struct jfr_pools *pools,
			const struct profile_event *event);
void jfr_put_process(struct strbuf *out, const struct jfr_pools *pools,
		     const struct profile_process *proc);
void jfr_put_mapping(struct strbuf *out, const struct jfr_pools *pools,
		     const struct profile_mapping *m);

#endif
