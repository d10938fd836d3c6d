/* SPDX-License-Identifier: Apache-2.0 */
/* What holds for the result of every walk, whatever it went over; for the fuzzers of the steps. */
#ifndef HOSTPROF_FUZZ_CHECK_WORDS_H
#define HOSTPROF_FUZZ_CHECK_WORDS_H

#include <stdlib.h>

#include "unwind/walk.h"

static inline void check_words(const struct walk_result *result, uint32_t max_frames)
{
	uint32_t at = 0, frames = 0;

	for (; at < result->word_count; frames++) {
		uint32_t len = wire_frame_words(result->words[at]);

		if (!len)
			abort();
		at += len;
	}
	if (at != result->word_count || frames != result->frames || frames > max_frames ||
	    result->word_count > WIRE_MAX_USER_WORDS || result->reason >= UNWIND_REASON_COUNT)
		abort();
}

#endif
