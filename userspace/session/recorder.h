/* SPDX-License-Identifier: Apache-2.0 */
/* One recording run, from preflight to the last flush: the only place that wires everything. */
#ifndef HOSTPROF_SESSION_RECORDER_H
#define HOSTPROF_SESSION_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "capture/capture.h"
#include "profile/profile.h"
#include "session/ledger.h"

enum recorder_agent_mode { RECORDER_AGENT_AUTO, RECORDER_AGENT_ALWAYS, RECORDER_AGENT_NEVER };

struct recorder_progress {
	uint64_t elapsed_ns, duration_ns;
	uint64_t samples, lost;
	uint32_t processes, jvms;
};

struct recorder_options {
	struct capture_options capture;
	uint64_t duration_ns; /* 0: until a signal, or until the command ends */
	char *const *command; /* NULL-terminated argv to start and profile; NULL: none */
	bool whole_host;      /* with a command: profile all processes until it ends */
	enum recorder_agent_mode agent;
	uint64_t flush_ns;    /* 0: 1 s */
	uint64_t chunk_bytes; /* a longer chunk is ended at the next flush; 0: the default */
	uint64_t chunk_ns;
	uint64_t memory_limit_bytes; /* 0: the default; see session/memory_plan.h */
	const char *command_line;    /* ours, for the recording */
	/* Called about twice a second for progress; may be NULL. */
	void (*progress)(const struct recorder_progress *progress);
};

/* The run's figures: the last line, and --stats. */
struct recorder_result {
	uint64_t samples, complete;
	uint64_t lost; /* dropped, for any reason; of unknown processes too */
	struct ledger_loss losses[WIRE_LOSS_COUNT];
	uint64_t start_ns; /* CLOCK_MONOTONIC: sampling began */
	uint64_t elapsed_ns;
	uint32_t processes, jvms, jvms_with_agent;
	/* JVMs whose agent could not be used, and why in the first of them. */
	uint32_t agents_refused;
	uint32_t refused_pid;
	char refusal[384];
	int exit_status;  /* of the command, as waitpid() gives it; 0 without one */
	bool interrupted; /* by a signal */
	struct capture_stats capture;
	uint64_t own_cpu_ns;
	uint64_t peak_rss_bytes, memory_limit_bytes;
	uint64_t reasons[UNWIND_REASON_COUNT];
	uint64_t late_samples;	 /* came behind the watermark */
	uint64_t merge_stall_ns; /* waited for images */
};

/*
 * Record into FD (a JFR file, written from its start). Signals SIGINT, SIGTERM and SIGCHLD are
 * handled inside. Returns 0 also when interrupted; what was taken is written.
 */
int recorder_run(const struct recorder_options *options, int fd, struct recorder_result *ret_result,
		 struct err *err);

#endif
