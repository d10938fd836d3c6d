// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "base/cache/lru.h"

#define ROOM(entries) ((entries) * (size_t)LRU_ENTRY_BYTES)

static unsigned int dropped;
static uint64_t last_dropped;

static void note_drop(uint64_t value, void *data)
{
	assert_ptr_equal(data, &dropped);
	dropped++;
	last_dropped = value;
}

static struct lru new_lru(size_t limit_bytes)
{
	struct lru lru;

	dropped = 0;
	lru_init(&lru, limit_bytes, note_drop, &dropped);
	return lru;
}

static bool has(struct lru *lru, uint64_t key)
{
	uint64_t value = 0;

	if (!lru_get(lru, key, &value))
		return false;
	assert_int_equal(value, key + 100);
	return true;
}

static void put(struct lru *lru, uint64_t key)
{
	lru_put(lru, key, key + 100, 0);
}

/* One too many costs one. */
static void the_oldest_goes_alone(void **state)
{
	struct lru lru = new_lru(ROOM(3));

	(void)state;
	assert_false(has(&lru, 1));
	for (uint64_t key = 0; key < 4; key++)
		put(&lru, key);
	assert_int_equal(dropped, 1);
	assert_int_equal(last_dropped, 100);
	assert_false(has(&lru, 0));
	assert_true(has(&lru, 1) && has(&lru, 2) && has(&lru, 3));
	lru_clear(&lru);
	assert_int_equal(dropped, 4);
	assert_int_equal(lru.bytes, 0);
}

static void one_goes_by_its_key(void **state)
{
	struct lru lru = new_lru(ROOM(3));

	(void)state;
	lru_drop(&lru, 1);
	for (uint64_t key = 0; key < 3; key++)
		put(&lru, key);
	lru_drop(&lru, 1);
	lru_drop(&lru, 1);
	assert_int_equal(dropped, 1);
	assert_int_equal(last_dropped, 101);
	assert_true(has(&lru, 0) && has(&lru, 2) && !has(&lru, 1));
	assert_int_equal(lru.bytes, ROOM(2));
	lru_clear(&lru);
}

static void asking_keeps(void **state)
{
	struct lru lru = new_lru(ROOM(3));

	(void)state;
	for (uint64_t key = 0; key < 3; key++)
		put(&lru, key);
	assert_true(has(&lru, 0));
	put(&lru, 3);
	assert_true(has(&lru, 0));
	assert_false(has(&lru, 1));
	lru_clear(&lru);
}

static void bytes_count(void **state)
{
	struct lru lru = new_lru(ROOM(4));

	(void)state;
	put(&lru, 1);
	put(&lru, 2);
	lru_put(&lru, 3, 103, ROOM(2)); /* three entries' worth */
	assert_int_equal(dropped, 1);
	assert_true(has(&lru, 2) && has(&lru, 3));
	lru_put(&lru, 3, 103, 0); /* what stood there goes */
	assert_int_equal(dropped, 2);
	assert_int_equal(lru.bytes, ROOM(2));
	lru_put(&lru, 4, 104, ROOM(9)); /* too large: alone */
	assert_int_equal(lru.len, 1);
	assert_true(has(&lru, 4));
	lru_set_limit(&lru, 0);
	assert_int_equal(lru.len, 0);
	lru_clear(&lru);
}

/* What has grown counts from the next one that comes. */
static void growing_counts(void **state)
{
	struct lru lru = new_lru(ROOM(4));

	(void)state;
	for (uint64_t key = 0; key < 3; key++)
		put(&lru, key);
	lru_resize(&lru, 2, ROOM(1));
	lru_resize(&lru, 7, ROOM(9)); /* is not there */
	assert_int_equal(lru.bytes, ROOM(4));
	assert_int_equal(dropped, 0);
	put(&lru, 3);
	assert_int_equal(dropped, 1);
	lru_resize(&lru, 2, 0);
	assert_int_equal(lru.bytes, ROOM(3));
	lru_clear(&lru);
	assert_int_equal(lru.bytes, 0);
}

static void one_at_a_time(void **state)
{
	struct lru lru = new_lru(ROOM(3));

	(void)state;
	lru_drop_oldest(&lru);
	put(&lru, 1);
	put(&lru, 2);
	assert_true(has(&lru, 1));
	lru_drop_oldest(&lru);
	assert_int_equal(dropped, 1);
	assert_int_equal(last_dropped, 102);
	assert_true(has(&lru, 1));
	lru_clear(&lru);
	lru_drop_oldest(&lru);
	assert_int_equal(dropped, 2);
}

/* Against a plain list that does the same. */
static void like_a_list(void **state)
{
	enum { KEYS = 500, LIMIT = 100, STEPS = 20000 };
	struct lru lru = new_lru(ROOM(LIMIT));
	uint64_t order[LIMIT]; /* oldest first */
	size_t len = 0;
	uint32_t random = 1;

	(void)state;
	for (int i = 0; i < STEPS; i++) {
		uint64_t key = (random = random * 1664525 + 1013904223) >> 16;
		size_t at = 0;

		key %= i % 2 ? KEYS : LIMIT / 2;
		while (at < len && order[at] != key)
			at++;
		assert_int_equal(has(&lru, key), at < len);
		if (at == len)
			put(&lru, key);
		if (at == len && len == LIMIT)
			at = 0;
		else if (at == len)
			len++;
		for (; at + 1 < len; at++)
			order[at] = order[at + 1];
		order[len - 1] = key;
		assert_int_equal(lru.len, len);
	}
	lru_clear(&lru);
	put(&lru, 7);
	assert_true(has(&lru, 7));
	lru_clear(&lru);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_goes_by_its_key), cmocka_unit_test(the_oldest_goes_alone),
		cmocka_unit_test(asking_keeps),	       cmocka_unit_test(bytes_count),
		cmocka_unit_test(growing_counts),      cmocka_unit_test(one_at_a_time),
		cmocka_unit_test(like_a_list),
	};

	return cmocka_run_group_tests_name("lru", tests, NULL, NULL);
}
