/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/stream_sink.h"

#include <errno.h>

#include "base/clock.h"
#include "sink/stream_buffer.h"
#include "sink/stream_line.h"

/* 0.2 s of two busy cpus at 1 kHz, beyond the pipe's 1 MiB. */
#define DEFAULT_BUFFER_BYTES (4 << 20)
/* At the end, for a reader that has stopped. */
#define END_WAIT_NS NSEC_PER_SEC
/* Threads and processes that were announced; beyond, they are so anew. */
#define MAX_ANNOUNCED 65536
/* With what finds their entries twice as much; --memory-limit is shared out for little more. */
#define MAX_TABLE_BYTES	    (4 << 20)
#define MAX_TABLE_PROCESSES 4096

struct announced {
	uint64_t number;
	uint64_t labels; /* a hash of what was told of a process */
};

struct stream {
	struct stream_options options;
	struct stream_buffer buffer;
	struct stream_frames frames;
	struct strbuf line;
	bool whole_host;
	bool may_wait; /* for the reader: nothing is sampled any more */
	int failure;
	uint64_t last_number;	     /* of threads and processes */
	struct hmap processes;	     /* hash of the generation -> index */
	VEC(struct announced) known; /* of processes */
	struct hmap threads;	     /* hash of generation, tid and name -> number */
	struct hmap pids;	     /* of processes that were told of, unless all are */
};

int stream_new(const struct stream_options *options, struct stream **ret_stream, struct err *err)
{
	struct stream *stream = xcalloc(1, sizeof(*stream));
	size_t bytes = options->buffer_bytes ? options->buffer_bytes : DEFAULT_BUFFER_BYTES;
	int r;

	stream->options = *options;
	r = stream_buffer_open(&stream->buffer, options->fd, bytes, err);
	if (r < 0) {
		stream_free(stream);
		return r;
	}
	*ret_stream = stream;
	return 0;
}

void stream_free(struct stream *stream)
{
	if (!stream)
		return;
	stream_buffer_release(&stream->buffer);
	stream_frames_release(&stream->frames);
	strbuf_release(&stream->line);
	hmap_release(&stream->processes);
	vec_release(&stream->known);
	hmap_release(&stream->threads);
	hmap_release(&stream->pids);
	free(stream);
}

int stream_failure(const struct stream *stream)
{
	return stream->failure;
}

uint64_t stream_lost_lines(const struct stream *stream)
{
	return stream->buffer.lost_lines;
}

/* --- lines --- */

/* Before any other line, as soon as there is room: how many there were none for. */
static void tell_lost_lines(struct stream *stream)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	uint64_t lost[STREAM_LINE_KINDS];

	if (!stream_buffer_has_room_again(&stream->buffer))
		return;
	stream_buffer_take_lost(&stream->buffer, lost);
	if (stream->options.format == STREAM_COLLAPSED)
		strbuf_addf(&line, "# lost_lines %llu\n", (unsigned long long)lost[STREAM_SAMPLE]);
	else
		stream_line_lost_lines(&line, lost[STREAM_SAMPLE], lost[STREAM_CORRECTION],
				       lost[STREAM_OTHER]);
	stream_buffer_put(&stream->buffer, STREAM_OTHER, line.buf, line.len);
}

/* One that takes nothing is not waited for again. */
static void wait_for_room(struct stream *stream)
{
	if (stream->may_wait && !stream_buffer_has_room(&stream->buffer, stream->line.len))
		stream->may_wait = stream_buffer_send_all(&stream->buffer, END_WAIT_NS) == 0;
}

/* The line that was made in stream->line. False: it is lost. */
static bool put_line(struct stream *stream, enum stream_line kind)
{
	bool is_put;

	wait_for_room(stream);
	tell_lost_lines(stream);
	is_put = stream_buffer_put(&stream->buffer, kind, stream->line.buf, stream->line.len);
	strbuf_reset(&stream->line);
	return is_put;
}

static void forget_announced(struct stream *stream)
{
	hmap_clear(&stream->processes);
	hmap_clear(&stream->threads);
	stream->known.len = 0;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	uint64_t both[2] = { hash, hash_bytes(text, strlen(text)) };

	return hash_bytes(both, sizeof(both));
}

