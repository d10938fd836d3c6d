/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data of a flush are written first and the header, which says how far the chunk goes, after
 * them; so the file is whole at every moment but between the two writes, and then it has a tail
 * that readers of ours leave out. The header always says "finished": the JDK's reader waits for
 * ever at the end of a chunk that is not.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "recording/chunk.h"
#include "recording/recording.h"
#include "recording/write_events.h"
#include "recording/write_metadata.h"
#include "recording/write_pools.h"
#include "recording/write_values.h"

/*
 * A disk without room may have some in a moment: what is to be written then waits in memory, for as long as
 * a chunk lasts. There it competes with tables and rings (session/memory_plan.h).
 */
#define HELD_LIMIT_BYTES (8 << 20)
#define HELD_LIMIT_NS	 (60 * NSEC_PER_SEC)
#define LAST_TRIES	 5
#define LAST_PAUSE_USEC	 200000

/* A reader holds one chunk at a time: its memory stays flat, and tools find ranges of time. */
#define CHUNK_LIMIT_BYTES (16 << 20)
#define CHUNK_LIMIT_NS	  (60 * NSEC_PER_SEC)
/* Of the profile that is written: 40,000 stacks of 50 frames, or two thousand processes that nobody else is like. */
#define CHUNK_TABLE_BYTES (10 << 20)

#define VERSION_MAJOR 2
#define VERSION_MINOR 1

struct chunk {
	bool open;
	uint64_t start_ns;
	uint64_t start_wall_ns;
	uint64_t checkpoint;		      /* offset of the last one, 0: none yet */
	bool in_file;			      /* its header is */
	uint32_t events, processes, mappings; /* entries that have their events in the file */
};

struct recording_writer {
	int fd;	    /* borrowed */
	int failed; /* the error that ended the recording */
	off_t chunk_at;
	off_t end; /* of the last flush */
	uint64_t end_ns;
	uint64_t chunk_count;
	uint64_t chunk_limit_bytes, chunk_limit_ns;
	size_t table_bytes; /* of the profile at the last flush */
	int64_t gmt_offset_ms;
	struct chunk chunk;
	struct jfr_chunk_header header; /* as it is in the file */
	struct jfr_stable stable;
	struct jfr_pools pools;
	struct strbuf buf;    /* what follows `end`; empty between flushes, unless held back */
	uint64_t buf_samples; /* in it */
	uint64_t short_ns;    /* since when there has been no room; 0: there is */
	struct recording_shortage shortage;
};

static int64_t local_offset_ms(void)
{
	time_t now = time(NULL);
	struct tm tm;

	return localtime_r(&now, &tm) ? (int64_t)tm.tm_gmtoff * 1000 : 0;
}

int recording_writer_new(int fd, struct recording_writer **ret_writer, struct err *err)
{
	struct recording_writer *writer;
	off_t end = lseek(fd, 0, SEEK_END);

	if (end < 0) {
		err_sys(err, -errno, "cannot write a recording there");
		return err_hint(err, "a recording needs a regular file");
	}
	writer = xcalloc(1, sizeof(*writer));
	writer->fd = fd;
	writer->end = end;
	writer->chunk_limit_bytes = CHUNK_LIMIT_BYTES;
	writer->chunk_limit_ns = CHUNK_LIMIT_NS;
	writer->gmt_offset_ms = local_offset_ms();
	jfr_stable_init(&writer->stable);
	jfr_pools_init(&writer->pools, &writer->stable, 0);
	*ret_writer = writer;
	return 0;
}

void recording_writer_limit_chunks(struct recording_writer *writer, uint64_t bytes, uint64_t ns)
{
	if (bytes)
		writer->chunk_limit_bytes = bytes;
	if (ns)
		writer->chunk_limit_ns = ns;
}

void recording_writer_free(struct recording_writer *writer)
{
	if (!writer)
		return;
	jfr_pools_release(&writer->pools);
	jfr_stable_release(&writer->stable);
	strbuf_release(&writer->buf);
	free(writer);
}

/* SIZE and CHECKPOINT are offsets in the chunk. */
static void fill_header(const struct recording_writer *writer, uint64_t size, bool final,
			struct jfr_chunk_header *ret_header)
{
	const struct chunk *chunk = &writer->chunk;

