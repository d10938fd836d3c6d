/* SPDX-License-Identifier: Apache-2.0 */
/* The loaded BPF programs and their maps. The only user of the generated skeleton. */
#ifndef HOSTPROF_CAPTURE_BPF_SESSION_H
#define HOSTPROF_CAPTURE_BPF_SESSION_H

#include "base/err.h"
#include "capture/cpu_list.h"
#include "capture/event.h"
#include "wire.h"

struct bpf_session;

struct bpf_session_options {
	struct wire_settings settings;
	const struct capture_event *events;
	unsigned int event_count;
	const struct cpu_list *cpus; /* that are sampled; NULL: all */
	unsigned int possible_cpus;
	unsigned int online_cpus; /* numbers up to the highest of now */
	unsigned int threads;	  /* of the host, now */
	int rings_fd;		  /* the array of rings, of `ring_bytes` each */
	uint32_t ring_bytes;
	uint32_t miss_copy_bytes; /* of a stack at most; WIRE_MISS_LEAST_COPY to _MAX_COPY */
	uint64_t table_bytes;	  /* for the unwind tables; 0: default */
	struct capture_window window;
	bool follow_memory;
	bool tells_wakers;	/* of waits the stacks of who ended them are taken, too */
	int64_t waker_count_at; /* preempt_count_find(); 0: not known */
	bool has_sessions;	/* of uprobes (probes/uprobe_session.h) */
};

enum bpf_session_map {
	BPF_SESSION_COUNTERS,
	BPF_SESSION_TARGETS,
	BPF_SESSION_JVMS,
	BPF_SESSION_FAR_BLOBS,
	BPF_SESSION_LOST,
	BPF_SESSION_OFFCPU_THREADS,
	BPF_SESSION_YIELDS,
	BPF_SESSION_YIELDS_SINCE,
	BPF_SESSION_UNMOUNTED_OWED,
	BPF_SESSION_TLAB_JVMS,
	BPF_SESSION_PARKING_JVMS,
	BPF_SESSION_PHASE_JVMS,
	BPF_SESSION_MALLOC_KEPT,
	BPF_SESSION_BLOCKS,
	BPF_SESSION_RULES,
	BPF_SESSION_RANGES,
	BPF_SESSION_PAGES,
	BPF_SESSION_SPACES,
};

/* Load, and attach the tracepoints that targets need; nothing is sampled by that. */
int bpf_session_open(const struct bpf_session_options *options, struct bpf_session **ret_session,
		     struct err *err);
void bpf_session_free(struct bpf_session *session);
DEFINE_CLEANUP(struct bpf_session *, bpf_session_free);

/* Take samples from SINCE_NS (CLOCK_MONOTONIC, now) on; 0: none any more. */
void bpf_session_set_sampling(struct bpf_session *session, uint64_t since_ns);

/* Since when each virtual thread that has left its carrier is in its map, at the earliest; 0: there was not room for all. */
uint64_t bpf_session_yields_since(const struct bpf_session *session);

/* Borrowed descriptors. That of TRIGGER's program is negative when no event needs it. */
int bpf_session_prog_fd(const struct bpf_session *session, enum wire_trigger trigger);
/* Opens what shows all threads to a program when it is read; a negative errno: it cannot be had, -ENODATA: no event needs it. */
int bpf_session_list_parked(const struct bpf_session *session);
/* What a process is known by though it does not run now, as its samples will have it. -ENOENT: there is none. */
int bpf_session_find_process(struct bpf_session *session, uint32_t tgid,
			     struct wire_process *ret_process);
int bpf_session_map_fd(const struct bpf_session *session, enum bpf_session_map map);
uint32_t bpf_session_map_entries(const struct bpf_session *session, enum bpf_session_map map);

/* Bytes that all maps of the skeleton hold, and not the rings in their array. */
uint64_t bpf_session_map_bytes(const struct bpf_session *session);

/*
 * Times since sampling began that the kernel did not run the programs of tracepoints and kprobes, or that of switches, since another one was
 * running on the cpu (trace_call_bpf() and __bpf_trace_run() in kernel/trace/bpf_trace.c).
 */
uint64_t bpf_session_missed(const struct bpf_session *session);

/* Time and calls of the sampling programs; 0 unless kernel.bpf_stats_enabled. */
void bpf_session_run_stats(const struct bpf_session *session, uint64_t *ret_ns,
			   uint64_t *ret_count);

#endif
