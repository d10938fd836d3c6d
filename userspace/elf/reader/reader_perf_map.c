// SPDX-License-Identifier: Apache-2.0
#include "elf/reader/reader_perf_map.h"

#include <stddef.h>
#include <string.h>

#include "base/macros.h"
#include "elf/reader/reader_sound.h"

/* "1 1 f", and its end. */
#define SHORTEST_LINE 6

const char *reader_map_name(const struct reader_perf_map *map, const struct reader_map_line *line)
{
	return (const char *)&map->line[map->lines] + line->name;
}

static bool counts_are_sound(const struct reader_perf_map *map, int64_t len, uint64_t asked)
{
	const size_t head = offsetof(struct reader_perf_map, line);

	return len >= (int64_t)head && map->lines <= READER_MAP_LINES &&
	       map->text_bytes <= READER_MAP_TEXT &&
	       (size_t)len == head + map->lines * sizeof(map->line[0]) + map->text_bytes &&
	       map->taken <= asked && map->lines <= map->taken / SHORTEST_LINE;
}

static bool line_is_sound(const struct reader_perf_map *map, const struct reader_map_line *line)
{
	size_t left, len;

	if (line->start >= line->end || line->name >= map->text_bytes)
		return false;
	left = map->text_bytes - line->name;
	len = strnlen(reader_map_name(map, line), left);
	return (len > 0) == (line->from == 0) && len <= READER_MAP_NAME && len < left;
}

static bool is_sound(const struct reader_perf_map *map, int64_t len, uint64_t asked)
{
	if (!counts_are_sound(map, len, asked))
		return false;
	for (uint32_t i = 0; i < map->lines; i++)
		if (!line_is_sound(map, &map->line[i]))
			return false;
	return true;
}

static int ask_for_lines(struct reader_ask ask, struct reader_perf_map *ret_map, struct err *err)
{
	int64_t r;

	ask.answer = ret_map;
	ask.answer_len = sizeof(*ret_map);
	r = reader_call(&ask, err);
	if (r < 0)
		return (int)r;
	return is_sound(ret_map, r, ask.len) ? 0 : reader_not_sound(err);
}

int reader_perf_map(int fd, uint64_t owner, uint64_t offset, uint64_t len,
		    struct reader_perf_map *ret_map, struct err *err)
{
	const struct reader_ask ask = { .op = READER_PERF_MAP,
					.fd = fd,
					.owner = owner,
					.offset = offset,
					.len = MIN(len, (uint64_t)READER_MAP_BYTES) };

	return ask_for_lines(ask, ret_map, err);
}

int reader_jit_dump(int fd, uint64_t owner, uint64_t offset, uint64_t len,
		    struct reader_perf_map *ret_map, struct err *err)
{
	const struct reader_ask ask = {
		.op = READER_JIT_DUMP, .fd = fd, .owner = owner, .offset = offset, .len = len
	};

	return ask_for_lines(ask, ret_map, err);
}
