/* SPDX-License-Identifier: Apache-2.0 */
/* A sample's words, taken apart: kernel addresses, then user frames of one or more words each. */
#ifndef HOSTPROF_SYMBOLIZE_WORDS_SAMPLE_WORDS_H
#define HOSTPROF_SYMBOLIZE_WORDS_SAMPLE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire.h"

struct word_reader {
	const uint64_t *at;
	const uint64_t *end;
};

struct user_word {
	uint64_t address;      /* to look up: within the call for a return address */
	uint64_t cache_key;    /* address and exactness */
	const uint64_t *words; /* all words of the frame; borrowed from the sample */
	enum wire_frame_kind kind;
};

/* Has it frames that a JVM has names for? Theirs take several words each. */
static inline bool sample_words_need_names(const struct wire_sample *sample)
{
	return sample->user_words != sample->user_frames;
}

/* The header's counts, bounded by the record's size. */
void sample_words_read(const struct wire_sample *sample, struct word_reader *ret_kernel,
		       struct word_reader *ret_user);

/* What stands behind the words (enum wire_text says what that is), as name_width bytes for each of *RET_CHARS chars; 0: nothing. */
const void *sample_words_text(const struct wire_sample *sample, size_t *ret_chars);

/* Equal samples have equal stacks, unless time or the process makes a difference. */
uint64_t sample_words_hash(const struct wire_sample *sample, const struct word_reader *kernel,
			   const struct word_reader *user);

/* False at the end, or when a frame's words are cut off. */
bool user_word_next(struct word_reader *reader, struct user_word *ret_word);

#endif
