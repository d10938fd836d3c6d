/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who takes what a run makes. The pipeline hands every finished sample to its sinks and knows none
 * of them; a recording and a stream are two. An op that a sink has no use for is NULL.
 *
 * All of it happens on the thread of the event loop. What is handed over is borrowed for the call;
 * PROFILE has the tables that ids refer to, until rotate().
 */
#ifndef HOSTPROF_PROFILE_SINK_H
#define HOSTPROF_PROFILE_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "profile/profile.h"

/* A process generation: (pid, exec id, start). Texts are never NULL, "" unknown. */
struct sink_process {
	uint32_t pid;
	uint32_t exec_id; /* the kernel's */
	uint64_t start_ns;
	const char *name, *exe, *container_id, *cgroup, *jvm_version, *main_class;
	const char *container_name, *container_image;
};

struct sink_sample {
	uint64_t id; /* 1, 2, … as they arrive; the same at both times */
	uint64_t time_ns, weight;
	uint64_t objects;      /* as in struct profile_sample, like age */
	uint32_t event, stack; /* ids in the profile's tables */
	uint32_t state;	       /* enum thread_state */
	uint32_t age;
	/* Of a wait, as in struct profile_sample; else 0 and "". */
	uint64_t queued;
	uint32_t chance;
	const char *reason;
	uint32_t tid;
	uint32_t java_tid;  /* 0 unknown */
	bool is_virtual;    /* as in struct profile_thread */
	const char *thread; /* its full name */
	const struct sink_process *process;
};

/* What finishing a sample did to what arrived() was told. */
enum sink_finish {
	SINK_SAME,
	SINK_CORRECTED, /* its stack or its thread's name are others; or it is not known whether */
};

enum sink_life { SINK_STARTED, SINK_EXECED, SINK_EXITED };

struct sink_process_event {
	enum sink_life life;
	uint64_t time_ns;
	uint32_t pid;
	uint32_t ppid;	  /* SINK_STARTED */
	const char *name; /* SINK_EXECED: the new program's; else "" */
};

struct sink_loss {
	const char *event;  /* "" unknown */
	const char *reason; /* as in wire_losses.def */
	uint32_t pid;	    /* 0 unknown */
	uint64_t samples, weight;
};

/* What is known only when it is over. */
struct sink_sums {
	uint64_t samples, late_samples, lost_samples;
};

struct sink_ops {
	/* PROFILE says what is recorded: host, command, events. WHOLE_HOST: all processes are. */
	int (*begin)(void *self, const struct profile *profile, bool whole_host, struct err *err);
	/*
	 * A sample is out of its ring: names are those that are known by now. Later, in order of
	 * time, finished() is called for the same id. Sinks that have this one are hurried.
	 */
	void (*arrived)(void *self, const struct profile *profile,
			const struct sink_sample *sample);
	void (*finished)(void *self, const struct profile *profile,
			 const struct sink_sample *sample, enum sink_finish finish);
	/* Sampling has ended, and what is still to come (of what lives) may wait for a slow reader. */
	void (*ending)(void *self);
	/* As soon as it is known, ahead of samples; also of processes that have none. */
	void (*process)(void *self, const struct sink_process_event *event);
	void (*lost)(void *self, const struct sink_loss *loss);
	/* Often: send what waits. An error ends the run. */
	int (*turn)(void *self, struct err *err);
	/*
	 * Every second. One sink at most takes profile->samples, those that were finished since the
	 * last flush, and empties them; the others have had finished().
	 */
	int (*flush)(void *self, struct profile *profile, struct err *err);
	bool (*wants_rotation)(const void *self, const struct profile *profile);
	/* Called in place of flush(). The profile's tables are emptied then, every id is void. */
	int (*rotate)(void *self, struct profile *profile, struct err *err);
	/* The last flush, with the run's counters. */
	int (*end)(void *self, struct profile *profile, const struct sink_sums *sums,
		   struct err *err);
};

struct sink {
	const struct sink_ops *ops;
	void *self; /* borrowed */
};

#define SINKS_MAX 4

/* All sinks of a run, each called in its turn; the first error ends a round. */
struct sinks {
	struct sink items[SINKS_MAX];
	unsigned int count;
	bool hurry;	 /* one of them has arrived() */
	bool one_by_one; /* … finished() */
};

void sinks_add(struct sinks *sinks, struct sink sink);

int sinks_begin(const struct sinks *sinks, const struct profile *profile, bool whole_host,
		struct err *err);
void sinks_arrived(const struct sinks *sinks, const struct profile *profile,
		   const struct sink_sample *sample);
void sinks_finished(const struct sinks *sinks, const struct profile *profile,
		    const struct sink_sample *sample, enum sink_finish finish);
void sinks_ending(const struct sinks *sinks);
void sinks_process(const struct sinks *sinks, const struct sink_process_event *event);
void sinks_lost(const struct sinks *sinks, const struct sink_loss *loss);
int sinks_turn(const struct sinks *sinks, struct err *err);
int sinks_flush(const struct sinks *sinks, struct profile *profile, struct err *err);
bool sinks_want_rotation(const struct sinks *sinks, const struct profile *profile);
int sinks_rotate(const struct sinks *sinks, struct profile *profile, struct err *err);
int sinks_end(const struct sinks *sinks, struct profile *profile, const struct sink_sums *sums,
	      struct err *err);

#endif
