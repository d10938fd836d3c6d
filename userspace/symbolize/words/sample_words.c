/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/words/sample_words.h"

#include "base/hmap.h"

void sample_words_read(const struct wire_sample *sample, struct word_reader *ret_kernel,
		       struct word_reader *ret_user)
{
	size_t bytes = MAX(sample->size, sizeof(*sample)) - sizeof(*sample);
	size_t kernel = MIN(sample->kernel_frames, bytes / sizeof(uint64_t));
	size_t user = MIN(sample->user_words, bytes / sizeof(uint64_t) - kernel);

	*ret_kernel = (struct word_reader){ sample->words, sample->words + kernel };
	*ret_user = (struct word_reader){ ret_kernel->end, ret_kernel->end + user };
}

const void *sample_words_text(const struct wire_sample *sample, size_t *ret_chars)
{
	size_t frames = (size_t)sample->kernel_frames + sample->user_words;
	size_t bytes = MAX(sample->size, sizeof(*sample)) - sizeof(*sample);

	*ret_chars = 0;
	if (sample->name_width && frames * sizeof(uint64_t) + sample->name_bytes <= bytes)
		*ret_chars = sample->name_bytes / sample->name_width;
	return sample->words + frames;
}

uint64_t sample_words_hash(const struct wire_sample *sample, const struct word_reader *kernel,
			   const struct word_reader *user)
{
	uint64_t words = hash_bytes(kernel->at, (size_t)(user->end - kernel->at) * 8);
	uint64_t rest = (uint64_t)sample->kernel_frames << 16 | (uint64_t)sample->reason << 8 |
			(sample->tid == sample->tgid) | (uint64_t)sample->text << 40;

	/* Of an allocation, or a lock, the class and what marks it. */
	rest ^= sample->alloc_class << 32 ^ sample->alloc_class >> 32;
	rest ^= (uint64_t)(sample->flags & WIRE_SAMPLE_OUTSIDE_TLAB) << 60;
	rest ^= (uint64_t)wire_sample_has_klass(sample) << 59;
	/* It has no frames of the JVM in front. */
	rest ^= (uint64_t)sample->unmounted << 58;
	return words ^ (rest * 0x9e3779b97f4a7c15ULL);
}

bool user_word_next(struct word_reader *reader, struct user_word *ret_word)
{
	size_t left = (size_t)(reader->end - reader->at);
	uint64_t word, address;
	size_t len;

	if (left == 0)
		return false;
	word = *reader->at;
	len = wire_frame_words(word);
	if (len == 0 || len > left)
		return false;
	ret_word->kind = (enum wire_frame_kind)(word >> WIRE_FRAME_KIND_SHIFT);
	/* the vsyscall page lies at the top: addresses are signed */
	address = (uint64_t)((int64_t)(word << 8) >> 8);
	ret_word->address = word & WIRE_FRAME_EXACT ? address : address - 1;
	ret_word->cache_key = word & (WIRE_FRAME_ADDRESS_MASK | WIRE_FRAME_EXACT);
	ret_word->words = reader->at;
	reader->at += len;
	return true;
}
