// SPDX-License-Identifier: Apache-2.0
/* Records of waits: what passes, and to whom it goes. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "capture/rings/record_check.h"
#include "capture/rings/rings.h"

static struct wire_span span;

static struct wire_span *fresh(void)
{
	span = (struct wire_span){ .size = sizeof(span),
				   .kind = WIRE_SPAN,
				   .event = 1,
				   .halved = 3,
				   .time_ns = 5,
				   .length_ns = 100,
				   .queued_ns = 100,
				   .tid = 7 };
	return &span;
}

static void test_good(void **state)
{
	(void)state;
	assert_int_equal(span_check(fresh(), sizeof(span)), 0);
	/* Too short to be wanted: how long it was queued does not matter. */
	fresh()->length_ns = 0;
	assert_int_equal(span_check(&span, sizeof(span)), 0);
	fresh()->halved = WIRE_OFFCPU_MOST_HALVED;
	assert_int_equal(span_check(&span, sizeof(span)), 0);
}

static void test_bad(void **state)
{
	(void)state;
	for (size_t len = 0; len < sizeof(span); len++)
		assert_int_equal(span_check(fresh(), len), -EBADMSG);
	fresh()->size--;
	assert_int_equal(span_check(&span, sizeof(span)), -EBADMSG);
	fresh()->kind = WIRE_SAMPLE;
	assert_int_equal(span_check(&span, sizeof(span)), -EBADMSG);
	fresh()->event = WIRE_MAX_EVENTS;
	assert_int_equal(span_check(&span, sizeof(span)), -EBADMSG);
	fresh()->halved = WIRE_OFFCPU_MOST_HALVED + 1;
	assert_int_equal(span_check(&span, sizeof(span)), -EBADMSG);
	/* As a weight it would not fit. */
	fresh()->length_ns = UINT64_MAX;
	assert_int_equal(span_check(&span, sizeof(span)), -EBADMSG);
	fresh()->queued_ns = 101;
	assert_int_equal(span_check(&span, sizeof(span)), -EBADMSG);
	fresh()->weight_ns = (uint64_t)INT64_MAX + 1;
	assert_int_equal(span_check(&span, sizeof(span)), -EBADMSG);
}

static void test_lock_begin(void **state)
{
	struct wire_lock_begin begin = { .size = sizeof(begin), .kind = WIRE_LOCK_BEGIN };

	(void)state;
	begin.begin_ns = WIRE_OWNER_VALUE_MASK;
	assert_int_equal(lock_begin_check(&begin, sizeof(begin)), 0);
	for (size_t len = 0; len < sizeof(begin); len++)
		assert_int_equal(lock_begin_check(&begin, len), -EBADMSG);
	/* A sample could not name it. */
	begin.begin_ns++;
	assert_int_equal(lock_begin_check(&begin, sizeof(begin)), -EBADMSG);
	begin.begin_ns = 1;
	begin.size++;
	assert_int_equal(lock_begin_check(&begin, sizeof(begin)), -EBADMSG);
	begin.size--;
	begin.kind = WIRE_SPAN;
	assert_int_equal(lock_begin_check(&begin, sizeof(begin)), -EBADMSG);
}

/* Threads are told of one behind another. */
static void test_parked(void **state)
{
	static uint64_t room[(sizeof(struct wire_parked) + 2 * 8) / 8],
		large[sizeof(room) / 8 + WIRE_MAX_KERNEL_FRAMES];
	struct wire_parked *parked = (struct wire_parked *)room;

	(void)state;
	parked->size = sizeof(room);
	parked->kernel_frames = 2;
	assert_int_equal(parked_check(parked, sizeof(room)), 0);
	assert_int_equal(parked_check(parked, sizeof(room) + 1), 0);
	for (size_t len = 0; len < sizeof(room); len++)
		assert_int_equal(parked_check(parked, len), -EBADMSG);
	parked->state = WIRE_STATE_COUNT;
	assert_int_equal(parked_check(parked, sizeof(room)), -EBADMSG);
	parked->state = 0;
	parked->cause = WIRE_CAUSE_COUNT;
	assert_int_equal(parked_check(parked, sizeof(room)), -EBADMSG);
	parked->cause = 0;
	parked->kernel_frames = 1;
	assert_int_equal(parked_check(parked, sizeof(room)), -EBADMSG);
	parked->kernel_frames = UINT32_MAX;
	parked->size = (uint32_t)(sizeof(*parked) + UINT32_MAX * 8ULL);
	assert_int_equal(parked_check(parked, sizeof(room)), -EBADMSG);
	parked = (struct wire_parked *)large;
	parked->kernel_frames = WIRE_MAX_KERNEL_FRAMES;
	parked->size = sizeof(*parked) + WIRE_MAX_KERNEL_FRAMES * 8;
	assert_int_equal(parked_check(parked, sizeof(large)), 0);
	parked->kernel_frames++;
	parked->size += 8;
	assert_int_equal(parked_check(parked, sizeof(large)), -EBADMSG);
}

static void note(const struct wire_span *got, void *data)
{
	assert_ptr_equal(got, &span);
	++*(int *)data;
}

static void note_begin(const struct wire_lock_begin *got, void *data)
{
	*(int *)data += (int)got->tid;
}

static void test_delivery(void **state)
{
	const struct wire_lock_begin begin = { .size = sizeof(begin),
					       .kind = WIRE_LOCK_BEGIN,
					       .tid = 100 };
	int count = 0;
	const struct rings_handler handler = { .span = note,
					       .lock_begin = note_begin,
					       .data = &count };

	(void)state;
	rings_deliver(&handler, fresh(), sizeof(span));
	assert_int_equal(count, 1);
	rings_deliver(&handler, &begin, sizeof(begin));
	assert_int_equal(count, 101);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),	   cmocka_unit_test(test_bad),
		cmocka_unit_test(test_lock_begin), cmocka_unit_test(test_parked),
		cmocka_unit_test(test_delivery),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