	*ret_header = (struct jfr_chunk_header){
		.magic = { 'F', 'L', 'R', 0 },
		.major = htobe16(VERSION_MAJOR),
		.minor = htobe16(VERSION_MINOR),
		.size = htobe64(size),
		.checkpoint = htobe64(chunk->checkpoint),
		.metadata = htobe64(JFR_HEADER_BYTES),
		.start_wall_ns = htobe64(chunk->start_wall_ns),
		.duration_ns = htobe64(writer->end_ns - chunk->start_ns),
		.start_ticks = htobe64(chunk->start_ns),
		.ticks_per_second = htobe64(JFR_TICKS_PER_SECOND),
		.flags = JFR_FLAG_COMPRESSED | (final ? JFR_FLAG_FINAL : 0),
	};
}

/* The chunk goes on from where the last one ended, or from the recording's start. */
static void begin_chunk(struct recording_writer *writer, const struct profile *p)
{
	static const char no_header[JFR_HEADER_BYTES];
	struct chunk *chunk = &writer->chunk;

	*chunk = (struct chunk){ .open = true };
	chunk->start_ns = MAX(writer->end_ns, p->start_ns);
	chunk->start_wall_ns = p->start_wall_ns + (chunk->start_ns - p->start_ns);
	writer->end_ns = chunk->start_ns;
	writer->chunk_at = writer->end;
	strbuf_add(&writer->buf, no_header, sizeof(no_header));
	jfr_put_metadata(&writer->buf, chunk->start_ns, writer->gmt_offset_ms, p->tells_wakers);
}

static void advance_end(struct recording_writer *writer, const struct profile *p)
{
	writer->end_ns = MAX(writer->end_ns, p->start_ns + p->duration_ns);
	for (size_t i = 0; i < p->samples.len; i++)
		writer->end_ns = MAX(writer->end_ns, p->samples.items[i].time_ns);
}

static void put_tables(struct recording_writer *writer, const struct profile *p)
{
	struct chunk *chunk = &writer->chunk;
	struct strbuf *out = &writer->buf;

	if (!chunk->checkpoint)
		jfr_put_recording(out, &writer->pools, p, chunk->start_ns);
	jfr_put_event_kinds(out, &writer->pools, p, chunk->events, writer->end_ns);
	jfr_put_processes(out, &writer->pools, p, chunk->processes, writer->end_ns);
	jfr_put_mappings(out, &writer->pools, p, chunk->mappings, writer->end_ns);
	chunk->events = intern_len(&p->events);
	chunk->processes = intern_len(&p->processes);
	chunk->mappings = intern_len(&p->mappings);
}

static void put_checkpoint(struct recording_writer *writer, const struct profile *p)
{
	uint64_t at = (uint64_t)(writer->end - writer->chunk_at) + writer->buf.len;
	uint64_t previous = writer->chunk.checkpoint;

	jfr_put_checkpoint(&writer->buf, &writer->pools, p, writer->end_ns,
			   previous ? (int64_t)(previous - at) : 0);
	writer->chunk.checkpoint = at;
}

/* Leave the file as the last good flush left it. */
static int take_back(struct recording_writer *writer, int code, struct err *err)
{
	if (writer->chunk.in_file)
		file_pwrite_all(writer->fd, &writer->header, sizeof(writer->header),
				writer->chunk_at);
	if (ftruncate(writer->fd, writer->end) < 0) {
		writer->failed = code;
		return err_sys(err, code, "cannot write the recording, nor cut off its torn end");
	}
	return err_sys(err, code, "cannot write the recording");
}

/* A new chunk's header travels with its data. */
static int write_out(struct recording_writer *writer, bool final, struct err *err)
{
	struct strbuf *buf = &writer->buf;
	uint64_t size = (uint64_t)(writer->end - writer->chunk_at) + buf->len;
	struct jfr_chunk_header header;
	int r;

	fill_header(writer, size, final, &header);
	if (!writer->chunk.in_file)
		memcpy(buf->buf, &header, sizeof(header));
	r = file_pwrite_all(writer->fd, buf->buf, buf->len, writer->end);
	if (r == 0 && writer->chunk.in_file)
		r = file_pwrite_all(writer->fd, &header, sizeof(header), writer->chunk_at);
	if (r < 0)
		return take_back(writer, r, err);
	writer->header = header;
	writer->chunk.in_file = true;
	writer->end += (off_t)buf->len;
	writer->short_ns = writer->buf_samples = 0;
	strbuf_reset(buf);
	return 0;
}

/* What a flush ends. */
enum ending { ENDS_NOTHING, ENDS_CHUNK, ENDS_RECORDING };

static void drop_samples(struct recording_writer *writer, struct profile *p)
{
	for (size_t i = 0; i < p->samples.len; i++)
		writer->shortage.dropped += p->samples.items[i].count;
	profile_clear_samples(p);
}

