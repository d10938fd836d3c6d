/* SPDX-License-Identifier: Apache-2.0 */
/* What capture.c and the other capture_*.c share; nobody else includes it. */
#ifndef HOSTPROF_CAPTURE_CAPTURE_PRIVATE_H
#define HOSTPROF_CAPTURE_CAPTURE_PRIVATE_H

#include "base/vec.h"
#include "capture/bpf_session.h"
#include "capture/capture.h"
#include "capture/cpu_list.h"
#include "capture/perf_events.h"
#include "capture/rings/rings.h"
#include "capture/sideband.h"
#include "capture/urgent_thread.h"

/* What is open on one cpu. */
struct capture_cpu {
	struct perf_events events; /* none, too, where all that is asked for is probed */
	struct sideband *sideband; /* owned */
	bool is_on;		   /* all of its events are open, and it has been online since */
	/* The side-band's time when it was last asked, and when that was; by late_ns it lagged behind. */
	uint64_t enabled_ns, asked_ns, late_ns;
};

struct capture_mapping {
	void *at; /* NULL: not mapped */
	size_t bytes;
};

/* See struct capture_place. */
struct capture_probe {
	enum wire_trigger trigger;
	uint32_t pid; /* 0: all */
	uint64_t generation;
	uint64_t device, inode, offset;
	int fd, link; /* owned; fd -1: the link is all */
};

/* The kernel looks at the program for a tenth of a second and more. */
struct capture_load {
	struct urgent_thread thread;
	const struct capture_options *options; /* borrowed until it is done */
	uint32_t ring_bytes;
	struct cpu_list online; /* owned */
	struct err error;	/* code 0: it is loaded */
};

struct capture {
	struct capture_event *events; /* owned copy */
	struct capture_load load;
	struct perf_events_options event_options;
	struct bpf_session *session;	  /* owned */
	struct rings *rings;		  /* owned */
	struct perf_events shared;	  /* of no cpu: probes, tracepoints */
	unsigned int shared_cpu;	  /* that has their books */
	bool has_sessions;		  /* of uprobes */
	VEC(struct capture_probe) places; /* of single processes */
	struct capture_cpu *cpus;	  /* owned, by cpu number */
	unsigned int cpu_count;		  /* of possible cpus */
	unsigned int online_count;	  /* past the highest cpu that was online at the start */
	unsigned int possible;		  /* libbpf's count: values of a per-cpu map */
	int epoll_fd;
	uint64_t side_lost;
	/* Targets: all 0, the whole host. */
	bool filters_pids;
	char *cgroup_path; /* owned */
	uint32_t cgroup_level;
	bool side_gap; /* there may have been records that no event saw */
	uint64_t unobserved_ns, unobserved_times;
	uint64_t suspended_ns, suspended_before_ns;
	/* Events that are stopped now, and the sums of when they were stopped and went on. */
	uint64_t throttled_times, throttled_now, stopped_sum_ns, resumed_sum_ns;
	bool samples;
	struct perf_event_counts
		counts[WIRE_MAX_EVENTS]; /* of events that have ended, while samples were taken */
	struct capture_mapping blocks, rules, ranges; /* owned */
};

/* What of the maps is mapped here for the unwind tables. */
uint64_t capture_tables_bytes(const struct capture *c);

/* Count the cpus, of which those that are online are known, and make c->cpus. */
int capture_count_cpus(struct capture *c, struct err *err);
/* Rings and side-band of all cpus that were online. */
int capture_open_rings(struct capture *c, struct err *err);
/* Their events, and those that are there once. */
int capture_open_events(struct capture *c, struct err *err);
void capture_close_cpus(struct capture *c);

/* Add to the counts what the open events have counted; SIGN -1: before samples are taken. */
void capture_add_counts(struct capture *c, int sign);

void capture_close_places(struct capture *c);

int capture_map_tables(struct capture *c, struct err *err);
void capture_unmap_tables(struct capture *c);

#endif
