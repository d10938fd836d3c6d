/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>

#include "base/hmap.h"

static void test_put_get_remove(void **state)
{
	struct hmap map = HMAP_INIT;
	uint64_t value = 7;

	(void)state;
	assert_false(hmap_get(&map, 0, &value));
	assert_false(hmap_remove(&map, 0));
	hmap_put(&map, 0, 10);
	hmap_put(&map, UINT64_MAX, 11);
	hmap_put(&map, 0, 12);
	assert_int_equal(map.len, 2);
	assert_true(hmap_get(&map, 0, &value));
	assert_int_equal(value, 12);
	assert_true(hmap_get(&map, UINT64_MAX, &value));
	assert_int_equal(value, 11);
	assert_true(hmap_remove(&map, 0));
	assert_false(hmap_get(&map, 0, &value));
	assert_false(hmap_remove(&map, 0));
	assert_int_equal(map.len, 1);
	hmap_clear(&map);
	assert_int_equal(map.len, 0);
	assert_false(hmap_get(&map, UINT64_MAX, &value));
	hmap_release(&map);
}

static void test_pointers(void **state)
{
	struct hmap map = HMAP_INIT;
	int x;

	(void)state;
	hmap_put_ptr(&map, 5, &x);
	assert_ptr_equal(hmap_find_ptr(&map, 5), &x);
	assert_null(hmap_find_ptr(&map, 6));
	hmap_release(&map);
}

/* Against a plain array, with many removals in between so that deleted slots pile up. */
static void test_against_array(void **state)
{
	static uint64_t expected[2000]; /* 0: absent */
	struct hmap map = HMAP_INIT;
	uint64_t x = 88172645463325252ULL, value;
	size_t live = 0;

	(void)state;
	for (int round = 0; round < 100000; round++) {
		size_t key;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		key = x % ARRAY_SIZE(expected);
		if (x >> 63) {
			live += !expected[key];
			expected[key] = x >> 8;
			hmap_put(&map, key << 12, x >> 8);
		} else {
			assert_int_equal(hmap_remove(&map, key << 12), expected[key] != 0);
			live -= expected[key] != 0;
			expected[key] = 0;
		}
		assert_int_equal(map.len, live);
	}
	for (size_t key = 0; key < ARRAY_SIZE(expected); key++) {
		value = 0;
		hmap_get(&map, key << 12, &value);
		assert_true(value == expected[key]);
	}
	assert_true(map.mask < 16 * ARRAY_SIZE(expected));
	hmap_release(&map);
}

static void test_next_sees_each_once(void **state)
{
	struct hmap map = HMAP_INIT;
	uint64_t key, value, sum = 0;
	size_t at = 0, n = 0;

	(void)state;
	assert_false(hmap_next(&map, &at, &key, &value));
	for (uint64_t i = 1; i <= 100; i++)
		hmap_put(&map, i, i * 3);
	hmap_remove(&map, 50);
	for (at = 0; hmap_next(&map, &at, &key, &value); n++) {
		assert_int_equal(value, key * 3);
		sum += key;
	}
	assert_int_equal(n, 99);
	assert_int_equal(sum, 5050 - 50);
	hmap_release(&map);
}

static void test_intern(void **state)
{
	struct intern t;
	size_t len;
	bool new;

	(void)state;
	intern_init(&t);
	assert_int_equal(intern_put(&t, "", 0, &new), 0);
	assert_true(new);
	assert_int_equal(intern_put(&t, "ab", 2, &new), 1);
	assert_int_equal(intern_put(&t, "a\0b", 3, &new), 2);
	assert_int_equal(intern_put(&t, "a", 1, &new), 3);
	assert_int_equal(intern_put(&t, "ab", 2, &new), 1);
	assert_false(new);
	assert_int_equal(intern_put(&t, "", 0, NULL), 0);
	assert_int_equal(intern_len(&t), 4);
	assert_string_equal(intern_get(&t, 1, &len), "ab");
	assert_int_equal(len, 2);
	assert_memory_equal(intern_get(&t, 2, &len), "a\0b", 4);
	intern_release(&t);
}

/* Borrowed pointers stay good while the table grows, also across arena blocks and big entries. */
static void test_intern_grows(void **state)
{
	static char big[200000];
	struct intern t;
	const char *first;
	char text[16];

	(void)state;
	intern_init(&t);
	intern_put(&t, "first", 5, NULL);
	first = intern_get(&t, 0, NULL);
	memset(big, 'x', sizeof(big));
	assert_int_equal(intern_put(&t, big, sizeof(big), NULL), 1);
	for (int i = 0; i < 20000; i++) {
		int len = snprintf(text, sizeof(text), "name-%d", i);

		assert_int_equal(intern_put(&t, text, (size_t)len, NULL), i + 2);
	}
	assert_string_equal(first, "first");
	assert_ptr_equal(intern_get(&t, 0, NULL), first);
	assert_int_equal(intern_put(&t, "name-12345", 10, NULL), 12347);
	assert_int_equal(intern_put(&t, big, sizeof(big), NULL), 1);
	intern_release(&t);
}

/* Of so many some have equal hashes of 32 bits, and many begin as others do. */
static void test_intern_equal_hashes(void **state)
{
	enum { MANY = 300000 };
	struct intern t;
	char text[16];

	(void)state;
	intern_init(&t);
	for (int turn = 0; turn < 2; turn++)
		for (int i = 0; i < MANY; i++) {
			int len = snprintf(text, sizeof(text), "%d", MANY - i);

			assert_int_equal(intern_put(&t, text, (size_t)len, NULL), i);
		}
	intern_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_put_get_remove),
		cmocka_unit_test(test_pointers),
		cmocka_unit_test(test_against_array),
		cmocka_unit_test(test_next_sees_each_once),
		cmocka_unit_test(test_intern),
		cmocka_unit_test(test_intern_grows),
		cmocka_unit_test(test_intern_equal_hashes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
