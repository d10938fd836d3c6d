// SPDX-License-Identifier: Apache-2.0
/* A sample's words taken apart: counts that lie, frames of each kind, samples that are equal. */
#include "test.h"

#include <string.h>

#include "symbolize/words/sample_words.h"

#define WORDS 12

static struct {
	struct wire_sample sample;
	uint64_t words[WORDS];
} record;

static struct word_reader kernel, user;

/* COUNT words in the record, of which the header says so many. */
static void begin(size_t count, unsigned int kernel_frames, unsigned int user_words)
{
	memset(&record, 0, sizeof(record));
	record.sample.size = (uint32_t)(sizeof(record.sample) + count * 8);
	record.sample.kernel_frames = (typeof(record.sample.kernel_frames))kernel_frames;
	record.sample.user_words = (typeof(record.sample.user_words))user_words;
	record.sample.reason = 3;
	record.sample.tgid = 10;
	record.sample.tid = 11;
	for (unsigned int i = 0; i < WORDS; i++)
		record.words[i] = 0x1000 + i;
	sample_words_read(&record.sample, &kernel, &user);
}

static void expect_words(unsigned int kernel_frames, unsigned int user_words)
{
	assert_ptr_equal(kernel.at, record.sample.words);
	assert_ptr_equal(kernel.end, record.sample.words + kernel_frames);
	assert_ptr_equal(user.at, kernel.end);
	assert_ptr_equal(user.end, user.at + user_words);
}

/* A header never leads out of its record. */
static void counts_of_the_header(void **state)
{
	(void)state;
	begin(5, 2, 3);
	expect_words(2, 3);
	begin(5, 2, 2);
	expect_words(2, 2);
	begin(5, 2, 4);
	expect_words(2, 3);
	begin(5, 6, 4);
	expect_words(5, 0);
	begin(0, 1, 1);
	expect_words(0, 0);
	begin(2, 1, 1);
	record.sample.size -= 1;
	sample_words_read(&record.sample, &kernel, &user);
	expect_words(1, 0);
	record.sample.size = 3;
	sample_words_read(&record.sample, &kernel, &user);
	expect_words(0, 0);
}

static uint64_t word_of(enum wire_frame_kind kind, uint64_t address)
{
	return address | (uint64_t)kind << WIRE_FRAME_KIND_SHIFT;
}

/* A return address is looked up within its call. */
static void an_address(void **state)
{
	struct user_word word;

	(void)state;
	begin(2, 0, 2);
	record.sample.words[0] = 0x401000;
	record.sample.words[1] = 0x402000 | WIRE_FRAME_EXACT;
	assert_true(user_word_next(&user, &word));
	assert_int_equal(word.kind, WIRE_FRAME_CODE);
	assert_true(word.address == 0x400fff && word.cache_key == 0x401000);
	assert_ptr_equal(word.words, record.sample.words);
	assert_true(user_word_next(&user, &word));
	assert_int_equal(word.address, 0x402000);
	assert_true(word.cache_key == (0x402000 | WIRE_FRAME_EXACT));
	assert_false(user_word_next(&user, &word));
}

/* Of 56 bits the uppermost is the sign: the vsyscall page is at the top. */
static void an_address_at_the_top(void **state)
{
	struct user_word word;

	(void)state;
	begin(2, 0, 2);
	record.sample.words[0] = (0xffffffffff600123 & WIRE_FRAME_ADDRESS_MASK) | WIRE_FRAME_EXACT;
	record.sample.words[1] = 0x007fffffffffffff | WIRE_FRAME_EXACT;
	assert_true(user_word_next(&user, &word));
	assert_true(word.address == 0xffffffffff600123);
	assert_true(user_word_next(&user, &word));
	assert_true(word.address == 0x007fffffffffffff);
}

