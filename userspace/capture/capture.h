/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking samples: perf events on every cpu that trigger the BPF program, the rings that carry its
 * records, and the side-band (mmap, exec, fork, comm, exit) of all processes. Nothing is ordered
 * here: each ring is in its own order, times are CLOCK_MONOTONIC and the caller merges.
 */
#ifndef HOSTPROF_CAPTURE_CAPTURE_H
#define HOSTPROF_CAPTURE_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/vec.h"
#include "capture/cpu_list.h"
#include "capture/event.h"
#include "capture/sideband.h"
#include "wire.h"

struct capture_options {
	const struct capture_event *events; /* 1..WIRE_MAX_EVENTS; see capture/event.h */
	unsigned int event_count;
	const uint32_t *pids; /* targets; NULL and 0: the whole host */
	unsigned int pid_count;
	const char *cgroup_path; /* absolute directory in the cgroup2 tree, or NULL */
	const struct cpu_list
		*cpus; /* samples of these only; borrowed until capture_free(); NULL: all */
	struct capture_window window; /* begin and end are borrowed until capture_free() */
	bool follow_children;
	bool exclude_user;
	bool exclude_kernel;
	bool include_idle;
	bool frame_pointers_only; /* walk native frames without unwind tables */
	bool follow_memory;	  /* sampled memory is followed until it is given back */
	bool tells_wakers;	  /* of who ends a wait the stack is taken, too */
	uint32_t max_depth;	  /* user frames; 0: WIRE_DEFAULT_USER_FRAMES */
	uint64_t ring_bytes;	  /* per cpu, power of two >= 64 KiB; 0: default */
	/* What the rings of all cpus may take by default; 0: no limit. */
	uint64_t rings_limit_bytes;
	/* For the unwind tables of all processes together; 0: default. */
	uint64_t table_bytes;
};

struct capture_handler {
	/* A walk that BPF could not finish; the sample that it belongs to is the next call. */
	void (*miss)(const struct wire_miss *miss, void *data);
	void (*sample)(const struct wire_sample *sample, void *data);
	/* How long the thread of a sample that is open was off the cpus. Either may come first. */
	void (*span)(const struct wire_span *span, void *data);
	/* A thread waits to enter a monitor that does not tell who has it. */
	void (*lock_begin)(const struct wire_lock_begin *begin, void *data);
	void (*side)(const struct side_event *event, void *data);
	/* A record of a ring that is neither of these, or not whole. */
	void (*invalid)(const void *record, size_t len, void *data);
	void *data;
};

/* An event of a counter, since samples are taken; all 0 of others. It is whole when capture_stop() was called. */
struct capture_event_figures {
	uint64_t counted; /* by the kernel, in the event's unit */
	/*
	 * Of that is in no sample, since the kernel made none: events came too fast, or another BPF program ran on the cpu.
	 * What a cpu has counted since its last sample is not in it.
	 */
	uint64_t unseen;
	uint64_t enabled_ns, running_ns; /* of all cpus; less when events took turns */
};

struct capture_stats {
	struct capture_event_figures events[WIRE_MAX_EVENTS];
	uint64_t counters[WIRE_COUNTER_COUNT];
	uint64_t side_lost;
	uint64_t bpf_run_ns; /* of the sampling program, when kernel.bpf_stats_enabled */
	uint64_t bpf_run_count;
	uint64_t map_bytes; /* locked by all maps (fdinfo memlock) and the side-band rings */
	uint64_t
		mapped_bytes; /* of which this process has mapped so much, and has it in its resident memory, too */
	unsigned int cpus; /* that were sampled */
	/* Time in which cpus may have run without their events (at most), and how often that was. */
	uint64_t unobserved_ns, unobserved_times;
	/* How often the kernel stopped events of a cpu that came too fast, and for how long, all together. */
	uint64_t throttled_times, throttled_ns;
	uint64_t suspended_ns; /* of the host, while the capture was open */
};

