/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream as a sink of a run: every sample as a line. NDJSON lines go out as samples arrive and are
 * corrected by later ones (docs/stream.md); collapsed lines have no id that a correction could name,
 * and go out when the sample is finished.
 */
#ifndef HOSTPROF_SINK_STREAM_SINK_H
#define HOSTPROF_SINK_STREAM_SINK_H

#include "profile/sink.h"

enum stream_format { STREAM_NDJSON, STREAM_COLLAPSED };

struct stream_options {
	int fd; /* borrowed */
	enum stream_format format;
	/*
	 * There is no recording beside it: turn() fails when the reader has gone, and it has the
	 * profile's tables emptied now and then.
	 */
	bool is_alone;
	size_t buffer_bytes; /* lines that may wait for the reader; 0: 2 MiB */
};

struct stream;

/* -EPIPE: nobody reads FD. */
int stream_new(const struct stream_options *options, struct stream **ret_stream, struct err *err);
void stream_free(struct stream *stream);
DEFINE_CLEANUP(struct stream *, stream_free);

/* STREAM is borrowed for as long as the sink is used. */
struct sink stream_sink(struct stream *stream);

/* Why no line goes out any more: a negative errno; 0: they do. */
int stream_failure(const struct stream *stream);
/* Lines that the reader was too slow for. */
uint64_t stream_lost_lines(const struct stream *stream);

#endif
