// SPDX-License-Identifier: Apache-2.0
#include "elf/reader/reader_serve_file.h"

#include <errno.h>
#include <string.h>

#include "elf/reader/reader_call.h"

_Static_assert(sizeof(struct reader_file_said) <= WALL_DATA_BYTES, "an answer fits");

static int64_t tell_build_id(struct wall_call *call, struct elf_file *file)
{
	return elf_file_build_id(file, (char *)call->data, BUILD_ID_BYTES) < 0 ? -ENODATA
									       : BUILD_ID_BYTES;
}

static int64_t tell_file(struct wall_call *call, struct elf_file *file)
{
	struct reader_file_said *answer = (void *)call->data;
	const struct elf_segment *segments;
	size_t count = (size_t)elf_file_segments(file, &segments);

	elf_file_find_debug(file, &answer->link);
	answer->segments = (uint32_t)MIN(count, (size_t)READER_MAX_SEGMENTS);
	memcpy(answer->segment, segments, answer->segments * sizeof(*segments));
	return (int64_t)(offsetof(struct reader_file_said, segment) +
			 answer->segments * sizeof(*segments));
}

/* --- names ------------------------------------------------------------------------------------ */

struct search {
	char text[READER_PIECE_BYTES];
	const char *names[READER_MAX_NAMES]; /* in `text` */
	uint64_t addresses[READER_MAX_NAMES];
	unsigned int count;
};

static void take_names(const struct wall_call *call, struct search *search)
{
	size_t len = MIN(call->len, sizeof(search->text) - 1), at = 0;

	memcpy(search->text, call->data, len);
	search->text[len] = '\0';
	search->count = 0;
	while (at < len && search->count < READER_MAX_NAMES) {
		search->addresses[search->count] = READER_NOT_THERE;
		search->names[search->count++] = search->text + at;
		at += strlen(search->text + at) + 1;
	}
}

static void note_function(const char *name, uint64_t address, uint64_t size, void *data)
{
	struct search *search = data;

	(void)size;
	for (unsigned int i = 0; i < search->count; i++)
		if (strncmp(name, search->names[i], strlen(search->names[i])) == 0)
			search->addresses[i] = address;
}

static void look_for_symbols(struct elf_file *file, struct search *search)
{
	uint64_t address;

	for (unsigned int i = 0; i < search->count; i++)
		if (elf_file_find_symbol(file, search->names[i], &address) == 0)
			search->addresses[i] = address;
}

static int64_t find(struct wall_call *call, struct elf_file *file)
{
	static __thread struct search search;
	size_t bytes;

	take_names(call, &search);
	if (call->count == READER_FIND_FUNCTION)
		elf_file_for_each_function(file, note_function, &search);
	else
		look_for_symbols(file, &search);
	bytes = search.count * sizeof(search.addresses[0]);
	memcpy(call->data, search.addresses, bytes);
	return (int64_t)bytes;
}

int64_t reader_serve_file(struct wall_call *call, int fd, struct err *err)
{
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	int r = elf_file_open(fd, &file, err);

	if (r < 0)
		return r;
	switch (call->op) {
	case READER_BUILD_ID: return tell_build_id(call, file);
	case READER_FILE: return tell_file(call, file);
	default: return find(call, file);
	}
}