struct capture;

/*
 * Open the side-band (enabled at once, so that no mapping is missed between the caller's /proc snapshot and the first sample), and begin
 * to load the BPF program, in a thread of its own: meanwhile the caller takes that snapshot. OPTIONS is borrowed until capture_wait()
 * returns, before which nothing is called but that and capture_free(). Errors name what is missing and how to get it; code -EPERM or
 * -EOPNOTSUPP mean exit code 3.
 */
int capture_open(const struct capture_options *options, struct capture **ret_capture,
		 struct err *err);
/* Once: until the program is loaded; then events are opened (disabled). Errors as above. */
int capture_wait(struct capture *capture, struct err *err);
void capture_free(struct capture *capture);
DEFINE_CLEANUP(struct capture *, capture_free);

/* Begin and end sampling. After stop, what is in the rings can still be drained. */
void capture_start(struct capture *capture);
void capture_stop(struct capture *capture);

/* Deliver everything that is in the rings now. */
void capture_drain(struct capture *capture, const struct capture_handler *handler);

/* Readable when there is something to be drained (an epoll descriptor); borrowed. */
int capture_fd(const struct capture *capture);
/* Has an edge (EPOLLET) when a ring is to be drained; borrowed. */
int capture_edge_fd(const struct capture *capture);
/* Who drains waits for both from now on, or is at something else; at first he is (ring_pump_taker_waits()). */
void capture_drainer_waits(struct capture *capture, bool waits);

/*
 * Open events on cpus that came online and forget those that went, also of those that did both since the
 * last call; call about once a second.
 */
int capture_update_cpus(struct capture *capture, struct err *err);

int capture_add_target(struct capture *capture, uint32_t pid);
/* Would a sample of process PID be taken now? CGROUP: its path by /proc/PID/cgroup, "" unknown. */
bool capture_is_target(const struct capture *capture, uint32_t pid, const char *cgroup);

/* What process PID is known by in its samples, though it has none yet. -ENOENT: there is none. */
int capture_find_process(struct capture *capture, uint32_t pid, struct wire_process *ret_process);

/*
 * A place where an event of several sources has one of them (of -e alloc: of a JVM). It is one process's:
 * others that map the file run on as they are, whether they are targets or not. Or it is that of all that map the file, now and
 * later.
 */
struct capture_place {
	enum wire_trigger trigger;
	uint64_t
		form; /* of WIRE_TRIGGER_MALLOC an enum wire_malloc_form, of HotSpot's probes a WIRE_USDT_FORM() */
	uint32_t pid;	     /* 0: all */
	uint64_t generation; /* of the process, any number that tells it from others of its pid */
	const char *path;    /* of the file, as this process opens it; borrowed for the call */
	uint64_t offset;     /* in it */
	bool is_return;	     /* the function returns */
};

/* One call gives all functions of one file their places, and their returns where those are wanted: */
bool capture_has_sessions(const struct capture *capture);

#define CAPTURE_MAX_FUNCTIONS 96 /* those of a file */

struct capture_function {
	enum wire_malloc_form form;
	uint64_t offset; /* in the file */
};

/* FILE is of WIRE_TRIGGER_MALLOC_SESSION, or of WIRE_TRIGGER_MALLOC where nobody wants returns, for all FUNCTIONS of it; else as capture_add_place(). */
int capture_add_functions(struct capture *capture, const struct capture_place *file,
			  const struct capture_function *functions, uint32_t count,
			  struct err *err);

/* Nothing when no event wants the trigger, or the place is there. */
int capture_add_place(struct capture *capture, const struct capture_place *place, struct err *err);
/* The process has gone. */
void capture_drop_places(struct capture *capture, uint32_t pid, uint64_t generation);

