/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <unistd.h>

#include "base/log.h"
#include "capture/preflight/preflight.h"
#include "cmd/cmd.h"
#include "cmd/record_args.h"
#include "cmd/record_stats.h"
#include "sink/sums_sink.h"

static int run(const struct record_args *args, struct stream *stream, struct event_sums *sums)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	struct drive_options options = record_args_options(args);
	struct recorder_result result;
	struct err err = { 0 };
	int rc;

	record_args_warn_of_fall_back(args);
	sinks_add(&options.recorder.sinks, sums_sink(sums));
	sinks_add(&options.recorder.sinks, stream_sink(stream));
	rc = drive_run(&options, &result, &err);
	if (rc == -EPIPE && stream_failure(stream) == -EPIPE)
		return CMD_OK; /* as other filters do, quietly */
	if (rc < 0)
		return cmd_fail(&err);
	record_args_tell_status(args, result.exit_status);
	record_stats_format_line(&line, "standard output", &result, sums);
	if (stream_lost_lines(stream))
		strbuf_addf(&line, ", %llu lines lost",
			    (unsigned long long)stream_lost_lines(stream));
	log_info("%s", line.buf);
	return CMD_OK;
}

int cmd_stream(int argc, char **argv)
{
	struct stream_options options = { .fd = STDOUT_FILENO, .is_alone = true };
	struct stream *stream = NULL;
	struct event_sums sums = { 0 };
	struct record_args *args;
	struct err err = { 0 };
	int rc = stream_args_parse(argc, argv, &args);

	if (rc != CMD_CONTINUE)
		return rc;
	drive_hurry(args->command);
	if (preflight_explain(&err) < 0)
		return cmd_fail(&err);
	options.format = args->stream_format;
	rc = stream_new(&options, &stream, &err);
	if (rc < 0)
		return rc == -EPIPE ? CMD_OK : cmd_fail(&err);
	rc = run(args, stream, &sums);
	event_sums_release(&sums);
	stream_free(stream);
	return rc;
}
