/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/drive/drive.h"

#include <errno.h>
#include <signal.h>

#include "base/clock.h"
#include "cmd/drive/command.h"
#include "cmd/drive/priority.h"
#include "cmd/drive/targets.h"

#define PROGRESS_NS (500 * NSEC_PER_MSEC)

struct drive {
	const struct drive_options *options;
	struct recorder_options recorder_options; /* those of `options`, or for the command */
	uint32_t command_pid;
	struct loop *loop;
	struct recorder *recorder;
	struct command command;
	struct targets targets;
	uint64_t start_ns;
	bool interrupted;
	void (*old_sigpipe)(int), (*old_sigxfsz)(int);
};

static void on_progress(void *data)
{
	struct drive *drive = data;
	struct drive_progress progress = { .elapsed_ns = clock_now_ns() - drive->start_ns,
					   .duration_ns = drive->options->duration_ns };

	recorder_get_figures(drive->recorder, &progress.figures);
	drive->options->progress(&progress);
}

static void on_deadline(void *data)
{
	struct drive *drive = data;

	loop_quit(drive->loop);
}

static void on_signal(int signo, void *data)
{
	struct drive *drive = data;

	if (signo == SIGCHLD && !command_reap(&drive->command))
		return;
	drive->interrupted |= signo != SIGCHLD;
	loop_quit(drive->loop);
}

static void on_target(void *data)
{
	struct drive *drive = data;

	if (!targets_look(&drive->targets))
		loop_quit(drive->loop);
}

/* With none of them left there is nothing to wait for; whoever gets one of their pids is another process. */
static int watch_targets(struct drive *drive, struct err *err)
{
	const struct capture_options *capture = &drive->recorder_options.capture;
	int r = targets_watch(&drive->targets, capture->pids, capture->pid_count, err);

	if (r == 0 && !drive->targets.left)
		return loop_add_deadline(drive->loop, drive->start_ns, on_deadline, drive, err);
	return r < 0 ? r : loop_add_fd(drive->loop, drive->targets.epoll_fd, on_target, drive, err);
}

/*
 * The command is forked first: its pid is a target before it runs, and neither our priority nor what
 * we do with signals is its own.
 */
static int prepare_command(struct drive *drive, struct err *err)
{
	struct capture_options *capture = &drive->recorder_options.capture;
	int r = command_prepare(&drive->command, drive->options->command, err);

	if (r < 0 || drive->options->whole_host)
		return r;
	drive->command_pid = (uint32_t)drive->command.pid;
	capture->pids = &drive->command_pid;
	capture->pid_count = 1;
	capture->follow_children = true;
	return 0;
}

static int open_all(struct drive *drive, struct err *err)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD };
	int r = loop_new(&drive->loop, err);

	if (r == 0 && drive->options->command)
		r = prepare_command(drive, err);
	priority_raise();
	/* Of a reader that left, and of a file at its limit (RLIMIT_FSIZE), write() tells, too. */
	drive->old_sigpipe = signal(SIGPIPE, SIG_IGN);
	drive->old_sigxfsz = signal(SIGXFSZ, SIG_IGN);
	if (r == 0)
		r = recorder_open(&drive->recorder_options, drive->loop, &drive->recorder, err);
	if (r == 0)
		r = loop_add_signals(drive->loop, signals, ARRAY_SIZE(signals), on_signal, drive,
				     err);
	if (r == 0 && drive->options->progress)
		r = loop_add_timer(drive->loop, PROGRESS_NS, on_progress, drive, err);
	return r < 0 ? r : 0;
}

/* What was sampled until something failed is kept, too. */
static int run(struct drive *drive, struct recorder_result *ret_result, struct err *err)
{
	const struct drive_options *options = drive->options;
	struct err finish_err = { 0 };
	int r = 0, finished;

	recorder_start(drive->recorder);
	drive->start_ns = clock_now_ns();
	if (options->command)
		r = command_go(&drive->command, options->command[0], err);
	else if (drive->recorder_options.capture.pid_count)
		r = watch_targets(drive, err);
	if (r == 0 && options->duration_ns)
		r = loop_add_deadline(drive->loop, drive->start_ns + options->duration_ns,
				      on_deadline, drive, err);
	if (r >= 0)
		r = loop_run(drive->loop, err);
	priority_restore();
	finished = recorder_finish(drive->recorder, ret_result, r < 0 ? &finish_err : err);
	return r < 0 ? r : finished;
}

void drive_hurry(char *const *command)
{
	if (!command)
		priority_raise();
}

int drive_run(const struct drive_options *options, struct recorder_result *ret_result,
	      struct err *err)
{
	struct drive drive = { .options = options,
			       .recorder_options = options->recorder,
			       .command = COMMAND_INIT,
			       .targets = TARGETS_INIT };
	struct recorder_result result;
	int r = open_all(&drive, err);

	if (r == 0)
		r = run(&drive, &result, err);
	if (r == 0) {
		*ret_result = result;
		ret_result->interrupted = drive.interrupted;
		ret_result->exit_status = drive.command.exit_status;
	}
	priority_restore();
	recorder_free(drive.recorder);
	command_release(&drive.command);
	loop_free(drive.loop);
	targets_release(&drive.targets);
	signal(SIGPIPE, drive.old_sigpipe);
	signal(SIGXFSZ, drive.old_sigxfsz);
	return r;
}
