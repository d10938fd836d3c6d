/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way from ring records to the sinks: what arrives is opened early (files of short-lived
 * processes), held back until it is in order, then applied to the registry or symbolized into the profile's
 * tables, and handed on. A sink that hurries is shown each sample when it arrives, too.
 */
#ifndef HOSTPROF_SESSION_PIPELINE_H
#define HOSTPROF_SESSION_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/worker.h"
#include "capture/capture.h"
#include "elf/image.h"
#include "jvm/attach/agents.h"
#include "jvm/jvm.h"
#include "process/news.h"
#include "process/registry.h"
#include "profile/profile.h"
#include "profile/sink.h"
#include "session/alloc/live_objects.h"
#include "session/figures/ledger.h"
#include "session/locks/lock_owners.h"
#include "session/locks/lock_parks.h"
#include "session/malloc/malloc_kept.h"
#include "session/malloc/malloc_probes.h"
#include "session/memory_plan.h"
#include "session/merge.h"
#include "session/offcpu/native_locks.h"
#include "session/offcpu/parked.h"
#include "session/offcpu/spans.h"
#include "session/offcpu/unmounted.h"
#include "session/offcpu/wakers.h"
#include "session/probes/jvm_phases.h"
#include "session/tables/table_link.h"
#include "symbolize/symbolizer.h"
#include "unwind/miss_join.h"
#include "unwind/unwinder.h"

/* A target whose allocations are wanted: its agent tells of them, else they are seen from outside. */
struct outside_jvm {
	struct process *process; /* borrowed */
	bool probed;		 /* at its agent */
	bool tried;		 /* from outside */
	bool seen;		 /* likewise */
	bool beside;		 /* likewise, beside its agent */
};

struct pipeline {
	/* All owned. */
	struct worker_pool *pool;
	struct registry *registry;
	struct image_cache *images;
	struct image_cache_stats files; /* of `images`, at the end */
	struct jvm_table *jvms;
	struct symbolizer *symbolizer;
	struct agents *agents;
	struct unwinder *unwinder;
	struct profile profile;
	struct ledger ledger;
	struct merge_queue queue;
	/* Of LIVE_OFF nothing is in use. */
	struct live_objects live;
	enum live_mode live_mode;
	uint32_t live_event;			 /* in the current tables */
	uint32_t live_missing, live_missing_pid; /* JVMs that did not answer, the first of them */
	uint64_t live_shown;			 /* samples of it that sinks were told one by one */
	struct miss_join misses;
	uint64_t misses_no_room; /* copies of stacks that were not held, since too much was */
	uint64_t
		misses_no_time; /* those whose walks were not finished when the recording had to end */
	uint64_t walks_until_ns; /* when that is, by clock_now_ns(); 0: it goes on */
	struct spans spans;
	struct native_locks native_locks;
	struct wakers wakers;
	struct parked parked;
	struct unmounted unmounted;
	struct process_news news;
	/* Where more is held back than plan.queue_bytes and queue_room_bytes, order and symbols are given up rather than memory. */
	struct memory_plan plan;
	struct memory_guard guard;
	uint64_t queue_room_bytes; /* that there was room for when the guard looked last */

	struct table_link tables;		       /* of `capture` */
	struct capture *capture;		       /* borrowed */
	const struct capture_options *options;	       /* borrowed */
	struct sinks sinks;			       /* what they are is borrowed */
	void (*attached)(uint32_t pid);		       /* as in the options */
	void (*unseen)(uint32_t pid, const char *why); /* likewise */
	uint32_t alloc_sources; /* JVMs whose allocations are seen, of either kind */
	bool samples_allocations, samples_locks, samples_waits, detaches;
	bool sees_locks;	   /* a JVM tells of waits for locks */
	uint64_t outside_interval; /* of JVMs without an agent that samples; 0: no allocations */
	VEC(struct outside_jvm) outside;
	struct lock_parks parks;
	struct lock_owners owners;
	struct jvm_phases phases;
	VEC(struct process *) strangers; /* borrowed; JVMs that are in another cgroup yet */
	uint64_t strangers_ns;		 /* when they were last looked at */
	struct malloc_probes malloc;	 /* of native memory */
	uint64_t malloc_nested;		 /* its samples that were dropped */
	struct malloc_kept kept;	 /* of it what was not given back */
	uint32_t kept_event;		 /* in the current tables */
	uint32_t event_ids[WIRE_MAX_EVENTS];
	uint32_t tables_serial; /* grows when the profile's tables are emptied */

	uint64_t arrived;		    /* records so far */
	uint64_t turned_arrived, turned_ns; /* at the last turn; 0: there was none */
	bool few_arrive;		    /* between the last two turns next to nothing came */
	uint64_t applied_ns;		    /* time of the newest item that was applied */
	uint64_t checked_ns;		    /* when we last looked who is still there */
	uint64_t expired_ns;		    /* when those that are not were last forgotten */
	uint64_t stalled_since_ns;
	/* No sample waits until the image cache has parsed more than this many files. */
	bool gave_up;
	uint64_t gave_up_parsed;
	uint64_t stall_ns;
	uint64_t late_samples;
	uint64_t samples;
};

struct pipeline_options {
	const struct capture_options *capture; /* borrowed for the whole run */
	const struct memory_plan *plan;	       /* as memory_plan_begin() made it */
	bool attach;			       /* load the agent into all JVMs */
	bool detach;			       /* and end those at the end */
	uint64_t outside_interval;	       /* those of JVMs without one are seen; 0: not */
	uint32_t alloc_interval;	       /* agents sample allocations; 0: they do not */
	bool samples_locks;		       /* agents tell of waits for locks */
	bool samples_waits;		       /* of virtual threads, too */
	uint32_t phases;	/* JVMs' own probes tell of them: jvm_phases_wanted() */
	uint64_t lock_least_ns; /* of these the shortest */
	enum live_mode live;
	bool jvm_frames;		/* of allocations the JVM's own frames stay */
	void (*attached)(uint32_t pid); /* an agent was loaded; may be NULL */
	/* A JVM's allocations cannot be seen without an agent; may be NULL. */
	void (*unseen)(uint32_t pid, const char *why);
	struct sinks sinks; /* each is borrowed */
};

/* CAPTURE is loaded (capture_wait()). REGISTRY is the pipeline's from now on, whatever is returned: the processes that are there. */
int pipeline_init(struct pipeline *pipeline, struct capture *capture, struct registry *registry,
		  const struct pipeline_options *options, struct err *err);
void pipeline_release(struct pipeline *pipeline);

/* What the profile says of itself, and its sinks are told: host, command line, start. After init. */
int pipeline_begin(struct pipeline *pipeline, const char *command_line, struct err *err);

/* Find the JVMs among the processes that are there; before capture_start(). */
void pipeline_meet(struct pipeline *pipeline);

/* Drain the rings into the queue, poll JVMs, and apply what is old enough; call every 50 ms. */
void pipeline_turn(struct pipeline *pipeline);
/* So little came with the last turn, and since, that the next one may be later. */
bool pipeline_is_calm(const struct pipeline *pipeline);

/* Let the sinks write what is there; empties the tables when one of them wants it. */
int pipeline_flush(struct pipeline *pipeline, struct err *err);

/* After capture_stop(): apply all that is left, write the figures, end the sinks. */
int pipeline_finish(struct pipeline *pipeline, struct err *err);

#endif
