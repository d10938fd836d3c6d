// SPDX-License-Identifier: Apache-2.0
/* Lists of ranges, as find_at_pc() of bpf/ finds them with what get_space() gives. */
#include "test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "heap_tables.h"
#include "unwind/find.h"
#include "unwind/tables/space_store.h"

#define MAX_RANGES 4096

struct stage {
	struct table_memory *memory; /* owned */
	struct space_store *store;   /* owned */
	uint64_t now_ns;
};

static void stage_init(struct stage *stage, uint32_t ranges)
{
	stage->memory = table_memory_new_heap(2, 2, ranges);
	stage->store = space_store_new(stage->memory);
	stage->now_ns = clock_now_ns() + 3600 * NSEC_PER_SEC;
}

static void stage_release(struct stage *stage)
{
	space_store_free(stage->store);
	table_memory_free_heap(stage->memory);
}

static struct space_store_stats stats_of(const struct stage *stage)
{
	struct space_store_stats stats;

	space_store_get_stats(stage->store, &stats);
	return stats;
}

/* Every range has 0x1000 bytes and begins at a multiple of STEP. */
static void fill_ranges(struct wire_range *ranges, uint32_t count, uint64_t step, uint64_t bias)
{
	for (uint32_t i = 0; i < count; i++)
		ranges[i] = (struct wire_range){ .start = (i + 1) * step,
						 .end = (i + 1) * step + 0x1000,
						 .bias = bias,
						 .file = i + 1 };
}

static int put_space(struct stage *stage, uint32_t tgid, uint32_t count, uint64_t bias)
{
	static struct wire_range ranges[MAX_RANGES];
	struct space_identity id = { .tgid = tgid, .exec_id = tgid + 1, .start_ns = tgid * 10 };

	fill_ranges(ranges, count, 0x3000, bias);
	return space_store_put(stage->store, &id,
			       &(struct space_content){ ranges, count, .exec_pages = 77 },
			       stage->now_ns);
}

static struct wire_space space_of(const struct stage *stage, uint32_t tgid)
{
	struct wire_space space = {};

	stage->memory->get_space(tgid, &space, stage->memory->data);
	return space;
}

static bool has_space(const struct stage *stage, uint32_t tgid)
{
	return space_of(stage, tgid).serial != 0;
}

/* As BPF has it at a sample. */
static struct unwind_cursor cursor;

static int find_verdict(const struct stage *stage, const struct wire_space *space, uint64_t address)
{
	struct unwind_tables tables = { .ranges = stage->memory->ranges,
					.range_count = stage->memory->range_count };
	struct unwind_memory memory = { .tables = &tables };

	memset(&cursor, 0, offsetof(struct unwind_cursor, window));
	cursor.serial = space->serial;
	cursor.first = space->first;
	cursor.count = space->count;
	return find_range(&cursor, &memory, address);
}

/* File 0 when the address is in no range of a good list. */
static struct wire_range find_range_of(const struct stage *stage, const struct wire_space *space,
				       uint64_t address)
{
	int verdict = find_verdict(stage, space, address);

	assert_int_not_equal(verdict, UNWIND_ABSENT);
	return verdict == UNWIND_FOUND ? cursor.range : (struct wire_range){};
}

static void expect_file(const struct stage *stage, const struct wire_space *space, uint64_t address,
			uint32_t file)
{
	struct wire_range range = find_range_of(stage, space, address);

	if (range.file != file)
		fail_msg("%#" PRIx64 " is in file %u, expected %u", address, range.file, file);
}

static void expect_space(const struct stage *stage, uint32_t tgid, uint32_t count, uint64_t bias)
{
	struct wire_space space = space_of(stage, tgid);

	assert_int_equal(space.count, count);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t start = (i + 1) * 0x3000ULL;

		expect_file(stage, &space, start - 1, 0);
		expect_file(stage, &space, start, i + 1);
		expect_file(stage, &space, start + 0xfff, i + 1);
		expect_file(stage, &space, start + 0x1000, 0);
		assert_int_equal(find_range_of(stage, &space, start).bias, bias);
	}
	expect_file(stage, &space, 0, 0);
	expect_file(stage, &space, UINT64_MAX, 0);
}