/* Make a JVM known to the step functions, by its serial (NULL: forget it). */
int capture_set_jvm(struct capture *capture, uint32_t serial, const struct wire_jvm *jvm);
/* A process whose allocations are seen at AllocTracer, and how (NULL: none any more). */
int capture_set_tlab(struct capture *capture, uint32_t tgid, const struct wire_tlab *tlab);
/* The threads of process TGID park, as PARKING says; NULL: no more. */
int capture_set_parking(struct capture *capture, uint32_t tgid, const struct wire_parking *parking);
/* All virtual threads of process TGID that leave their carriers are seen since SINCE_NS (CLOCK_MONOTONIC); 0: no more. */
int capture_set_yields_since(struct capture *capture, uint32_t tgid, uint64_t since_ns);
/* What is known of the JVM TGID that tells what it does for itself; NULL: nothing more. */
int capture_set_phases(struct capture *capture, uint32_t tgid, const struct wire_phases *phases);
/* A blob that was found for a pc, too many hops away for them. */
int capture_set_far_blob(struct capture *capture, const struct wire_far_key *key, uint64_t blob);

/* Sampled memory that was not given back yet, and by whom: as far as it is followed. The ids in KEYS and IDS are their samples'. */
struct capture_kept {
	VEC(struct wire_kept_key) keys;
	VEC(uint64_t) ids;
};

/* A negative errno: they are not all. *RET_KEPT is to be released either way. */
int capture_get_kept(const struct capture *capture, struct capture_kept *ret_kept);
void capture_kept_release(struct capture_kept *kept);
/* It is followed no further. */
void capture_drop_kept(struct capture *capture, const struct wire_kept_key *key);

/*
 * What is known of thread TID, which left its cpu for the last time at OUT_NS and has not come back. -ENOENT: it
 * has. After capture_stop().
 */
int capture_get_wait(const struct capture *capture, uint32_t tid, uint64_t out_ns,
		     struct wire_offcpu *ret_wait);

/* A virtual thread that waits without a carrier. */
struct capture_unmounted_wait {
	uint64_t
		begin_ns; /* since when; of one that had left before that was followed, since then */
	bool is_counted;  /* capture_sum_unmounted() has it */
	int64_t owed_ns;  /* -e wall: of waits before this one what its samples do not weigh yet */
};

/* The wait of the virtual thread ID of process TGID, if it waits. -ENOENT: nobody knows since when. */
int capture_get_unmounted(const struct capture *capture, uint32_t tgid, uint64_t id,
			  struct capture_unmounted_wait *ret_wait);

/* Virtual threads that are without a carrier and have not been back, as far as they are followed, and how long they have been so together. */
struct capture_unmounted {
	uint64_t threads, ns;
};

/* As of NOW_NS; after capture_stop(). */
struct capture_unmounted capture_sum_unmounted(const struct capture *capture, uint64_t now_ns);

/*
 * Threads that were off the cpus when capture_start() was called and are not known yet, as far as they are wanted, and those of which nobody
 * was told when they left: FN is told of each, and from then on they are known to wait since then. Borrowed for the call. A negative errno: not all were listed.
 */
int capture_list_parked(const struct capture *capture,
			void (*fn)(const struct wire_parked *parked, void *data), void *data);

/* Lost records by process generation, since the last call. */
void capture_take_lost(struct capture *capture,
		       void (*fn)(const struct wire_lost_key *key, const struct wire_lost *lost,
				  void *data),
		       void *data);

/* The unwind tables of the loaded programs; borrowed, mapped until capture_free(). */
struct capture_tables {
	struct wire_block *blocks;
	struct wire_rule *rules;
	struct wire_range *ranges;
	uint32_t block_count, rule_count, range_count;
	int pages_fd, spaces_fd; /* hash maps: wire_page_key -> wire_page, tgid -> wire_space */
	uint32_t page_limit, space_limit;
};

void capture_get_tables(const struct capture *capture, struct capture_tables *ret_tables);

void capture_get_stats(const struct capture *capture, struct capture_stats *ret_stats);

#endif
