/* SPDX-License-Identifier: Apache-2.0 */
/* What the command line of `record` or `stream` says, checked as far as that needs no privilege. */
#ifndef HOSTPROF_CMD_RECORD_ARGS_H
#define HOSTPROF_CMD_RECORD_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "capture/cpu_list.h"
#include "capture/event.h"
#include "cmd/drive/drive.h"
#include "cmd/event_args.h"
#include "cmd/view_flags.h"
#include "sink/stream_sink.h"
#include "wire.h"

struct record_args {
	bool all;
	VEC(uint32_t) pids;
	const char *cgroup;
	struct cpu_list cpus; /* size 0: all */
	char **command;	      /* borrowed from argv, NULL-terminated; NULL: none */

	VEC(const char *) event_names;
	struct capture_event events[WIRE_MAX_EVENTS];
	struct event_window_args window_args;
	struct capture_window window; /* of these */
	uint64_t freq_hz, duration_ns;
	uint64_t max_depth, ring_bytes, memory_limit_bytes;
	uint64_t chunk_bytes, chunk_ns;
	bool include_idle;
	enum recorder_agent_mode agent;
	bool frame_pointers_only;
	bool jvm_frames, shows_receivers, shows_compiling;
	enum live_mode live;
	bool tells_wakers;

	struct view_flags view;
	bool debuginfod;
	const char *stats_path;
	enum stream_format stream_format;

	struct strbuf cgroup_path;  /* of `cgroup`, absolute */
	struct strbuf command_line; /* ours */
};

/* Parse argv into *RET_ARGS. CMD_CONTINUE, or the exit code to return. */
int record_args_parse(int argc, char **argv, struct record_args **ret_args);
int stream_args_parse(int argc, char **argv, struct record_args **ret_args);

/* Events that are sampled otherwise than they say. */
void record_args_warn_of_fall_back(const struct record_args *args);
/* How the command ended (as waitpid() gives it), unless well or there is none. */
void record_args_tell_status(const struct record_args *args, int status);

/* What the run needs, but for its sinks; borrows from ARGS. */
struct drive_options record_args_options(const struct record_args *args);

#endif
