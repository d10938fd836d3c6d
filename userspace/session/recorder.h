/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One recording run, driven by its caller: it lives on the caller's event loop, what it makes goes to
 * the caller's sinks, and how long it goes on is the caller's business.
 *
 *   recorder_open(&options, loop, &recorder, &err);   everything is open, nothing is sampled
 *   recorder_start(recorder);
 *   loop_run(loop, &err);                             the caller's timers and signals end it
 *   recorder_finish(recorder, &result, &err);         what is left goes to the sinks
 *   recorder_free(recorder);
 */
#ifndef HOSTPROF_SESSION_RECORDER_H
#define HOSTPROF_SESSION_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/loop.h"
#include "capture/capture.h"
#include "elf/reader/reader.h"
#include "profile/sink.h"
#include "session/alloc/live_objects.h"
#include "session/figures/ledger.h"
#include "wall/wall.h"

enum recorder_agent_mode { RECORDER_AGENT_AUTO, RECORDER_AGENT_ALWAYS, RECORDER_AGENT_NEVER };

struct recorder_options {
	/* Borrowed until recorder_free(), as is all that it refers to; the same of the sinks. */
	struct capture_options capture;
	struct sinks sinks;
	enum recorder_agent_mode agent;
	enum live_mode live;		/* what allocations have left alive at the end */
	bool jvm_frames;		/* of allocations the JVM's own frames stay */
	uint32_t jvm_shows;		/* enum jvm_shows */
	void (*attached)(uint32_t pid); /* the agent was loaded into a JVM; may be NULL */
	/* A JVM's allocations cannot be seen without an agent, and why; may be NULL. */
	void (*unseen)(uint32_t pid, const char *why);
	uint64_t flush_ns;	     /* 0: 1 s */
	uint64_t memory_limit_bytes; /* 0: the default; see session/memory_plan.h */
	const char *command_line;    /* ours, for the recording */
	/* When all is open this process gives up its rights for good, but what the recording needs and OTHER_RIGHTS. */
	bool gives_up_rights;
	uint64_t other_rights; /* RIGHT(…) of base/rights.h */
};

struct recorder_figures {
	uint64_t samples, lost;
	uint32_t processes, jvms;
};

/* The run's figures: the last line, and --stats. */
struct recorder_result {
	uint64_t samples, complete;
	uint64_t lost; /* dropped, for any reason; of unknown processes too */
	struct ledger_loss losses[WIRE_LOSS_COUNT];
	uint64_t start_ns; /* CLOCK_MONOTONIC: sampling began */
	uint64_t elapsed_ns;
	uint32_t processes, jvms, jvms_with_agent;
	uint32_t
		jvms_without_inlining; /* neither a JVM itself nor an agent told what was inlined */
	/* JVMs whose agent could not be used, and why in the first of them. */
	uint32_t agents_refused;
	uint32_t refused_pid;
	char refusal[384];
	/* Files whose symbols did not fit into --memory-limit, and the sentence of one of them. */
	uint64_t symbols_left_out;
	char left_out[384];
	/* --live: JVMs that did not say what is alive, and the first of them. */
	uint32_t live_missing, live_missing_pid;
	struct wall_figures wall;      /* processes that could not be read in time */
	struct reader_figures readers; /* files that could not be parsed */
	uint32_t alloc_sources;	       /* JVMs whose allocations were seen */
	bool sees_locks;	       /* a JVM told of waits for locks */
	uint32_t
		phases_seen; /* those of session/probes/jvm_phases.h of which a JVM's probes were found, a bit each */
	uint64_t malloc_files; /* with functions of native memory that were probed */
	struct capture_stats capture;
	uint64_t own_cpu_ns;
	uint64_t peak_rss_bytes, memory_limit_bytes;
	uint64_t reasons[UNWIND_REASON_COUNT];
	uint64_t late_samples;	 /* came behind the watermark */
	uint64_t merge_stall_ns; /* waited for images */
	/* Who drove it sets these; recorder_finish() leaves 0. */
	int exit_status;  /* of a command, as waitpid() gives it */
	bool interrupted; /* by a signal */
};

struct recorder;

/*
 * Open everything, add what must be watched to LOOP (borrowed), and begin the sinks. The limit of
 * descriptors is raised: what is not to inherit that is forked before. On a busy host the thread of
 * the loop should have a better priority than others (cmd/priority.h).
 */
int recorder_open(const struct recorder_options *options, struct loop *loop,
		  struct recorder **ret_recorder, struct err *err);

/* Begin to sample. */
void recorder_start(struct recorder *recorder);

/*
 * What is done every few milliseconds: records are taken out of the rings, shown or applied, and
 * sent. The loop calls it; others may, at any time between. An error, of a sink, ends the run: the
 * loop is told to quit, and recorder_finish() returns it.
 */
void recorder_turn(struct recorder *recorder);

void recorder_get_figures(const struct recorder *recorder, struct recorder_figures *ret_figures);

/*
 * Stop sampling and end the sinks, unless a sink has failed. *RET_RESULT is set when 0 is returned. -ENOMEM:
 * memory ran out, which ended the run; the sinks have all that was taken.
 * The loop has nothing of it any more.
 */
int recorder_finish(struct recorder *recorder, struct recorder_result *ret_result, struct err *err);

void recorder_free(struct recorder *recorder);
DEFINE_CLEANUP(struct recorder *, recorder_free);

#endif
