/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a run: the last line for people, --stats for programs. */
#ifndef HOSTPROF_CMD_RECORD_STATS_H
#define HOSTPROF_CMD_RECORD_STATS_H

#include "base/strbuf.h"
#include "profile/profile.h"
#include "session/recorder.h"
#include "sink/sums_sink.h"

/*
 * "out.jfr: 12,345 samples, 40 processes, 2 JVMs (1 with agent), 99.98 % complete, 0 lost"; of several
 * events, or bytes, "5,369 cpu samples, 1,203 alloc samples (1.2 GB), 40 processes, …".
 */
void record_stats_format_line(struct strbuf *line, const char *path,
			      const struct recorder_result *result, const struct event_sums *sums);

/* All figures as JSON to PATH ("-": standard output). PROFILE is the recording, read back. */
int record_stats_write(const char *path, const struct recorder_result *result,
		       const struct profile *profile, struct err *err);

#endif
