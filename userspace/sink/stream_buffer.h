/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines on their way to a reader who may be slow: whole lines into a buffer of a fixed size, from
 * there into a descriptor without ever waiting. What does not fit is lost and counted. Once a line is
 * lost all are, until the buffer is half empty again: the losses of a reader that has stopped are one
 * gap.
 */
#ifndef HOSTPROF_SINK_STREAM_BUFFER_H
#define HOSTPROF_SINK_STREAM_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"

enum stream_line { STREAM_SAMPLE, STREAM_CORRECTION, STREAM_OTHER, STREAM_LINE_KINDS };

struct stream_buffer {
	int fd;		    /* owned; -1 none */
	int old_flags;	    /* of a descriptor that is shared with others; -1: it is not */
	struct strbuf text; /* all lines from `sent` on wait */
	size_t sent;
	size_t limit;
	bool is_losing;
	uint64_t lost[STREAM_LINE_KINDS]; /* since stream_buffer_take_lost() */
	uint64_t lost_lines;		  /* ever */
};

#define STREAM_BUFFER_INIT                \
	{                                 \
		.fd = -1, .old_flags = -1 \
	}

/*
 * FD is borrowed: it is opened anew, so that not waiting is ours alone; what cannot be (a socket)
 * shares that until the release. LIMIT: bytes that may wait. -EPIPE: nobody reads any more.
 */
int stream_buffer_open(struct stream_buffer *buffer, int fd, size_t limit, struct err *err);
/* Lines that still wait are dropped. */
void stream_buffer_release(struct stream_buffer *buffer);

/* False: it is lost, and counted as KIND. */
bool stream_buffer_put(struct stream_buffer *buffer, enum stream_line kind, const char *line,
		       size_t len);

/* Would a line of LEN bytes be taken now? */
bool stream_buffer_has_room(const struct stream_buffer *buffer, size_t len);
/* Lines were lost and there is room again: tell so (in one line, which has room) and go on. */
bool stream_buffer_has_room_again(const struct stream_buffer *buffer);
/* What was lost until now, by kind; the buffer takes lines again. */
void stream_buffer_take_lost(struct stream_buffer *buffer, uint64_t ret_lost[STREAM_LINE_KINDS]);

/* Write what the reader takes now. -EPIPE when it has gone, also while nothing waits. */
int stream_buffer_send(struct stream_buffer *buffer);
/* Write all; gives up when the reader takes nothing for WAIT_NS: -ETIMEDOUT. */
int stream_buffer_send_all(struct stream_buffer *buffer, uint64_t wait_ns);

#endif
