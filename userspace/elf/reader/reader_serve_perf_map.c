// SPDX-License-Identifier: Apache-2.0
/* The format is that of Linux tools/perf/Documentation/jit-interface.txt; the text may hold anything. */
#include "elf/reader/reader_serve_perf_map.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cache/thread_scratch.h"
#include "base/macros.h"
#include "base/text/text_cursor.h"
#include "elf/reader/reader_call.h"

_Static_assert(sizeof(struct reader_perf_map) <= READER_PIECE_BYTES, "an answer fits");

static bool take_hex(struct text_cursor *line, uint64_t *ret_value)
{
	if (!text_take_prefix(line, "0x"))
		text_take_prefix(line, "0X");
	return text_take_number(line, 16, ret_value);
}

void reader_map_add(struct reader_perf_map *answer, uint64_t start, uint64_t size, const char *name,
		    size_t len, uint64_t from)
{
	struct reader_map_line entry = { .start = start, .name = answer->text_bytes, .from = from };

	if (size == 0 || (len == 0 && !from) || __builtin_add_overflow(start, size, &entry.end))
		return;
	memcpy(answer->text + entry.name, name, len);
	answer->text[entry.name + len] = '\0';
	answer->text_bytes += (uint32_t)len + 1;
	answer->line[answer->lines++] = entry;
}

static void add_line(struct reader_perf_map *answer, struct text_cursor line)
{
	uint64_t start, size;
	size_t len;

	if (!take_hex(&line, &start))
		return;
	text_skip_blanks(&line);
	if (!take_hex(&line, &size))
		return;
	text_skip_blanks(&line);
	len = strnlen(line.at, (size_t)(line.end - line.at));
	reader_map_add(answer, start, size, line.at, MIN(len, (size_t)READER_MAP_NAME), 0);
}

bool reader_map_has_room(const struct reader_perf_map *answer)
{
	return answer->lines < READER_MAP_LINES &&
	       answer->text_bytes + READER_MAP_NAME < READER_MAP_TEXT;
}

/* Whole lines; what comes behind the last one is read again when there is more of it. */
static void take_lines(struct reader_perf_map *answer, const char *text, size_t len)
{
	const char *last = memrchr(text, '\n', len);
	struct text_cursor cursor, line;

	answer->taken = answer->lines = answer->text_bytes = 0;
	if (!last) {
		answer->taken = len == READER_MAP_BYTES ? len : 0; /* no text file */
		return;
	}
	cursor = (struct text_cursor){ text, last + 1 };
	while (reader_map_has_room(answer) && text_next_line(&cursor, &line))
		add_line(answer, line);
	answer->taken = (uint64_t)(cursor.at - text);
}

int64_t reader_map_answer(struct wall_call *call, const struct reader_perf_map *answer)
{
	size_t head =
		offsetof(struct reader_perf_map, line) + answer->lines * sizeof(answer->line[0]);

	memcpy(call->data, answer, head);
	memcpy(call->data + head, answer->text, answer->text_bytes);
	return (int64_t)(head + answer->text_bytes);
}

struct reader_map_room *reader_map_room(void)
{
	static struct thread_scratch scratch;

	return thread_scratch_get(&scratch, sizeof(struct reader_map_room));
}

int64_t reader_serve_perf_map(struct wall_call *call, int fd)
{
	struct reader_map_room *room = reader_map_room();
	ssize_t n = pread(fd, room->text, MIN(call->len, sizeof(room->text)), (off_t)call->offset);

	if (n < 0)
		return -errno;
	take_lines(&room->found, room->text, (size_t)n);
	return reader_map_answer(call, &room->found);
}