static void test_first_last_and_gaps(void **state)
{
	static const uint32_t counts[] = { 0, 1, 2, 3, 64, 100, 1000 };
	const struct wire_range *ranges;
	struct wire_space space;
	struct stage stage;

	(void)state;
	stage_init(&stage, 2048);
	for (uint32_t i = 0; i < ARRAY_SIZE(counts); i++)
		assert_int_equal(put_space(&stage, i + 1, counts[i], i), 0);
	for (uint32_t i = 0; i < ARRAY_SIZE(counts); i++)
		expect_space(&stage, i + 1, counts[i], i);
	assert_int_equal(space_store_get(stage.store, 4, &space, &ranges), 0);
	assert_int_equal(space.start_ns, 40);
	assert_int_equal(space.exec_id, 5);
	assert_int_equal(space.exec_pages, 77);
	assert_int_equal(space.used_s, stage.now_ns / NSEC_PER_SEC);
	assert_int_equal(space.strays, 0);
	assert_int_equal(space.count, 3);
	assert_int_equal(ranges[2].start, 0x9000);
	assert_int_equal(ranges[2].serial, space.serial);
	assert_int_equal(space_store_get(stage.store, 99, &space, &ranges), -ENOENT);
	assert_int_equal(stats_of(&stage).ranges_used, 1170);
	assert_int_equal(stats_of(&stage).ranges_free, 2048 - 1170);
	stage_release(&stage);
}

/* The look-up's turns suffice for the longest list. */
static void test_longest_list(void **state)
{
	struct space_identity id = { 1, 1, 1 };
	struct wire_range *ranges = xcalloc(65537, sizeof(*ranges));
	struct space_content content = { ranges, 65537, 0, 0 };
	struct wire_space space;
	struct stage stage;

	(void)state;
	stage_init(&stage, 70000);
	fill_ranges(ranges, 65537, 0x3000, 0);
	assert_int_equal(space_store_put(stage.store, &id, &content, stage.now_ns), -ENOSPC);
	content.count = 65536;
	assert_int_equal(space_store_put(stage.store, &id, &content, stage.now_ns), 0);
	space = space_of(&stage, 1);
	for (uint32_t i = 0; i < 65536; i++)
		expect_file(&stage, &space, (i + 1) * 0x3000ULL + 5, i + 1);
	free(ranges);
	stage_release(&stage);
}

static void test_refused(void **state)
{
	struct wire_range ranges[2] = { { .start = 0x1000, .end = 0x3000 },
					{ .start = 0x2000, .end = 0x4000 } };
	const struct space_content content = { ranges, 2, 0, 0 };
	struct space_identity id = { 1, 1, 1 };
	struct stage stage;

	(void)state;
	stage_init(&stage, 8);
	assert_int_equal(space_store_put(stage.store, &id, &content, stage.now_ns), -EINVAL);
	ranges[1].start = ranges[1].end;
	assert_int_equal(space_store_put(stage.store, &id, &content, stage.now_ns), -EINVAL);
	assert_int_equal(put_space(&stage, 1, 9, 0), -ENOSPC);
	assert_int_equal(put_space(&stage, 1, 8, 0), 0);
	assert_int_equal(put_space(&stage, 1, 9, 0), -ENOSPC);
	expect_space(&stage, 1, 8, 0);
	stage_release(&stage);
}

