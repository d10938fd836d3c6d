// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <errno.h>
#include <string.h>

#include "capture/rings.h"

/* Two kernel frames, an interpreted frame, a code frame. */
static union {
	struct wire_sample sample;
	uint8_t bytes[sizeof(struct wire_sample) + 8 * 9];
	uint64_t align;
} record;

#define RECORD_WORDS (2 + WIRE_INTERPRETED_WORDS + 1)
#define RECORD_BYTES (sizeof(struct wire_sample) + RECORD_WORDS * 8)

static struct wire_sample *fresh(void)
{
	struct wire_sample *s = &record.sample;

	memset(&record, 0, sizeof(record));
	s->size = RECORD_BYTES;
	s->kind = WIRE_SAMPLE;
	s->kernel_frames = 2;
	s->user_words = WIRE_INTERPRETED_WORDS + 1;
	s->user_frames = 2;
	s->words[2] = 0x1234 | (uint64_t)WIRE_FRAME_INTERPRETED << WIRE_FRAME_KIND_SHIFT;
	s->words[RECORD_WORDS - 1] = 0x4321 | WIRE_FRAME_EXACT;
	return s;
}

static void test_good(void **state)
{
	(void)state;
	fresh();
	assert_int_equal(sample_check(&record, RECORD_BYTES), 0);
}

static void test_sizes(void **state)
{
	(void)state;
	fresh();
	for (size_t len = 0; len < RECORD_BYTES; len++)
		assert_int_equal(sample_check(&record, len), -EBADMSG);
	fresh()->size += 8;
	assert_int_equal(sample_check(&record, RECORD_BYTES + 8), -EBADMSG);
	fresh()->user_words++;
	assert_int_equal(sample_check(&record, RECORD_BYTES), -EBADMSG);
	fresh()->kernel_frames = UINT16_MAX;
	assert_int_equal(sample_check(&record, RECORD_BYTES), -EBADMSG);
}

static void test_fields(void **state)
{
	(void)state;
	fresh()->kind = 0;
	assert_int_equal(sample_check(&record, RECORD_BYTES), -EBADMSG);
	fresh()->reason = UNWIND_REASON_COUNT;
	assert_int_equal(sample_check(&record, RECORD_BYTES), -EBADMSG);
	fresh()->event = WIRE_MAX_EVENTS;
	assert_int_equal(sample_check(&record, RECORD_BYTES), -EBADMSG);
}

static void test_frames(void **state)
{
	(void)state;
	fresh()->user_frames = 3;
	assert_int_equal(sample_check(&record, RECORD_BYTES), -EBADMSG);
	/* An interpreted frame that reaches beyond the end. */
	fresh()->words[RECORD_WORDS - 1] = (uint64_t)WIRE_FRAME_INTERPRETED
					   << WIRE_FRAME_KIND_SHIFT;
	assert_int_equal(sample_check(&record, RECORD_BYTES), -EBADMSG);
	fresh()->words[RECORD_WORDS - 1] = 9ULL << WIRE_FRAME_KIND_SHIFT;
	assert_int_equal(sample_check(&record, RECORD_BYTES), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