/* The chunk ends where it was last written. */
static void drop_held(struct recording_writer *writer)
{
	writer->shortage.dropped += writer->buf_samples;
	writer->buf_samples = 0;
	strbuf_reset(&writer->buf);
}

static void put_flush(struct recording_writer *writer, struct profile *p, enum ending ending)
{
	if (!writer->chunk.open)
		begin_chunk(writer, p);
	advance_end(writer, p);
	jfr_pools_update(&writer->pools, p);
	put_tables(writer, p);
	jfr_put_samples(&writer->buf, &writer->pools, p);
	for (size_t i = 0; i < p->samples.len; i++)
		writer->buf_samples += p->samples.items[i].count;
	if (ending != ENDS_NOTHING)
		jfr_put_quality(&writer->buf, &writer->pools, p, writer->end_ns);
	if (ending == ENDS_RECORDING)
		jfr_put_counters(&writer->buf, &writer->pools, p, writer->end_ns);
	put_checkpoint(writer, p);
}

/* Room on a disk comes and goes; all else stays as it is. */
static bool may_pass(int code)
{
	return code == -ENOSPC || code == -EDQUOT;
}

/* WHY it could not be written. 0: what is missing waits for the next flush. */
static int hold_back(struct recording_writer *writer, enum ending ending, const struct err *why,
		     struct err *err)
{
	int code = why->code;

	if (!may_pass(code) || writer->failed || ending == ENDS_RECORDING) {
		writer->failed = code;
		*err = *why;
		return code;
	}
	writer->shortage.was_met = true;
	if (!writer->short_ns)
		writer->short_ns = writer->end_ns;
	if (ending == ENDS_CHUNK)
		drop_held(writer);
	return 0;
}

static int write_last(struct recording_writer *writer, struct err *err)
{
	int r = write_out(writer, true, err);

	for (int i = 0; i < LAST_TRIES && may_pass(r) && !writer->failed; i++) {
		usleep(LAST_PAUSE_USEC);
		r = write_out(writer, true, err);
	}
	return r;
}

static int flush(struct recording_writer *writer, struct profile *p, enum ending ending,
		 struct err *err)
{
	struct err why = { 0 };
	int r;

	if (writer->failed)
		return err_sys(err, writer->failed, "the recording has ended already");
	if (writer->buf.len >= HELD_LIMIT_BYTES)
		drop_samples(writer, p);
	if (ending == ENDS_RECORDING && writer->shortage.dropped)
		profile_add_counter(p, "recording.not-written", "", writer->shortage.dropped);
	put_flush(writer, p, ending);
	r = ending == ENDS_RECORDING ? write_last(writer, &why) : write_out(writer, false, &why);
	if (r < 0)
		r = hold_back(writer, ending, &why, err);
	if (r == 0)
		profile_clear_samples(p);
	writer->table_bytes = profile_table_bytes(p);
	return r;
}

int recording_writer_flush(struct recording_writer *writer, struct profile *profile,
			   struct err *err)
{
	return flush(writer, profile, ENDS_NOTHING, err);
}

bool recording_writer_wants_rotation(const struct recording_writer *writer)
{
	const struct chunk *chunk = &writer->chunk;
	uint64_t bytes = (uint64_t)(writer->end - writer->chunk_at) + writer->buf.len;

	if (!chunk->open)
		return false;
	/* A chunk that ended now would end without what is held back. */
	if (writer->short_ns && writer->end_ns - writer->short_ns < HELD_LIMIT_NS)
		return false;
	return bytes >= writer->chunk_limit_bytes || writer->table_bytes >= CHUNK_TABLE_BYTES ||
	       writer->end_ns - chunk->start_ns >= writer->chunk_limit_ns;
}

static void end_chunk(struct recording_writer *writer)
{
	writer->chunk.open = false;
	writer->table_bytes = 0;
	jfr_stable_end_chunk(&writer->stable);
	jfr_pools_release(&writer->pools);
	jfr_pools_init(&writer->pools, &writer->stable, ++writer->chunk_count);
}

int recording_writer_rotate(struct recording_writer *writer, struct profile *profile,
			    struct err *err)
{
	int r = flush(writer, profile, ENDS_CHUNK, err);

	if (r == 0)
		end_chunk(writer);
	return r;
}

int recording_writer_finish(struct recording_writer *writer, struct profile *profile,
			    struct err *err)
{
	int r = flush(writer, profile, ENDS_RECORDING, err);

	if (r == 0)
		end_chunk(writer);
	return r;
}

void recording_writer_get_shortage(const struct recording_writer *writer,
				   struct recording_shortage *ret_shortage)
{
	*ret_shortage = writer->shortage;
}