static void test_replaced(void **state)
{
	struct wire_space old, space;
	struct stage stage;

	(void)state;
	stage_init(&stage, 64);
	assert_int_equal(put_space(&stage, 1, 10, 1), 0);
	old = space_of(&stage, 1);
	assert_int_equal(put_space(&stage, 1, 12, 2), 0);
	expect_space(&stage, 1, 12, 2);
	assert_int_equal(stats_of(&stage).spaces, 1);
	assert_int_equal(stats_of(&stage).ranges_used, 12);
	space = space_of(&stage, 1);
	assert_int_not_equal(space.serial, old.serial);
	/* A walk that took the old space goes on with what it had. */
	expect_file(&stage, &old, 0x3000, 1);
	assert_int_equal(find_range_of(&stage, &old, 0x3000).bias, 1);
	space_store_drop(stage.store, 1, stage.now_ns);
	assert_false(has_space(&stage, 1));
	assert_int_equal(stats_of(&stage).spaces, 0);
	assert_int_equal(stats_of(&stage).ranges_free, 64);
	stage_release(&stage);
}

/* The same ranges again: the list stays, what BPF counted begins anew. */
static void test_same_ranges_again(void **state)
{
	struct wire_space space;
	uint32_t serial;
	struct stage stage;

	(void)state;
	stage_init(&stage, 64);
	assert_int_equal(put_space(&stage, 1, 10, 1), 0);
	space = space_of(&stage, 1);
	serial = space.serial;
	space.strays = WIRE_MAX_STRAYS;
	space.exec_pages = 1;
	stage.memory->set_space(1, &space, stage.memory->data);
	stage.now_ns += 5 * NSEC_PER_SEC;
	assert_int_equal(put_space(&stage, 1, 10, 1), 0);
	space = space_of(&stage, 1);
	assert_int_equal(space.serial, serial);
	assert_int_equal(space.strays, 0);
	assert_int_equal(space.exec_pages, 77);
	assert_int_equal(space.used_s, stage.now_ns / NSEC_PER_SEC);
	assert_int_equal(stats_of(&stage).ranges_used, 10);
	assert_int_equal(stats_of(&stage).shared, 1);
	stage_release(&stage);
}

/* --- forks ------------------------------------------------------------------------------------ */

static void test_equal_processes_share(void **state)
{
	struct stage stage;

	(void)state;
	stage_init(&stage, 100);
	stage.memory->space_limit = 1000;
	for (uint32_t tgid = 1; tgid <= 500; tgid++)
		assert_int_equal(put_space(&stage, tgid, 90, 4), 0);
	assert_int_equal(stats_of(&stage).ranges_used, 90);
	assert_int_equal(stats_of(&stage).lists, 1);
	assert_int_equal(stats_of(&stage).spaces, 500);
	for (uint32_t tgid = 1; tgid < 500; tgid++)
		space_store_drop(stage.store, tgid, stage.now_ns);
	expect_space(&stage, 500, 90, 4);
	assert_int_equal(stats_of(&stage).evicted, 0);
	stage_release(&stage);
}

/* A child's entry is made by BPF: the store knows it by its list, while that is there. */
static void test_child_of_bpf(void **state)
{
	const struct wire_range *ranges;
	struct wire_space space, child;
	struct stage stage;

	(void)state;
	stage_init(&stage, 16);
	assert_int_equal(put_space(&stage, 1, 10, 1), 0);
	child = space_of(&stage, 1);
	child.start_ns = 123;
	stage.memory->set_space(2, &child, stage.memory->data);
	space_store_drop(stage.store, 1, stage.now_ns);
	assert_int_equal(space_store_get(stage.store, 1, &space, &ranges), -ENOENT);
	assert_int_equal(space_store_get(stage.store, 2, &space, &ranges), 0);
	assert_int_equal(space.start_ns, 123);
	assert_int_equal(ranges[9].start, 0x3000 * 10);
	expect_space(&stage, 2, 10, 1);
	/* The place is wanted for another: the child finds out. */
	stage.now_ns += READERS_NS;
	assert_int_equal(put_space(&stage, 3, 16, 3), 0);
	assert_int_equal(space_store_get(stage.store, 2, &space, &ranges), -ENOENT);
	/* Not that there is no code: its list is to be made again. */
	for (uint64_t address = 0; address < 0x40000; address += 0x800)
		assert_int_equal(find_verdict(&stage, &child, address), UNWIND_ABSENT);
	expect_space(&stage, 3, 16, 3);
	assert_int_equal(stats_of(&stage).waits, 0);
	stage_release(&stage);
}

