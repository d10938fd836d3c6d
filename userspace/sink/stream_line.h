/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of a stream as text, each with its newline at the end; docs/stream.md says what is in
 * them. Whatever a name holds, a line is one line.
 */
#ifndef HOSTPROF_SINK_STREAM_LINE_H
#define HOSTPROF_SINK_STREAM_LINE_H

#include "base/strbuf.h"
#include "profile/sink.h"

/* The schema's version; it grows with a change that could surprise a reader, not with more keys. */
#define STREAM_VERSION 1

/*
 * Frames as text, made once for each that a profile has; empty at first (zeros) and again after
 * stream_frames_release(), which an emptied profile asks for.
 */
struct stream_frames {
	struct intern texts;
	struct hmap by_id; /* frame id -> text */
	bool is_open;
};

void stream_frames_release(struct stream_frames *frames);

void stream_line_begin(struct strbuf *out, const struct profile *profile);
void stream_line_process(struct strbuf *out, uint64_t number, const struct sink_process *process);
void stream_line_thread(struct strbuf *out, uint64_t number, uint64_t process,
			const struct sink_sample *sample);
/* THREAD: its number. */
void stream_line_sample(struct strbuf *out, struct stream_frames *frames,
			const struct profile *profile, const struct sink_sample *sample,
			uint64_t thread);
void stream_line_correction(struct strbuf *out, struct stream_frames *frames,
			    const struct profile *profile, const struct sink_sample *sample,
			    uint64_t thread);
void stream_line_life(struct strbuf *out, const struct sink_process_event *event);
void stream_line_loss(struct strbuf *out, const struct sink_loss *loss);
void stream_line_lost_lines(struct strbuf *out, uint64_t samples, uint64_t corrections,
			    uint64_t others);
void stream_line_end(struct strbuf *out, uint64_t time_ns, const struct sink_sums *sums,
		     uint64_t lost_lines);

/* "process-PID;root;…;leaf WEIGHT", as `report -f collapsed --total` writes it. */
void stream_line_collapsed(struct strbuf *out, const struct profile *profile,
			   const struct sink_sample *sample);

#endif