static uint64_t hash_generation(const struct sink_process *process)
{
	uint64_t key[3] = { process->pid, process->exec_id, process->start_ns };

	return hash_bytes(key, sizeof(key));
}

static uint64_t hash_labels(const struct sink_process *process)
{
	uint64_t hash = hash_text(0, process->name);

	hash = hash_text(hash, process->exe);
	hash = hash_text(hash, process->container_id);
	hash = hash_text(hash, process->cgroup);
	hash = hash_text(hash, process->jvm_version);
	hash = hash_text(hash, process->container_name);
	hash = hash_text(hash, process->container_image);
	return hash_text(hash, process->main_class);
}

/*
 * The number of a process, which is told of when it is new, or when IS_FINAL and it has other labels
 * than were told. A line that is lost has told nothing.
 */
static uint64_t announce_process(struct stream *stream, const struct sink_process *process,
				 bool is_final)
{
	uint64_t key = hash_generation(process), labels = hash_labels(process), at;
	bool is_known = hmap_get(&stream->processes, key, &at);
	uint64_t number = is_known ? stream->known.items[at].number : ++stream->last_number;

	if (is_known && (!is_final || stream->known.items[at].labels == labels))
		return number;
	stream_line_process(&stream->line, number, process);
	if (!put_line(stream, STREAM_OTHER))
		return number;
	if (!stream->whole_host)
		hmap_put(&stream->pids, process->pid, 1);
	if (!is_known) {
		hmap_put(&stream->processes, key, stream->known.len);
		at = stream->known.len;
		vec_push(&stream->known, (struct announced){ .number = number });
	}
	stream->known.items[at].labels = labels;
	return number;
}

/* A thread with another name is another thread, and so is each virtual one. */
static uint64_t announce_thread(struct stream *stream, const struct sink_sample *sample,
				bool is_final)
{
	uint64_t process, number;
	uint64_t key[3] = { hash_generation(sample->process), sample->tid,
			    sample->is_virtual ? sample->java_tid : 0 };
	uint64_t hash = hash_text(hash_bytes(key, sizeof(key)), sample->thread);

	if (stream->threads.len >= MAX_ANNOUNCED || stream->known.len >= MAX_ANNOUNCED)
		forget_announced(stream);
	process = announce_process(stream, sample->process, is_final);
	if (hmap_get(&stream->threads, hash, &number))
		return number;
	number = ++stream->last_number;
	stream_line_thread(&stream->line, number, process, sample);
	if (put_line(stream, STREAM_OTHER))
		hmap_put(&stream->threads, hash, number);
	return number;
}

/* --- ops --- */

static int sink_begin(void *self, const struct profile *profile, bool whole_host, struct err *err)
{
	struct stream *stream = self;

	(void)err;
	stream->whole_host = whole_host;
	if (stream->options.format == STREAM_COLLAPSED)
		strbuf_addf(&stream->line, "# hostprof-stream %d collapsed\n", STREAM_VERSION);
	else
		stream_line_begin(&stream->line, profile);
	put_line(stream, STREAM_OTHER);
	return 0;
}

static void sink_arrived(void *self, const struct profile *profile,
			 const struct sink_sample *sample)
{
	struct stream *stream = self;
	uint64_t thread;

	if (stream->failure)
		return;
	thread = announce_thread(stream, sample, false);
	stream_line_sample(&stream->line, &stream->frames, profile, sample, thread);
	put_line(stream, STREAM_SAMPLE);
}

static void sink_finished(void *self, const struct profile *profile,
			  const struct sink_sample *sample, enum sink_finish finish)
{
	struct stream *stream = self;
	uint64_t thread;

	if (stream->failure)
		return;
	if (finish == SINK_SAME) {
		announce_process(stream, sample->process, true);
		return;
	}
	thread = announce_thread(stream, sample, true);
	stream_line_correction(&stream->line, &stream->frames, profile, sample, thread);
	put_line(stream, STREAM_CORRECTION);
}

static void sink_finished_collapsed(void *self, const struct profile *profile,
				    const struct sink_sample *sample, enum sink_finish finish)
{
	struct stream *stream = self;

	(void)finish;
	/* Their bytes are among those of the allocations, and no line says which it is. */
	if (stream->failure || sample->age)
		return;
	stream_line_collapsed(&stream->line, profile, sample);
	put_line(stream, STREAM_SAMPLE);
}

