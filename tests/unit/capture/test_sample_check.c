// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "capture/rings/record_check.h"
#include "capture/rings/rings.h"
#include "compilation_text.h"

#define USER_WORDS   (WIRE_INTERPRETED_WORDS + WIRE_COMPILED_WORDS + 2)
#define RECORD_WORDS (2 + USER_WORDS)

/* Two kernel frames, an interpreted frame, a compiled one, a mark, a code frame. */
static union {
	struct wire_sample sample;
	uint8_t bytes[sizeof(struct wire_sample) + 8 * (RECORD_WORDS + 1)];
	uint64_t align;
} record;

#define FIRST_WORD(kind, address) ((address) | (uint64_t)(kind) << WIRE_FRAME_KIND_SHIFT)
#define RECORD_BYTES		  (sizeof(struct wire_sample) + RECORD_WORDS * 8)

static struct wire_sample *fresh(void)
{
	struct wire_sample *s = &record.sample;

	memset(&record, 0, sizeof(record));
	s->size = RECORD_BYTES;
	s->kind = WIRE_SAMPLE;
	s->kernel_frames = 2;
	s->user_words = USER_WORDS;
	s->user_frames = 4;
	s->words[2] = FIRST_WORD(WIRE_FRAME_INTERPRETED, 0x1234);
	s->words[2 + WIRE_INTERPRETED_WORDS] = FIRST_WORD(WIRE_FRAME_COMPILED, 0x2345);
	s->words[RECORD_WORDS - 2] = FIRST_WORD(WIRE_FRAME_MARK, WIRE_MARK_ANCHOR);
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

/* A sample of which no frame could be read. */
static void test_empty(void **state)
{
	struct wire_sample *s = fresh();

	(void)state;
	s->kernel_frames = s->user_words = s->user_frames = 0;
	s->size = sizeof(*s);
	assert_int_equal(sample_check(s, sizeof(*s)), 0);
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
	fresh()->state = WIRE_STATE_COUNT;
	assert_int_equal(sample_check(&record, RECORD_BYTES), -EBADMSG);
	fresh()->cause = WIRE_CAUSE_COUNT;
	assert_int_equal(sample_check(&record, RECORD_BYTES), -EBADMSG);
	fresh()->waker = WIRE_WAKER_COUNT;
	assert_int_equal(sample_check(&record, RECORD_BYTES), -EBADMSG);
	fresh()->waker = WIRE_WAKER_COUNT - 1;
	assert_int_equal(sample_check(&record, RECORD_BYTES), 0);
}

static void test_frames(void **state)
{
	(void)state;
	fresh()->user_frames = 5;
	assert_int_equal(sample_check(&record, RECORD_BYTES), -EBADMSG);
	/* Frames that reach beyond the end. */
	fresh()->words[RECORD_WORDS - 1] = FIRST_WORD(WIRE_FRAME_INTERPRETED, 0);
	assert_int_equal(sample_check(&record, RECORD_BYTES), -EBADMSG);
	fresh()->words[RECORD_WORDS - 1] = FIRST_WORD(WIRE_FRAME_COMPILED, 0);
	assert_int_equal(sample_check(&record, RECORD_BYTES), -EBADMSG);
	fresh()->words[RECORD_WORDS - 1] = FIRST_WORD(WIRE_FRAME_KIND_COUNT, 0);
	assert_int_equal(sample_check(&record, RECORD_BYTES), -EBADMSG);
}

static void test_marks(void **state)
{
	(void)state;
	for (uint64_t mark = 1; mark < WIRE_MARK_COUNT; mark++) {
		fresh()->words[RECORD_WORDS - 2] = FIRST_WORD(WIRE_FRAME_MARK, mark);
		assert_int_equal(sample_check(&record, RECORD_BYTES), 0);
	}
	fresh()->words[RECORD_WORDS - 2] = FIRST_WORD(WIRE_FRAME_MARK, 0);
	assert_int_equal(sample_check(&record, RECORD_BYTES), -EBADMSG);
	fresh()->words[RECORD_WORDS - 2] = FIRST_WORD(WIRE_FRAME_MARK, WIRE_MARK_COUNT);
	assert_int_equal(sample_check(&record, RECORD_BYTES), -EBADMSG);
}

static char delivered[64];

static void note(const char *what)
{
	snprintf(delivered + strlen(delivered), sizeof(delivered) - strlen(delivered), "%s ", what);
}

static void note_sample(const struct wire_sample *sample, void *data)
{
	(void)sample;
	(void)data;
	note("sample");
}

static void note_miss(const struct wire_miss *miss, void *data)
{
	(void)miss;
	(void)data;
	note("miss");
}

static void note_invalid(const void *bytes, size_t len, void *data)
{
	assert_ptr_equal(bytes, data);
	assert_int_equal(len, RECORD_BYTES);
	note("invalid");
}

/* Of a virtual thread: behind the words. */
static void test_names(void **state)
{
	struct wire_sample *s = fresh();

	(void)state;
	s->size += 8;
	s->name_bytes = 7;
	s->name_width = 1;
	assert_int_equal(sample_check(&record, RECORD_BYTES + 8), 0);
	assert_int_equal(sample_check(&record, RECORD_BYTES), -EBADMSG);
	s->name_width = 2;
	assert_int_equal(sample_check(&record, RECORD_BYTES + 8), -EBADMSG);
	s->name_bytes = 8;
	assert_int_equal(sample_check(&record, RECORD_BYTES + 8), 0);
	s->name_width = 0;
	assert_int_equal(sample_check(&record, RECORD_BYTES + 8), -EBADMSG);
	s->name_width = 4;
	assert_int_equal(sample_check(&record, RECORD_BYTES + 8), -EBADMSG);
	s->name_width = 1;
	s->name_bytes = 9;
	assert_int_equal(sample_check(&record, RECORD_BYTES + 8), -EBADMSG);
	s->name_bytes = 0;
	assert_int_equal(sample_check(&record, RECORD_BYTES + 8), -EBADMSG);
}

static void test_names_that_are_too_long(void **state)
{
	const size_t words = WIRE_NAME_WORDS(WIRE_NAME_BYTES + 1);
	const size_t size = sizeof(struct wire_sample) + 8 * words;
	_cleanup_free_ struct wire_sample *s = calloc(1, size);

	(void)state;
	*s = (struct wire_sample){ .size = (uint32_t)size,
				   .kind = WIRE_SAMPLE,
				   .name_width = 1,
				   .name_bytes = WIRE_NAME_BYTES + 1 };
	assert_int_equal(sample_check(s, size), -EBADMSG);
	s->name_bytes = WIRE_NAME_BYTES;
	s->size -= 8;
	assert_int_equal(sample_check(s, size - 8), 0);
}

/* Of a compilation there is as much as it says, and no more than may be. */
static void test_compilations(void **state)
{
	static union {
		struct wire_sample sample;
		char space[sizeof(struct wire_sample) + WIRE_TEXT_BYTES];
	} u;
	const struct compiled c = { { .chance = 1 }, "a/B", "m", "()V" };
	struct wire_compilation *head = (void *)u.sample.words;

	(void)state;
	u.sample = (struct wire_sample){ .kind = WIRE_SAMPLE };
	put_compilation(&u.sample, &c);
	assert_int_equal(sample_check(&u, u.sample.size), 0);
	head->method_bytes++;
	assert_int_equal(sample_check(&u, u.sample.size), -EBADMSG);
	head->method_bytes--;
	head->chance = 0;
	assert_int_equal(sample_check(&u, u.sample.size), -EBADMSG);
	head->chance = 1;
	u.sample.name_width = 2;
	assert_int_equal(sample_check(&u, u.sample.size), -EBADMSG);
	u.sample.name_width = 1;
	u.sample.text = WIRE_TEXT_COUNT;
	assert_int_equal(sample_check(&u, u.sample.size), -EBADMSG);
	u.sample.text = WIRE_TEXT_COMPILATION;
	u.sample.name_bytes = sizeof(*head) - 1;
	u.sample.size = sizeof(u.sample) + sizeof(*head);
	assert_int_equal(sample_check(&u, u.sample.size), -EBADMSG);
	u.sample.name_bytes = sizeof(*head) + WIRE_COMPILED_METHOD_BYTES + 1;
	u.sample.size = (uint32_t)(sizeof(u.sample) + 8 * WIRE_NAME_WORDS(u.sample.name_bytes));
	*head = (struct wire_compilation){ .chance = 1,
					   .method_bytes = WIRE_COMPILED_METHOD_BYTES + 1 };
	assert_int_equal(sample_check(&u, u.sample.size), -EBADMSG);
}

static void test_loaded_classes(void **state)
{
	static union {
		struct wire_sample sample;
		char space[sizeof(struct wire_sample) + WIRE_TEXT_BYTES];
	} u;
	struct wire_class_load *head = (void *)u.sample.words;

	(void)state;
	u.sample = (struct wire_sample){ .kind = WIRE_SAMPLE };
	put_class_load(&u.sample, "a/B");
	assert_int_equal(sample_check(&u, u.sample.size), 0);
	head->class_bytes++;
	assert_int_equal(sample_check(&u, u.sample.size), -EBADMSG);
	head->class_bytes--;
	head->chance = 0;
	assert_int_equal(sample_check(&u, u.sample.size), -EBADMSG);
	head->chance = 1;
	u.sample.name_width = 2;
	assert_int_equal(sample_check(&u, u.sample.size), -EBADMSG);
	u.sample.name_width = 1;
	u.sample.name_bytes = sizeof(*head) - 1;
	u.sample.size = sizeof(u.sample) + sizeof(*head);
	assert_int_equal(sample_check(&u, u.sample.size), -EBADMSG);
	*head = (struct wire_class_load){ .chance = 1, .class_bytes = WIRE_LOADED_CLASS_BYTES + 1 };
	u.sample.name_bytes = sizeof(*head) + WIRE_LOADED_CLASS_BYTES + 1;
	u.sample.size = (uint32_t)(sizeof(u.sample) + 8 * WIRE_NAME_WORDS(u.sample.name_bytes));
	assert_int_equal(sample_check(&u, u.sample.size), -EBADMSG);
}

static void test_pauses(void **state)
{
	static union {
		struct wire_sample sample;
		char space[sizeof(struct wire_sample) + WIRE_TEXT_BYTES];
	} u;

	(void)state;
	u.sample = (struct wire_sample){ .kind = WIRE_SAMPLE };
	put_pause(&u.sample, "ZMarkStart", "Warmup");
	assert_int_equal(sample_check(&u, u.sample.size), 0);
	u.sample.name_bytes--;
	assert_int_equal(sample_check(&u, u.sample.size), -EBADMSG);
	u.sample.name_bytes += 2;
	u.sample.size += 8;
	assert_int_equal(sample_check(&u, u.sample.size), -EBADMSG);
}

/* Every record goes to one callback, that which fails its check too. */
static void test_delivery(void **state)
{
	const struct rings_handler handler = {
		.sample = note_sample, .miss = note_miss, .invalid = note_invalid, .data = &record
	};

	(void)state;
	rings_deliver(&handler, fresh(), RECORD_BYTES);
	fresh()->user_frames = 5;
	rings_deliver(&handler, &record, RECORD_BYTES);
	fresh()->kind = WIRE_MISS;
	rings_deliver(&handler, &record, RECORD_BYTES);
	assert_string_equal(delivered, "sample invalid invalid ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delivery),
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_names_that_are_too_long),
		cmocka_unit_test(test_compilations),
		cmocka_unit_test(test_loaded_classes),
		cmocka_unit_test(test_pauses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
