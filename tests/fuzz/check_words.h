/* SPDX-License-Identifier: Apache-2.0 */
/* What holds for the result of every walk, whatever it went over; for the fuzzers of the steps. */
#ifndef HOSTPROF_FUZZ_CHECK_WORDS_H
#define HOSTPROF_FUZZ_CHECK_WORDS_H

#include <stdlib.h>

#include "unwind/walk.h"

/* COUNT words of so many FRAMES. */
static inline void check_frames(const uint64_t *words, uint32_t count, uint32_t frames,
				uint32_t max_frames)
{
	uint32_t at = 0, found = 0;

	for (; at < count; found++) {
		uint32_t len = wire_frame_words(words[at]);

		if (!len)
			abort();
		at += len;
	}
	if (at != count || found != frames || found > max_frames || count > WIRE_MAX_USER_WORDS)
		abort();
}

static inline void check_words(const struct walk_result *result, uint32_t max_frames)
{
	check_frames(result->words, result->word_count, result->frames, max_frames);
	if (result->reason >= UNWIND_REASON_COUNT)
		abort();
}

/* The same of the steps themselves. */
static inline void check_cursor(const struct unwind_cursor *c, const uint64_t *words,
				uint32_t max_frames)
{
	check_frames(words, c->words, c->frames, max_frames);
	if (c->reason >= UNWIND_REASON_COUNT)
		abort();
}

#endif
