// SPDX-License-Identifier: Apache-2.0
/*
 * The format is that of Linux tools/perf/Documentation/jitdump-specification.txt, version 2, in this machine's byte order.
 * Of code that was made its place and name are taken, of code that has moved where from; machine code, lines and unwinding information are skipped.
 */
#include "elf/reader/reader_serve_jit_dump.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"
#include "elf/reader/reader_call.h"
#include "elf/reader/reader_serve_perf_map.h"

#define MAGIC 0x4a695444
/* Headers may grow, but not beyond reason. */
#define MAX_HEADER_BYTES 4096

struct dump_header {
	uint32_t magic, version, bytes, machine, unused, pid;
	uint64_t time, flags;
};

enum dump_kind { DUMP_LOAD = 0, DUMP_MOVE = 1 };

struct dump_record {
	uint32_t kind, bytes;
	uint64_t time;
};

/* Both behind a dump_record. */
struct dump_load {
	uint32_t pid, tid;
	uint64_t memory, start, size, index;
};

struct dump_move {
	uint32_t pid, tid;
	uint64_t memory, from, start, size, index;
};

/* A name begins here in a record, and so much of one is looked at. */
#define NAME_AT	  (sizeof(struct dump_record) + sizeof(struct dump_load))
#define HEAD_MOST (NAME_AT + READER_MAP_NAME + 1)

/* What was read of the file, and what of it there is. */
struct dump_piece {
	const char *bytes;
	uint64_t len;
	uint64_t left; /* of the file, or of what was asked for, from the piece's beginning on */
};

static void add_load(struct reader_perf_map *answer, const char *record, uint32_t bytes)
{
	struct dump_load load;
	size_t room;

	if (bytes <= NAME_AT)
		return;
	memcpy(&load, record + sizeof(struct dump_record), sizeof(load));
	room = MIN(bytes - NAME_AT, (size_t)READER_MAP_NAME);
	reader_map_add(answer, load.start, load.size, record + NAME_AT,
		       strnlen(record + NAME_AT, room), 0);
}

static void add_move(struct reader_perf_map *answer, const char *record, uint32_t bytes)
{
	struct dump_move move;

	if (bytes < sizeof(struct dump_record) + sizeof(move))
		return;
	memcpy(&move, record + sizeof(struct dump_record), sizeof(move));
	reader_map_add(answer, move.start, move.size, "", 0, move.from);
}

static void add_record(struct reader_perf_map *answer, const char *at,
		       const struct dump_record *record)
{
	if (record->kind == DUMP_LOAD)
		add_load(answer, at, record->bytes);
	else if (record->kind == DUMP_MOVE)
		add_move(answer, at, record->bytes);
}

/* Bytes of the file's header; 0: it is not there yet. */
static int64_t header_bytes(const struct dump_piece *piece)
{
	struct dump_header header;

	if (piece->len < sizeof(header))
		return 0;
	memcpy(&header, piece->bytes, sizeof(header));
	if (header.magic != MAGIC || header.machine != EM_X86_64 || header.bytes < sizeof(header) ||
	    header.bytes > MAX_HEADER_BYTES)
		return -EBADMSG;
	return header.bytes <= piece->left ? header.bytes : 0;
}

/* The record that begins AT bytes into the piece: its bytes, 0 when it, or what is looked at of it, is not all there. */
static int64_t take_record(struct reader_perf_map *answer, const struct dump_piece *piece,
			   uint64_t at)
{
	struct dump_record record;

	if (at > piece->len || piece->len - at < sizeof(record))
		return 0;
	memcpy(&record, piece->bytes + at, sizeof(record));
	if (record.bytes < sizeof(record))
		return -EBADMSG;
	if (record.bytes > piece->left - at ||
	    MIN((uint64_t)record.bytes, (uint64_t)HEAD_MOST) > piece->len - at)
		return 0;
	add_record(answer, piece->bytes + at, &record);
	return record.bytes;
}

static int64_t take_records(struct reader_perf_map *answer, const struct dump_piece *piece,
			    bool is_first)
{
	uint64_t at = 0;
	int64_t bytes = is_first ? header_bytes(piece) : 0;

	answer->lines = answer->text_bytes = 0;
	if (bytes < 0 || (is_first && !bytes))
		return answer->taken = 0, bytes;
	do {
		at += (uint64_t)bytes;
		bytes = reader_map_has_room(answer) ? take_record(answer, piece, at) : 0;
	} while (bytes > 0);
	answer->taken = at;
	/* What is sound in front of it counts. */
	return at ? 0 : bytes;
}

int64_t reader_serve_jit_dump(struct wall_call *call, int fd)
{
	struct reader_map_room *room = reader_map_room();
	struct dump_piece piece = { .bytes = room->text };
	struct stat st;
	ssize_t n;
	int64_t r;

	if (fstat(fd, &st) < 0)
		return -errno;
	n = pread(fd, room->text, MIN(call->len, sizeof(room->text)), (off_t)call->offset);
	if (n < 0)
		return -errno;
	piece.len = (uint64_t)n;
	piece.left = (uint64_t)st.st_size - MIN((uint64_t)st.st_size, call->offset);
	piece.left = MAX(MIN(piece.left, call->len), piece.len);
	r = take_records(&room->found, &piece, call->offset == 0);
	return r < 0 ? r : reader_map_answer(call, &room->found);
}