/* There is room for their ranges; somebody may read them for a moment yet. */
static void test_lists_of_who_has_ended(void **state)
{
	struct stage stage;

	(void)state;
	stage_init(&stage, MAX_RANGES);
	for (uint32_t tgid = 1; tgid < 3000; tgid++) {
		stage.now_ns += tgid == 2999 ? READERS_NS : 0;
		assert_int_equal(put_space(&stage, tgid, 1, tgid), 0);
		space_store_drop(stage.store, tgid, stage.now_ns);
		assert_int_equal(stats_of(&stage).idle_lists, tgid == 2999 ? 2048 : tgid);
	}
	stage_release(&stage);
}

/* --- full ------------------------------------------------------------------------------------- */

/* As BPF marks them at a sample. */
static void use_space(const struct stage *stage, uint32_t tgid)
{
	struct wire_space space = space_of(stage, tgid);

	space.used_s = (uint32_t)(stage->now_ns / NSEC_PER_SEC);
	stage->memory->set_space(tgid, &space, stage->memory->data);
}

static void test_least_recently_used_goes_first(void **state)
{
	struct stage stage;

	(void)state;
	stage_init(&stage, 15);
	for (uint32_t tgid = 1; tgid <= 5; tgid++)
		assert_int_equal(put_space(&stage, tgid, 3, tgid), 0);
	stage.now_ns += NSEC_PER_SEC;
	for (uint32_t tgid = 1; tgid <= 5; tgid++)
		if (tgid != 3)
			use_space(&stage, tgid);
	assert_int_equal(put_space(&stage, 6, 3, 6), 0);
	assert_false(has_space(&stage, 3));
	assert_int_equal(stats_of(&stage).evicted, 1);
	for (uint32_t tgid = 1; tgid <= 6; tgid++)
		if (tgid != 3)
			expect_space(&stage, tgid, 3, tgid);
	/* One whose process has ended goes before all. */
	stage.memory->set_space(5, NULL, stage.memory->data);
	stage.now_ns += NSEC_PER_SEC;
	assert_int_equal(put_space(&stage, 7, 2, 7), 0);
	for (uint32_t tgid = 1; tgid <= 7; tgid++)
		assert_int_equal(has_space(&stage, tgid), tgid != 3 && tgid != 5);
	stage_release(&stage);
}

static void test_full_space_map_evicts(void **state)
{
	struct stage stage;

	(void)state;
	stage_init(&stage, 256);
	stage.memory->space_limit = 10;
	for (uint32_t tgid = 1; tgid <= 100; tgid++) {
		assert_int_equal(put_space(&stage, tgid, 2, tgid % 20), 0);
		expect_space(&stage, tgid, 2, tgid % 20);
	}
	assert_int_equal(stats_of(&stage).spaces, 10);
	assert_int_equal(stats_of(&stage).evicted, 90);
	stage.memory->space_limit = 0;
	assert_int_equal(put_space(&stage, 200, 2, 1), -E2BIG);
	assert_int_equal(stats_of(&stage).spaces, 0);
	assert_int_equal(stats_of(&stage).ranges_used, 0);
	stage_release(&stage);
}

static void test_lists_rest_before_they_are_written(void **state)
{
	struct wire_range before;
	struct stage stage;
	uint64_t begin_ns;

	(void)state;
	stage_init(&stage, 4);
	assert_int_equal(put_space(&stage, 1, 4, 1), 0);
	before = stage.memory->ranges[0];
	space_store_drop(stage.store, 1, stage.now_ns);
	assert_memory_equal(&stage.memory->ranges[0], &before, sizeof(before));
	begin_ns = clock_now_ns();
	assert_int_equal(put_space(&stage, 2, 4, 2), 0);
	assert_true(clock_now_ns() - begin_ns >= READERS_NS);
	assert_int_equal(stats_of(&stage).waits, 1);
	space_store_drop(stage.store, 2, stage.now_ns);
	stage.now_ns += READERS_NS;
	assert_int_equal(put_space(&stage, 3, 4, 3), 0);
	assert_int_equal(stats_of(&stage).waits, 1);
	expect_space(&stage, 3, 4, 3);
	stage_release(&stage);
}

