// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <errno.h>
#include <string.h>

#include "capture/rings/record_check.h"
#include "capture/rings/rings.h"

#define COPY_BYTES   40
#define RECORD_BYTES (sizeof(struct wire_miss) + COPY_BYTES)

static union {
	struct wire_miss miss;
	uint8_t bytes[sizeof(struct wire_miss) + WIRE_MISS_MAX_COPY + 8];
} record;

static struct wire_miss *fresh(void)
{
	struct wire_miss *m = &record.miss;

	memset(m, 0, sizeof(*m));
	m->size = RECORD_BYTES;
	m->kind = WIRE_MISS;
	m->leaf = m->exact = 1;
	m->copy_at = 0x7ffe00000000;
	m->copy_bytes = COPY_BYTES;
	m->code_bytes = WIRE_MISS_CODE_BYTES;
	return m;
}

static void test_good(void **state)
{
	(void)state;
	fresh();
	assert_int_equal(miss_check(&record, RECORD_BYTES), 0);
	fresh()->code_bytes = 0;
	assert_int_equal(miss_check(&record, RECORD_BYTES), 0);
	/* No stack at all, and the most. */
	fresh()->copy_bytes = 0;
	record.miss.size = sizeof(struct wire_miss);
	assert_int_equal(miss_check(&record, sizeof(struct wire_miss)), 0);
	fresh()->copy_bytes = WIRE_MISS_MAX_COPY;
	record.miss.size = sizeof(struct wire_miss) + WIRE_MISS_MAX_COPY;
	assert_int_equal(miss_check(&record, record.miss.size), 0);
}

static void test_sizes(void **state)
{
	(void)state;
	fresh();
	for (size_t len = 0; len < RECORD_BYTES; len++)
		assert_int_equal(miss_check(&record, len), -EBADMSG);
	for (size_t len = 0; len < RECORD_BYTES; len++) {
		fresh()->size = (uint32_t)len;
		assert_int_equal(miss_check(&record, len), -EBADMSG);
	}
	fresh()->copy_bytes++;
	assert_int_equal(miss_check(&record, RECORD_BYTES), -EBADMSG);
	fresh()->copy_bytes = UINT32_MAX;
	assert_int_equal(miss_check(&record, RECORD_BYTES), -EBADMSG);
	fresh()->copy_bytes = WIRE_MISS_MAX_COPY + 8;
	record.miss.size = sizeof(struct wire_miss) + WIRE_MISS_MAX_COPY + 8;
	assert_int_equal(miss_check(&record, record.miss.size), -EBADMSG);
}

/* What is copied of the heap comes behind the stack. */
static void test_heap(void **state)
{
	const uint32_t bytes = 24;

	(void)state;
	fresh()->heap_bytes = bytes;
	record.miss.heap_count = 2;
	record.miss.heap[0].bytes = 8;
	record.miss.heap[1].bytes = 16;
	record.miss.size = RECORD_BYTES + bytes;
	assert_int_equal(miss_check(&record, RECORD_BYTES + bytes), 0);
	record.miss.heap[1].bytes = 17;
	assert_int_equal(miss_check(&record, RECORD_BYTES + bytes), -EBADMSG);
	record.miss.heap[0].bytes = UINT32_MAX - 15;
	record.miss.heap[1].bytes = bytes + 16;
	assert_int_equal(miss_check(&record, RECORD_BYTES + bytes), -EBADMSG);
	fresh()->heap_bytes = bytes;
	assert_int_equal(miss_check(&record, RECORD_BYTES), -EBADMSG);
	fresh()->heap_count = WIRE_MISS_HEAP_PIECES;
	assert_int_equal(miss_check(&record, RECORD_BYTES), 0);
	fresh()->heap_count = WIRE_MISS_HEAP_PIECES + 1;
	assert_int_equal(miss_check(&record, RECORD_BYTES), -EBADMSG);
	/* As much as there can be, and more. */
	for (uint32_t more = 0; more < 2; more++) {
		fresh()->heap_bytes = WIRE_MISS_HEAP_BYTES + more;
		record.miss.heap_count = 1;
		record.miss.heap[0].bytes = WIRE_MISS_HEAP_BYTES + more;
		record.miss.size = (uint32_t)RECORD_BYTES + WIRE_MISS_HEAP_BYTES + more;
		assert_int_equal(miss_check(&record, record.miss.size), more ? -EBADMSG : 0);
	}
}

/* And behind that what is there of the stack beyond. */
static void test_beyond(void **state)
{
	(void)state;
	fresh()->heap_bytes = 8;
	record.miss.heap[0].bytes = 8;
	record.miss.heap_count = 1;
	record.miss.beyond_bytes = 24;
	record.miss.beyond_count = 2;
	record.miss.beyond[0].bytes = 8;
	record.miss.beyond[1].bytes = 16;
	record.miss.size = RECORD_BYTES + 32;
	assert_int_equal(miss_check(&record, RECORD_BYTES + 32), 0);
	record.miss.beyond[1].bytes = 15;
	assert_int_equal(miss_check(&record, RECORD_BYTES + 32), -EBADMSG);
	fresh()->beyond_count = WIRE_MISS_BEYOND_PIECES;
	assert_int_equal(miss_check(&record, RECORD_BYTES), 0);
	fresh()->beyond_count = WIRE_MISS_BEYOND_PIECES + 1;
	assert_int_equal(miss_check(&record, RECORD_BYTES), -EBADMSG);
	/* The last page may cross what is the most. */
	for (uint32_t more = 0; more < 2; more++) {
		const uint32_t bytes = WIRE_MISS_MAX_COPY + WIRE_PAGE_BYTES + more;

		fresh()->copy_bytes = 0;
		record.miss.beyond_bytes = record.miss.beyond[0].bytes = bytes;
		record.miss.beyond_count = 1;
		record.miss.size = (uint32_t)sizeof(struct wire_miss) + bytes;
		assert_int_equal(miss_check(&record, record.miss.size), more ? -EBADMSG : 0);
	}
}

static void test_fields(void **state)
{
	(void)state;
	fresh()->kind = WIRE_SAMPLE;
	assert_int_equal(miss_check(&record, RECORD_BYTES), -EBADMSG);
	fresh()->copy_at = UINT64_MAX - COPY_BYTES + 1; /* wraps around */
	assert_int_equal(miss_check(&record, RECORD_BYTES), -EBADMSG);
	fresh()->code_bytes = WIRE_MISS_CODE_BYTES + 1;
	assert_int_equal(miss_check(&record, RECORD_BYTES), -EBADMSG);
	fresh()->code_bytes = 8;
	assert_int_equal(miss_check(&record, RECORD_BYTES), -EBADMSG);
	fresh()->leaf = 2;
	assert_int_equal(miss_check(&record, RECORD_BYTES), -EBADMSG);
	fresh()->exact = 2;
	assert_int_equal(miss_check(&record, RECORD_BYTES), -EBADMSG);
	fresh()->linked = 2;
	assert_int_equal(miss_check(&record, RECORD_BYTES), -EBADMSG);
	fresh()->regs_kept = 2;
	assert_int_equal(miss_check(&record, RECORD_BYTES), -EBADMSG);
	fresh()->guessed = 2;
	assert_int_equal(miss_check(&record, RECORD_BYTES), -EBADMSG);
	fresh()->at_entry = 2;
	assert_int_equal(miss_check(&record, RECORD_BYTES), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),   cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_heap),   cmocka_unit_test(test_beyond),
		cmocka_unit_test(test_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
