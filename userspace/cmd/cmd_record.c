/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/out/out_rights.h"
#include "base/rights.h"
#include "base/units.h"
#include "capture/preflight/preflight.h"
#include "cmd/cmd.h"
#include "cmd/record_args.h"
#include "cmd/record_output.h"
#include "cmd/record_stats.h"
#include "cmd/record_stream.h"
#include "cmd/view/view_debuginfod.h"
#include "output/text/view_text.h"
#include "recording/recording.h"
#include "session/probes/jvm_phase.h"
#include "sink/recording_sink.h"
#include "sink/sums_sink.h"

struct record_run {
	const struct record_args *args; /* borrowed */
	struct record_output output;
	struct recorder_result result;
	struct recording_shortage shortage;
	struct event_sums sums;
	struct profile profile; /* the recording, read back */
	struct debuginfod debuginfod;
};

/* What samples go to beside the recording, when its option is given. */
static struct sink_option *const offered[] = { &record_stream };

#define CLEAR_LINE "\r\033[K"

/* One line that is written over and over; only for terminals. */
static void show_progress(const struct drive_progress *progress)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

	strbuf_addstr(&line, CLEAR_LINE);
	units_format_duration(&line, progress->elapsed_ns / 100000000 * 100000000);
	if (progress->duration_ns) {
		strbuf_addstr(&line, " of ");
		units_format_duration(&line, progress->duration_ns);
	}
	strbuf_addstr(&line, ": ");
	units_format_count(&line, progress->figures.samples);
	strbuf_addf(&line, " samples, %u processes, %u JVMs, ", progress->figures.processes,
		    progress->figures.jvms);
	units_format_count(&line, progress->figures.lost);
	strbuf_addstr(&line, " lost");
	file_write_all(STDERR_FILENO, line.buf, line.len);
}

static void clear_progress(void)
{
	if (isatty(STDERR_FILENO))
		file_write_all(STDERR_FILENO, CLEAR_LINE, strlen(CLEAR_LINE));
}

static int read_back(struct record_run *run, struct err *err)
{
	const struct recording_read_options options = { .merge = true,
							.lock_owners =
								run->args->view.lock_owners };
	bool truncated;

	if (lseek(run->output.file.fd, 0, SEEK_SET) < 0)
		return err_sys(err, -errno, "cannot read the recording");
	return recording_read(run->output.file.fd, &options, &run->profile, &truncated, err);
}

/* A recording that failed stays when there is something in it. */
static void keep_or_drop(struct record_run *run, struct err *err)
{
	struct err ignored;

	if (read_back(run, &ignored) < 0 || !run->profile.samples.len)
		record_output_drop(&run->output);
	else
		record_output_keep(&run->output, err);
}

static int take_samples(struct record_run *run, struct err *err)
{
	struct drive_options options = record_args_options(run->args);
	struct recording_writer *writer;
	int rc = recording_writer_new(run->output.file.fd, &writer, err);

	if (rc < 0)
		return rc;
	recording_writer_limit_chunks(writer, run->args->chunk_bytes, run->args->chunk_ns);
	sinks_add(&options.recorder.sinks, sums_sink(&run->sums));
	sinks_add(&options.recorder.sinks, recording_sink(writer));
	if (isatty(STDERR_FILENO))
		options.progress = show_progress;
	for (size_t i = 0; i < ARRAY_SIZE(offered); i++)
		if (offered[i]->target)
			sinks_add(&options.recorder.sinks, offered[i]->sink);
	options.recorder.other_rights |=
		out_rights_for(run->output.path) | out_rights_for(run->args->stats_path);
	if (run->args->debuginfod)
		options.recorder.other_rights |= RIGHTS_TO_LEAVE;
	rc = drive_run(&options, &run->result, err);
	recording_writer_get_shortage(writer, &run->shortage);
	recording_writer_free(writer);
	clear_progress();
	if (rc < 0)
		keep_or_drop(run, err);
	return rc;
}

/* Everything that is made from the recording once it has ended. */
static int write_results(struct record_run *run, struct err *err)
{
	const struct record_args *args = run->args;
	struct view_options options = view_flags_options(&args->view);
	bool summary = !run->output.is_named;
	int rc = 0;

	if (summary || args->stats_path || run->output.format->write)
		rc = read_back(run, err);
	if (!rc && args->debuginfod)
		rc = view_debuginfod(&run->profile, &run->debuginfod, err);
	if (!rc)
		view_flags_apply(&args->view, &run->profile);
	if (!rc)
		rc = record_output_write(&run->output, &run->profile, &options, err);
	if (!rc && args->stats_path)
		rc = record_stats_write(args->stats_path, &run->result, &run->profile, err);
	if (!rc && summary)
		rc = view_text_write_summary(&run->profile, &options, stdout, err);
	if (!rc && fflush(stdout))
		rc = err_sys(err, -errno, "cannot write standard output");
	return rc;
}