/* Sizes that leave holes, against an array; at last one list of everything fits. */
static void test_fragments(void **state)
{
	uint32_t counts[40] = { 0 };
	uint64_t random = 88172645463325252ULL;
	struct stage stage;

	(void)state;
	stage_init(&stage, 512);
	for (uint32_t turn = 0; turn < 5000; turn++) {
		uint32_t tgid, count;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		tgid = (uint32_t)(random >> 8) % 40;
		count = (uint32_t)(random >> 20) % ((random >> 50) % 16 ? 20 : 200);
		stage.now_ns += 4 * READERS_NS;
		if ((random >> 60) < 3) {
			space_store_drop(stage.store, tgid, stage.now_ns);
			continue;
		}
		assert_int_equal(put_space(&stage, tgid, count, turn), 0);
		counts[tgid] = count;
		expect_space(&stage, tgid, count, turn);
		for (tgid = 0; tgid < 40; tgid++)
			if (has_space(&stage, tgid))
				assert_int_equal(space_of(&stage, tgid).count, counts[tgid]);
	}
	assert_true(stats_of(&stage).evicted > 200);
	assert_true(stats_of(&stage).ranges_used > 100);
	for (uint32_t tgid = 0; tgid < 40; tgid++)
		space_store_drop(stage.store, tgid, stage.now_ns);
	assert_int_equal(stats_of(&stage).ranges_free, 512);
	stage.now_ns += READERS_NS;
	assert_int_equal(put_space(&stage, 1, 512, 9), 0);
	expect_space(&stage, 1, 512, 9);
	stage_release(&stage);
}

/* What is needed and a sixteenth of all more, of at least as large a part of the spaces; no more. */
static void test_how_much_is_given_up(void **state)
{
	struct stage stage;

	(void)state;
	stage_init(&stage, 160);
	for (uint32_t tgid = 1; tgid <= 32; tgid++)
		assert_int_equal(put_space(&stage, tgid, 5, tgid), 0);
	assert_int_equal(stats_of(&stage).evicted, 0);
	assert_int_equal(put_space(&stage, 100, 5, 100), 0);
	assert_int_equal(stats_of(&stage).evicted, 3);
	for (uint32_t tgid = 1; tgid <= 4; tgid++)
		assert_int_equal(has_space(&stage, tgid), tgid > 3);
	assert_int_equal(stats_of(&stage).ranges_used, 150);
	assert_int_equal(stats_of(&stage).ranges_free, 10);
	assert_int_equal(stats_of(&stage).spaces, 32 - 3 + 1);
	assert_int_equal(stats_of(&stage).lists, 32 - 3 + 1);
	stage_release(&stage);
}

/* 5 ranges are needed in all, and so many of 64 spaces are a sixteenth and one. */
static void test_the_least_that_is_given_up(void **state)
{
	struct stage stage;

	(void)state;
	stage_init(&stage, 64);
	for (uint32_t tgid = 1; tgid <= 64; tgid++)
		assert_int_equal(put_space(&stage, tgid, 1, tgid), 0);
	assert_int_equal(put_space(&stage, 100, 1, 100), 0);
	assert_int_equal(stats_of(&stage).evicted, 5);
	stage_release(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_last_and_gaps),
		cmocka_unit_test(test_longest_list),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_same_ranges_again),
		cmocka_unit_test(test_equal_processes_share),
		cmocka_unit_test(test_child_of_bpf),
		cmocka_unit_test(test_lists_of_who_has_ended),
		cmocka_unit_test(test_least_recently_used_goes_first),
		cmocka_unit_test(test_full_space_map_evicts),
		cmocka_unit_test(test_lists_rest_before_they_are_written),
		cmocka_unit_test(test_fragments),
		cmocka_unit_test(test_how_much_is_given_up),
		cmocka_unit_test(test_the_least_that_is_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