static void sink_ending(void *self)
{
	struct stream *stream = self;

	stream->may_wait = true;
}

/* All are told of a whole host; else processes that have samples, and their children. */
static bool is_told_of(struct stream *stream, const struct sink_process_event *event)
{
	uint64_t known;

	if (stream->whole_host)
		return true;
	if (event->life == SINK_EXITED)
		return hmap_remove(&stream->pids, event->pid);
	if (event->life == SINK_EXECED)
		return hmap_get(&stream->pids, event->pid, &known);
	if (!hmap_get(&stream->pids, event->ppid, &known))
		return false;
	hmap_put(&stream->pids, event->pid, 1);
	return true;
}

static void sink_process(void *self, const struct sink_process_event *event)
{
	struct stream *stream = self;

	if (stream->failure || !is_told_of(stream, event))
		return;
	stream_line_life(&stream->line, event);
	put_line(stream, STREAM_OTHER);
}

static void sink_lost(void *self, const struct sink_loss *loss)
{
	struct stream *stream = self;

	if (stream->failure)
		return;
	if (stream->options.format == STREAM_COLLAPSED)
		strbuf_addf(&stream->line, "# lost %llu\n", (unsigned long long)loss->samples);
	else
		stream_line_loss(&stream->line, loss);
	put_line(stream, STREAM_OTHER);
}

/* A stream beside a recording ends alone. */
static int note_failure(struct stream *stream, int r, struct err *err)
{
	if (r < 0 && !stream->failure)
		stream->failure = r;
	if (!stream->failure || !stream->options.is_alone)
		return 0;
	return err_sys(err, stream->failure, "cannot write the stream");
}

static int sink_turn(void *self, struct err *err)
{
	struct stream *stream = self;
	int r = 0;

	if (!stream->failure) {
		r = stream_buffer_send(&stream->buffer);
		tell_lost_lines(stream);
	}
	return note_failure(stream, r, err);
}

static bool sink_wants_rotation(const void *self, const struct profile *profile)
{
	const struct stream *stream = self;
	size_t bytes = profile->strings.bytes + profile->frames.bytes + profile->stacks.bytes;

	return stream->options.is_alone &&
	       (bytes >= MAX_TABLE_BYTES || intern_len(&profile->processes) >= MAX_TABLE_PROCESSES);
}

static int sink_rotate(void *self, struct profile *profile, struct err *err)
{
	struct stream *stream = self;

	(void)profile, (void)err;
	stream_frames_release(&stream->frames);
	return 0;
}

static int sink_end(void *self, struct profile *profile, const struct sink_sums *sums,
		    struct err *err)
{
	struct stream *stream = self;
	int r = stream->failure;

	(void)profile;
	if (!r)
		r = stream_buffer_send_all(&stream->buffer, END_WAIT_NS);
	if (!r) {
		tell_lost_lines(stream);
		if (stream->options.format == STREAM_COLLAPSED)
			strbuf_addf(&stream->line, "# end\n");
		else
			stream_line_end(&stream->line, clock_now_ns(), sums,
					stream->buffer.lost_lines);
		put_line(stream, STREAM_OTHER);
		r = stream_buffer_send_all(&stream->buffer, END_WAIT_NS);
	}
	return note_failure(stream, r == -ETIMEDOUT ? 0 : r, err);
}

struct sink stream_sink(struct stream *stream)
{
	static const struct sink_ops ndjson = {
		.begin = sink_begin,
		.arrived = sink_arrived,
		.finished = sink_finished,
		.ending = sink_ending,
		.process = sink_process,
		.lost = sink_lost,
		.turn = sink_turn,
		.wants_rotation = sink_wants_rotation,
		.rotate = sink_rotate,
		.end = sink_end,
	};
	static const struct sink_ops collapsed = {
		.begin = sink_begin,
		.finished = sink_finished_collapsed,
		.lost = sink_lost,
		.turn = sink_turn,
		.wants_rotation = sink_wants_rotation,
		.end = sink_end,
	};
	bool is_json = stream->options.format == STREAM_NDJSON;

	return (struct sink){ is_json ? &ndjson : &collapsed, stream };
}