/* A frame of several words is whole, or there is none; a kind that does not exist ends it all. */
static void frames_of_several_words(void **state)
{
	static const enum wire_frame_kind kinds[] = { WIRE_FRAME_CODE, WIRE_FRAME_MARK,
						      WIRE_FRAME_COMPILED, WIRE_FRAME_INTERPRETED };

	static const unsigned int lengths[] = { 1, 1, 2, 5 };
	struct user_word word;

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		begin(8, 0, lengths[i] + 1);
		record.sample.words[0] = word_of(kinds[i], 0x401000);
		record.sample.words[lengths[i]] = word_of(WIRE_FRAME_MARK, 1);
		assert_true(user_word_next(&user, &word));
		assert_int_equal(word.kind, kinds[i]);
		assert_true(word.address == 0x400fff && word.cache_key == 0x401000);
		assert_true(user_word_next(&user, &word));
		assert_int_equal(word.kind, WIRE_FRAME_MARK);
		assert_false(user_word_next(&user, &word));
		begin(8, 0, lengths[i]);
		record.sample.words[0] = word_of(kinds[i], 0x401000);
		assert_true(user_word_next(&user, &word));
		begin(8, 0, lengths[i] - 1);
		record.sample.words[0] = word_of(kinds[i], 0x401000);
		assert_false(user_word_next(&user, &word));
	}
	for (unsigned int kind = WIRE_FRAME_KIND_COUNT; kind < 16; kind++) {
		begin(8, 0, 8);
		record.sample.words[0] = word_of(kind, 0x401000);
		assert_false(user_word_next(&user, &word));
	}
}

static uint64_t hash(void)
{
	sample_words_read(&record.sample, &kernel, &user);
	return sample_words_hash(&record.sample, &kernel, &user);
}

/* Whatever of a stack may differ; not who it was, but for a process's first thread. */
static void equal_samples(void **state)
{
	uint64_t first;

	(void)state;
	begin(5, 2, 3);
	first = hash();
	record.sample.tid = 12;
	assert_true(hash() == first);
	record.sample.tid = 10;
	assert_true(hash() != first);
	record.sample.tid = 11;
	record.sample.reason++;
	assert_true(hash() != first);
	record.sample.reason--;
	for (unsigned int i = 0; i < 5; i++) {
		record.sample.words[i]++;
		assert_true(hash() != first);
		record.sample.words[i]--;
	}
	assert_true(hash() == first);
	/* The same words, with another border between kernel and user frames. */
	record.sample.kernel_frames++;
	record.sample.user_words--;
	assert_true(hash() != first);
	record.sample.kernel_frames--;
	assert_true(hash() != first);
	record.sample.user_words++;
	assert_true(hash() == first);
	record.sample.unmounted = 1;
	assert_true(hash() != first);
	record.sample.unmounted = 0;
}

/* No count of kernel frames is another reason. */
static void numbers_do_not_overlap(void **state)
{
	static uint64_t seen[2 * 8 * 40];
	size_t count = 0;

	(void)state;
	for (unsigned int frames = 0; frames < 8; frames++)
		for (unsigned int reason = 0; reason < 40; reason++)
			for (unsigned int main = 0; main < 2; main++) {
				begin(8, frames, 8 - frames);
				record.sample.reason = (uint8_t)reason;
				record.sample.tid = main ? 10 : 11;
				seen[count++] = hash();
			}
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++)
			assert_true(seen[i] != seen[j]);
}

/* Behind the words, as far as the record goes. */
static void a_name(void **state)
{
	struct wire_sample *s = &record.sample;
	size_t count;

	(void)state;
	begin(5, 2, 2);
	s->name_bytes = 6;
	s->name_width = 2;
	assert_ptr_equal(sample_words_text(s, &count), s->words + 4);
	assert_int_equal(count, 3);
	s->name_width = 1;
	sample_words_text(s, &count);
	assert_int_equal(count, 6);
	s->name_bytes = 9;
	sample_words_text(s, &count);
	assert_int_equal(count, 0);
	s->name_bytes = 6;
	s->name_width = 0;
	sample_words_text(s, &count);
	assert_int_equal(count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name),
		cmocka_unit_test(counts_of_the_header),
		cmocka_unit_test(an_address),
		cmocka_unit_test(an_address_at_the_top),
		cmocka_unit_test(frames_of_several_words),
		cmocka_unit_test(equal_samples),
		cmocka_unit_test(numbers_do_not_overlap),
	};

	return cmocka_run_group_tests_name("sample_words", tests, NULL, NULL);
}
