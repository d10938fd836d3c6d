// SPDX-License-Identifier: Apache-2.0
#include "unwind/walk.h"

#include <errno.h>
#include <string.h>

void walk_stack(const struct walk_request *request, struct unwind_memory *memory,
		struct walk_result *ret_result)
{
	struct unwind_cursor cursor = {
		.pc = request->pc,
		.sp = request->sp,
		.fp = request->fp,
		.r13 = request->r13,
		.exact = request->exact,
	};

	if (request->jvm)
		cursor.jvm = *request->jvm;
	unwind_begin(&cursor, request->max_frames ? request->max_frames : WIRE_DEFAULT_USER_FRAMES,
		     0);
	/* Every turn writes a frame or ends; the depth limit ends it at last. */
	while (unwind_frame(&cursor, memory, ret_result->words) == UNWIND_GO_ON)
		;
	ret_result->reason = cursor.reason;
	ret_result->frames = cursor.frames;
	ret_result->word_count = cursor.words;
}

static int read_copy(const void *data, uint64_t address, void *dst, size_t len)
{
	const struct walk_copy *copy = data;

	for (size_t i = 0; i < copy->count; i++) {
		const struct walk_piece *piece = &copy->pieces[i];

		if (address < piece->address || address - piece->address > piece->len ||
		    len > piece->len - (address - piece->address))
			continue;
		memcpy(dst, piece->data + (address - piece->address), len);
		return 0;
	}
	return -EFAULT;
}

struct unwind_memory walk_memory_of_copy(const struct walk_copy *copy)
{
	return (struct unwind_memory){ .read = read_copy, .data = copy };
}
