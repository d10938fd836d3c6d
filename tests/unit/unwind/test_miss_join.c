/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>

#include "heap_use.h"
#include "unwind/miss_join.h"

static struct wire_miss miss_of(uint32_t tid, uint64_t time_ns)
{
	return (struct wire_miss){ .size = sizeof(struct wire_miss),
				   .kind = WIRE_MISS,
				   .tgid = 7,
				   .tid = tid,
				   .time_ns = time_ns,
				   .pc = 1000 + tid };
}

static struct wire_sample sample_of(uint32_t tid, uint64_t time_ns)
{
	return (struct wire_sample){ .size = sizeof(struct wire_sample),
				     .tgid = 7,
				     .tid = tid,
				     .time_ns = time_ns,
				     .flags = WIRE_SAMPLE_RESUMED };
}

static void put(struct miss_join *join, uint32_t tid, uint64_t time_ns)
{
	struct wire_miss miss = miss_of(tid, time_ns);

	miss_join_put(join, &miss);
}

static uint64_t take(struct miss_join *join, uint32_t tid, uint64_t time_ns)
{
	struct wire_sample sample = sample_of(tid, time_ns);
	struct wire_miss *miss = miss_join_take(join, &sample);
	uint64_t pc = miss ? miss->pc : 0;

	free(miss);
	return pc;
}

/* Two cpus were drained between miss and sample: each finds its own. */
static void test_each_its_own(void **state)
{
	struct miss_join join = { 0 };

	(void)state;
	put(&join, 1, 100);
	put(&join, 2, 100);
	put(&join, 2, 200);
	assert_int_equal(take(&join, 3, 100), 0);
	assert_int_equal(take(&join, 1, 200), 0);
	assert_int_equal(take(&join, 1, 100), 1001);
	assert_int_equal(take(&join, 1, 100), 0);
	assert_int_equal(take(&join, 2, 200), 1002);
	assert_int_equal(take(&join, 2, 100), 1002);
	assert_int_equal(join.waiting.len, 0);
	assert_int_equal(join.orphans, 0);
	miss_join_release(&join);
}

static void test_orphans(void **state)
{
	struct miss_join join = { 0 };

	(void)state;
	for (uint64_t time_ns = 1; time_ns <= 10; time_ns++)
		put(&join, 1, time_ns);
	miss_join_expire(&join, 8);
	assert_int_equal(join.orphans, 7);
	assert_int_equal(take(&join, 1, 7), 0);
	assert_int_equal(take(&join, 1, 8), 1001);
	/* however many come, a bounded number waits */
	for (uint64_t time_ns = 1; time_ns <= 5000; time_ns++)
		put(&join, 2, time_ns);
	assert_true(join.waiting.len <= 1024);
	assert_int_equal(join.waiting.len + join.orphans, 2 + 7 + 5000);
	miss_join_release(&join);
}

/* Of the deepest stacks fewer wait. */
static void test_large(void **state)
{
	struct miss_join join = { 0 };
	const size_t size = sizeof(struct wire_miss) + WIRE_MISS_MAX_COPY;
	struct wire_miss *miss = calloc(1, size);
	size_t before = heap_use();

	(void)state;
	*miss = miss_of(1, 0);
	miss->size = (uint32_t)size;
	for (; miss->time_ns < 200; miss->time_ns++) {
		miss_join_put(&join, miss);
		assert_int_equal(join.bytes, join.waiting.len * size);
		assert_true(join.bytes <= 4 << 20);
	}
	assert_int_equal(take(&join, 1, 199), 1001);
	assert_int_equal(join.bytes, join.waiting.len * size);
	assert_true(join.waiting.len > 1);
	miss_join_release(&join);
	assert_true(heap_use() < before + size);
	free(miss);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_its_own),
		cmocka_unit_test(test_orphans),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
