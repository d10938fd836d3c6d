/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording is read chunk by chunk, and a chunk in three turns over its bytes: find metadata and
 * checkpoints, read the pools, read the events. Pools come from the checkpoints as they lie in the
 * chunk and not from the chain that the header begins: so a chunk that ends in its middle still
 * gives what was written before.
 */
#include "recording/read.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "recording/chunk.h"
#include "recording/types.h"

/* We hold one chunk in memory. Ours have 16 MiB, the JDK's 12 MB unless told otherwise. */
#define CHUNK_LIMIT_BYTES (1ULL << 30)

struct chunk {
	uint64_t at;   /* in the file */
	uint64_t size; /* bytes that are there */
	bool cut;      /* the header promises more */
	struct jfr_chunk_header header;
};

/* What the first turn finds. */
struct chunk_index {
	struct jfr_cursor metadata;	    /* body; the last one */
	VEC(struct jfr_cursor) checkpoints; /* bodies */
	const uint8_t *end;		    /* of the last whole checkpoint */
};

static void reader_init(struct recording_reader *reader, struct profile *p,
			const struct recording_read_options *options)
{
	memset(reader, 0, sizeof(*reader));
	reader->profile = p;
	reader->options = options;
	jfr_schema_init(&reader->schema);
}

static void reader_release(struct recording_reader *reader)
{
	jfr_schema_release(&reader->schema);
	vec_release(&reader->segments);
	for (int pool = 0; pool < JFR_POOL_IDS; pool++)
		jfr_keymap_release(&reader->pools[pool]);
	vec_release(&reader->texts);
	vec_release(&reader->methods);
	hmap_release(&reader->events_by_name);
	hmap_release(&reader->class_stacks);
	strbuf_release(&reader->text);
	vec_release(&reader->frames);
}

/* --- what a recording says of itself --- */

void jfr_add_recording(struct recording_reader *reader, const struct jfr_values *v, uint32_t found)
{
	struct profile *p = reader->profile;

	(void)found;
	p->command = jfr_symbol_string(reader, v->number[0]);
	p->host = jfr_symbol_string(reader, v->number[1]);
	p->start_wall_ns = v->number[2];
	p->start_ns = v->number[3];
}

void jfr_add_quality(struct recording_reader *reader, const struct jfr_values *v, uint32_t found)
{
	uint32_t process =
		jfr_keymap_get(&reader->pools[JFR_POOL_PROCESS], v->number[0], PROFILE_NONE);
	struct profile_quality q = {
		.process = process != PROFILE_NONE ? process : jfr_no_process(reader),
		.event =
			jfr_event_by_name(reader, jfr_symbol_string(reader, v->number[1]), "count"),
		.samples = v->number[2],
		.complete = v->number[3],
		.weight = v->number[4],
		.lost = v->number[5],
		.lost_weight = v->number[6],
	};

	(void)found;
	profile_add_quality(reader->profile, &q);
}

void jfr_add_counter(struct recording_reader *reader, const struct jfr_values *v, uint32_t found)
{
	struct profile *p = reader->profile;
	uint32_t name = jfr_symbol_string(reader, v->number[0]);
	uint32_t detail = jfr_symbol_string(reader, v->number[1]);

	(void)found;
	profile_add_counter(p, profile_get_string(p, name), profile_get_string(p, detail),
			    v->number[2]);
}

/* --- chunks --- */

static void begin_chunk(struct recording_reader *reader, const struct jfr_chunk_header *header)
{
	jfr_schema_release(&reader->schema); /* which leaves an empty one */
	for (int pool = 0; pool < JFR_POOL_IDS; pool++)
		jfr_keymap_clear(&reader->pools[pool]);
	reader->segments.len = reader->texts.len = reader->methods.len = 0;
	reader->cpu_event = reader->no_thread = reader->no_process = PROFILE_NONE;
	reader->native_types = false;
	reader->start_wall_ns = be64toh(header->start_wall_ns);
	reader->start_ticks = be64toh(header->start_ticks);
	reader->ticks_per_second = be64toh(header->ticks_per_second);
	if (!reader->ticks_per_second)
		reader->ticks_per_second = JFR_TICKS_PER_SECOND;
}

static void skip_metadata_head(struct jfr_cursor *c)
{
	jfr_get_varint(c); /* start */
	jfr_get_varint(c); /* duration */
	jfr_get_varint(c); /* id */
}

/* Returns false when the events do not fill the chunk. */
static bool index_chunk(struct jfr_cursor events, struct chunk_index *index)
{
	while (jfr_left(&events)) {
		struct jfr_cursor event = events;
		uint64_t size = jfr_get_varint(&event), type;

		if (event.bad || size > jfr_left(&events))
			return false;
		event.end = events.at + size;
		if (event.at >= event.end)
			return false;
		type = jfr_get_varint(&event);
		if (event.bad)
			return false;
		events.at = event.end;
		if (type == JFR_CHECKPOINT) {
			vec_push(&index->checkpoints, event);
			index->end = event.end;
		} else if (type == JFR_METADATA) {
			index->metadata = event;
		}
	}
	return true;
}