/*
 * A reader of standard output that has gone ends us as it ends others, but not before what is beside the
 * output is away.
 */
static int write_results_or_pipe(struct record_run *run, struct err *err)
{
	void (*old_sigpipe)(int) = signal(SIGPIPE, SIG_IGN);
	int rc = write_results(run, err);

	signal(SIGPIPE, old_sigpipe);
	if (rc == -EPIPE) {
		record_output_release(&run->output);
		raise(SIGPIPE);
	}
	return rc;
}

static void tell_leftover(const struct record_run *run)
{
	if (run->output.leftover)
		log_warn("%s is of a recording that was killed; hostprof report reads it",
			 run->output.leftover);
}

static void tell_left_out(const struct recorder_result *result)
{
	if (result->symbols_left_out)
		log_warn("%s: functions without names%s; a larger --memory-limit has them",
			 result->left_out,
			 result->symbols_left_out > 1 ? ", of other files, too (see the report)"
						      : "");
}

static void tell_refusals(const struct recorder_result *result)
{
	if (result->agents_refused)
		log_warn("JVM %u: %s%s; its code is named from outside", result->refused_pid,
			 result->refusal,
			 result->agents_refused > 1 ? " (and other JVMs, see the report)" : "");
}

/* Java releases whose VMStructs do not say where it is. */
static void tell_inlining(const struct recorder_result *result)
{
	if (result->jvms_without_inlining)
		log_info("%u JVM%s not tell from outside what was inlined; --agent=always shows it",
			 result->jvms_without_inlining,
			 result->jvms_without_inlining > 1 ? "s do" : " does");
}

static void tell_live(const struct recorder_result *result)
{
	if (result->live_missing)
		log_warn("JVM %u: it did not say in time which objects are alive%s",
			 result->live_missing_pid,
			 result->live_missing > 1 ? " (nor did others, see the report)" : "");
}

static void tell_unanswered(const struct recorder_result *result)
{
	const struct wall_figures *wall = &result->wall;

	if (wall->late)
		log_warn(
			"process %u (%s) did not let its memory or files be read in time%s; its frames may lack names, or be missing",
			wall->first_pid, wall->first_comm,
			wall->late > 1 ? " (and later again, or others)" : "");
}

static void tell_unread(const struct recorder_result *result)
{
	const struct reader_figures *readers = &result->readers;

	if (readers->refused)
		log_warn("%s%s could not be read: what reads it died, or did not get done in time",
			 readers->first, readers->refused > 1 ? " (and others)" : "");
}

static void tell_phases(const struct record_run *run)
{
	const struct record_args *args = run->args;

	for (size_t i = 0; i < args->event_names.len; i++) {
		enum jvm_phase phase = jvm_phase_of(&args->events[i]);

		if (phase < JVM_PHASE_COUNT && !(run->result.phases_seen & 1U << phase))
			log_warn("no %s were seen: no JVM was found that has probes of them",
				 jvm_phase_title(phase));
	}
}

/* "0 samples" would be read as if nothing had been allocated. */
static void tell_allocations(const struct record_run *run)
{
	const struct record_args *args = run->args;

	for (size_t i = 0; i < args->event_names.len; i++)
		if (capture_event_is_alloc(&args->events[i]) && !run->result.alloc_sources)
			log_warn("no allocations were seen: no JVM was found that tells of them");
		else if (capture_event_is_lock(&args->events[i]) && !run->result.sees_locks)
			log_warn("no locks were seen: no JVM was found that tells of them");
		else if (capture_event_is_malloc(&args->events[i]) && !run->result.malloc_files)
			log_warn("no native memory was seen: no file has functions that give it, "
				 "or they could not be probed (see the report)");
}

static void tell_gaps(const struct capture_stats *capture)
{
	_cleanup_strbuf_ struct strbuf unobserved = STRBUF_INIT, suspended = STRBUF_INIT;

	units_format_duration(&unobserved, capture->unobserved_ns);
	units_format_duration(&suspended, capture->suspended_ns);
	if (capture->unobserved_times)
		log_warn("cpus went offline and came back: up to %s of them were not observed",
			 unobserved.buf);
	if (capture->throttled_times)
		log_warn(
			"the kernel stopped events %llu times that came too fast (kernel.perf_event_max_sample_rate)",
			(unsigned long long)capture->throttled_times);
	if (capture->suspended_ns)
		log_warn("the host was suspended for %s", suspended.buf);
}

/* Less is the rule where events of several programs share counters, or at the start of an event whose period is looked for. */
#define UNSEEN_PERCENT 3

static uint64_t percent(uint64_t part, uint64_t whole)
{
	return whole ? (uint64_t)(100.0 * (double)part / (double)whole) : 0;
}

