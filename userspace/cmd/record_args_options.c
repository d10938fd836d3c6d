/* SPDX-License-Identifier: Apache-2.0 */
/* What a run is told of the arguments, and what of the run is told in their words. */
#include <sys/wait.h>

#include "base/log.h"
#include "cmd/record_args.h"
#include "jvm/jvm.h"

void record_args_warn_of_fall_back(const struct record_args *a)
{
	for (size_t i = 0; i < a->event_names.len; i++)
		if (a->events[i].fell_back)
			log_warn(
				"there is no hardware counter (PMU) here: %s is sampled by cpu-clock",
				a->events[i].name);
}

void record_args_tell_status(const struct record_args *a, int status)
{
	if (!a->command)
		return;
	if (WIFSIGNALED(status))
		log_info("%s ended by signal %d", a->command[0], WTERMSIG(status));
	else if (WEXITSTATUS(status))
		log_info("%s ended with exit code %d", a->command[0], WEXITSTATUS(status));
}

static void tell_attached(uint32_t pid)
{
	log_info("JVM %u: the agent is loaded", pid);
}

static void tell_unseen(uint32_t pid, const char *why)
{
	log_warn("JVM %u: its allocations are not seen: %s", pid, why);
}

struct drive_options record_args_options(const struct record_args *a)
{
	const struct capture_options capture = {
		.events = a->events,
		.event_count = (unsigned int)a->event_names.len,
		.pids = a->pids.items,
		.pid_count = (unsigned int)a->pids.len,
		.cgroup_path = a->cgroup ? a->cgroup_path.buf : NULL,
		.cpus = a->cpus.size ? &a->cpus : NULL,
		.window = a->window,
		.exclude_user = a->view.all_kernel,
		.exclude_kernel = a->view.all_user,
		.include_idle = a->include_idle,
		.max_depth = (uint32_t)a->max_depth,
		.frame_pointers_only = a->frame_pointers_only,
		.tells_wakers = a->tells_wakers,
		.ring_bytes = a->ring_bytes,
	};

	return (struct drive_options){
		.recorder = {
			.capture = capture,
			.agent = a->agent,
			.jvm_frames = a->jvm_frames,
			.jvm_shows = (a->shows_receivers ? JVM_SHOWS_RECEIVERS : 0) |
				     (a->shows_compiling ? JVM_SHOWS_COMPILING : 0),
			.live = a->live,
			.attached = tell_attached,
			.unseen = tell_unseen,
			.memory_limit_bytes = a->memory_limit_bytes,
			.command_line = a->command_line.buf,
			.gives_up_rights = true,
		},
		.duration_ns = a->duration_ns,
		.command = a->command,
		.whole_host = a->all,
	};
}