static int read_tables(struct recording_reader *reader, const struct chunk_index *index)
{
	struct jfr_cursor metadata = index->metadata, *checkpoint;
	int r;

	skip_metadata_head(&metadata);
	r = jfr_schema_parse(&reader->schema, metadata);
	if (r < 0)
		return r;
	reader->ours = jfr_schema_find(&reader->schema, "hostprof.types.Location") != JFR_NO_TYPE;
	vec_for_each (checkpoint, &index->checkpoints) {
		r = read_index_checkpoint(reader, *checkpoint);
		if (r < 0)
			return r;
	}
	return jfr_read_pools(reader);
}

/* A chunk that is cut is read up to its last whole checkpoint. */
static int read_indexed(struct recording_reader *reader, const struct chunk *chunk,
			const struct chunk_index *index)
{
	int r;

	if (!index->metadata.at || !index->checkpoints.len)
		return chunk->cut ? 0 : -EBADMSG;
	if (chunk->cut)
		reader->events.end = index->end;
	r = read_tables(reader, index);
	if (r < 0)
		return r;
	return jfr_read_events(reader);
}

static void count_time(struct recording_reader *reader, const struct chunk *chunk)
{
	struct profile *p = reader->profile;
	uint64_t start = reader->ours ? reader->start_ticks : reader->start_wall_ns;
	uint64_t end = start + be64toh(chunk->header.duration_ns);

	if (!reader->ours && !p->start_ns)
		p->start_ns = p->start_wall_ns = reader->start_wall_ns;
	if (end > p->start_ns + p->duration_ns)
		p->duration_ns = end - p->start_ns;
}

static int read_chunk(struct recording_reader *reader, int fd, const struct chunk *chunk,
		      struct strbuf *bytes)
{
	struct chunk_index index = { .end = NULL };
	int r;

	strbuf_reset(bytes);
	strbuf_grow(bytes, chunk->size);
	r = file_pread_full(fd, bytes->buf, chunk->size, (off_t)chunk->at);
	if (r < 0)
		return r;
	begin_chunk(reader, &chunk->header);
	reader->events.at = (const uint8_t *)bytes->buf + JFR_HEADER_BYTES;
	reader->events.end = (const uint8_t *)bytes->buf + chunk->size;
	r = index_chunk(reader->events, &index) || chunk->cut ? 0 : -EBADMSG;
	if (r == 0)
		r = read_indexed(reader, chunk, &index);
	if (r == 0)
		count_time(reader, chunk);
	vec_release(&index.checkpoints);
	return r;
}

/* -ENODATA: what is there is not a chunk. */
static int read_header(int fd, uint64_t at, uint64_t file_size, struct chunk *ret_chunk)
{
	struct chunk chunk = { .at = at };
	uint64_t left = file_size - at;
	int r;

	if (left < JFR_HEADER_BYTES)
		return -ENODATA;
	r = file_pread_full(fd, &chunk.header, sizeof(chunk.header), (off_t)at);
	if (r < 0)
		return r;
	if (memcmp(chunk.header.magic, jfr_magic, sizeof(jfr_magic)) != 0)
		return -ENODATA;
	if (be16toh(chunk.header.major) > 2 || !(chunk.header.flags & JFR_FLAG_COMPRESSED))
		return -EOPNOTSUPP;
	chunk.size = be64toh(chunk.header.size);
	/* A chunk that is being written may have no size yet, or an invented one. */
	if (chunk.size < JFR_HEADER_BYTES || chunk.size > left) {
		chunk.size = left;
		chunk.cut = true;
	}
	if (chunk.size > CHUNK_LIMIT_BYTES)
		return -E2BIG;
	*ret_chunk = chunk;
	return 0;
}

static int explain(int code, uint64_t at, struct err *err)
{
	switch (code) {
	case -ENODATA: return err_set(err, -EBADMSG, "this is not a JFR recording");
	case -EBADMSG:
		return err_set(err, code, "the recording is damaged in the chunk at byte %" PRIu64,
			       at);
	case -EOPNOTSUPP:
		return err_set(err, code, "the recording has a version of JFR that we do not read");
	case -E2BIG:
		return err_set(err, code, "the recording has a chunk of more than %llu MiB",
			       CHUNK_LIMIT_BYTES >> 20);
	default: return err_sys(err, code, "cannot read the recording");
	}
}

/* What follows a whole chunk and is none is the tail of a write that did not end. */
static int read_chunks(struct recording_reader *reader, int fd, uint64_t file_size,
		       bool *ret_truncated, struct err *err)
{
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	struct chunk chunk = { 0 };
	uint64_t at = 0;

	do {
		int r = read_header(fd, at, file_size, &chunk);

		if (r == -ENODATA && at) {
			*ret_truncated = true;
			return 0;
		}
		if (r == 0)
			r = read_chunk(reader, fd, &chunk, &bytes);
		if (r < 0)
			return explain(r, at, err);
		at += chunk.size;
	} while (at < file_size);
	*ret_truncated = chunk.cut || (reader->ours && !(chunk.header.flags & JFR_FLAG_FINAL));
	return 0;
}

int recording_read(int fd, const struct recording_read_options *options, struct profile *profile,
		   bool *ret_truncated, struct err *err)
{
	struct recording_reader reader;
	bool truncated = false;
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return err_sys(err, -errno, "cannot read the recording");
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "a recording is a regular file, and this is none");
	reader_init(&reader, profile, options);
	r = read_chunks(&reader, fd, (uint64_t)st.st_size, &truncated, err);
	reader_release(&reader);
	if (r == 0)
		*ret_truncated = truncated;
	return r;
}