static void tell_unseen(const char *name, const struct capture_event_figures *figures)
{
	uint64_t unseen = percent(figures->unseen, figures->counted);
	uint64_t stood = percent(figures->enabled_ns - figures->running_ns, figures->enabled_ns);

	if (unseen >= UNSEEN_PERCENT)
		log_warn(
			"%llu %% of what '%s' counted is in no sample: it came too fast, or other BPF programs were running",
			(unsigned long long)unseen, name);
	if (stood >= UNSEEN_PERCENT)
		log_warn(
			"'%s' did not count for %llu %% of the time: there are more events than the cpu has counters",
			name, (unsigned long long)stood);
}

static void tell_shortage(const struct recording_shortage *shortage)
{
	_cleanup_strbuf_ struct strbuf count = STRBUF_INIT;

	if (!shortage->was_met)
		return;
	units_format_count(&count, shortage->dropped);
	if (shortage->dropped)
		log_warn("the disk was full for a while: %s samples were not written", count.buf);
	else
		log_warn("the disk was full for a while; no sample was lost");
}

static void tell_figures(const struct record_run *run)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	bool to_stdout = !strcmp(run->output.path, "-");

	record_args_tell_status(run->args, run->result.exit_status);
	tell_refusals(&run->result);
	tell_left_out(&run->result);
	tell_inlining(&run->result);
	tell_live(&run->result);
	tell_unanswered(&run->result);
	tell_unread(&run->result);
	tell_gaps(&run->result.capture);
	for (size_t i = 0; i < run->args->event_names.len; i++)
		tell_unseen(run->args->events[i].name, &run->result.capture.events[i]);
	tell_shortage(&run->shortage);
	tell_allocations(run);
	tell_phases(run);
	record_stats_format_line(&line, to_stdout ? "standard output" : run->output.path,
				 &run->result, &run->sums);
	log_info("%s", line.buf);
}

static int check_stats_path(const char *path, struct err *err)
{
	struct outfile out;
	int rc = path ? outfile_open(path, &out, err) : 0;

	if (!rc && path)
		outfile_release(&out);
	return rc;
}

static int open_sinks(struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(offered); i++) {
		struct sink_option *option = offered[i];
		int rc = option->target ? option->open(option->target, &option->sink, err) : 0;

		if (rc < 0)
			return rc;
	}
	return 0;
}

static void tell_sinks(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(offered); i++)
		if (offered[i]->target)
			offered[i]->tell(offered[i]->target, offered[i]->sink.self);
}

static void free_sinks(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(offered); i++)
		if (offered[i]->sink.ops)
			offered[i]->free(offered[i]->sink.self);
}

static int record_run(struct record_run *run)
{
	struct err err = { 0 };

	drive_hurry(run->args->command);
	/* First of all: an output that is there stays as it is when recording is refused. */
	if (preflight_explain(&err) < 0)
		return cmd_fail(&err);
	if (run->args->debuginfod && debuginfod_begin(&run->debuginfod, &err) < 0) {
		log_err(&err);
		return CMD_FAILED;
	}
	if (record_output_open(&run->output, &err) < 0 ||
	    check_stats_path(run->args->stats_path, &err) < 0) {
		log_err(&err);
		return CMD_FAILED;
	}
	if (open_sinks(&err) < 0) {
		log_err(&err);
		return CMD_FAILED;
	}
	record_args_warn_of_fall_back(run->args);
	tell_leftover(run);
	if (take_samples(run, &err) < 0)
		return cmd_fail(&err);
	if (write_results_or_pipe(run, &err) < 0) {
		log_err(&err);
		return CMD_FAILED;
	}
	tell_sinks();
	tell_figures(run);
	return CMD_OK;
}

/* What has no names keeps its addresses in a recording, for whoever reads it. */
static int check_debuginfod(const struct record_run *run, struct err *err)
{
	if (!run->args->debuginfod || !run->output.is_named || run->output.format->write)
		return 0;
	err_set(err, -EINVAL, "--debuginfod is for views; %s is a recording", run->output.path);
	return err_hint(err, "give it to hostprof report");
}

int cmd_record(int argc, char **argv)
{
	struct record_args *args;
	struct record_run run = { .output = RECORD_OUTPUT_INIT, .debuginfod.socket = -1 };
	struct err err;
	int rc = record_args_parse(argc, argv, &args);

	if (rc != CMD_CONTINUE)
		return rc;
	run.args = args;
	if (record_output_init(&args->view, &run.output, &err) < 0 ||
	    check_debuginfod(&run, &err) < 0)
		return cmd_usage_error(&err);
	profile_init(&run.profile);
	rc = record_run(&run);
	debuginfod_end(&run.debuginfod);
	profile_release(&run.profile);
	event_sums_release(&run.sums);
	free_sinks();
	record_output_release(&run.output);
	return rc;
}
