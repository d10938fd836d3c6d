// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <string.h>

#include "base/cache/text_pool.h"

static void equal_texts_are_one(void **state)
{
	struct text_pool pool = { 0 };
	const char *a = text_pool_ref(&pool, "name"), *other = text_pool_ref(&pool, "names");
	char copy[] = "name";
	size_t bytes = pool.bytes;

	(void)state;
	assert_ptr_equal(text_pool_ref(&pool, copy), a);
	assert_int_equal(pool.bytes, bytes);
	assert_ptr_not_equal(a, other);
	assert_string_equal(a, "name");
	assert_string_equal(other, "names");
	text_pool_release(&pool);
	assert_int_equal(pool.bytes, 0);
}

/* As often as it was asked for, and no text of another. */
static void the_last_reference_frees(void **state)
{
	struct text_pool pool = { 0 };
	const char *text = text_pool_ref(&pool, "a"), *other = text_pool_ref(&pool, "");
	size_t bytes = pool.bytes;

	(void)state;
	text_pool_unref(&pool, NULL);
	text_pool_ref(&pool, "a");
	text_pool_unref(&pool, text);
	assert_int_equal(pool.bytes, bytes);
	assert_ptr_equal(text_pool_ref(&pool, "a"), text);
	text_pool_unref(&pool, text);
	text_pool_unref(&pool, text);
	assert_true(pool.bytes > 0 && pool.bytes < bytes);
	assert_int_equal(pool.texts.len, 1);
	assert_string_equal(other, "");
	text_pool_unref(&pool, other);
	assert_int_equal(pool.bytes, 0);
	assert_int_equal(pool.texts.len, 0);
	text_pool_release(&pool);
}

/* Longer ones count for more, and nothing is forgotten over many that come and go. */
static void bytes_are_of_what_is_there(void **state)
{
	struct text_pool pool = { 0 };
	const char *kept[64];
	size_t one;
	char text[128];

	(void)state;
	kept[0] = text_pool_ref(&pool, "x");
	one = pool.bytes;
	text_pool_ref(&pool, "a text of twenty-two b");
	assert_int_equal(pool.bytes, 2 * one + 21);
	text_pool_release(&pool);
	for (unsigned int i = 0; i < 10000; i++) {
		if (i >= ARRAY_SIZE(kept))
			text_pool_unref(&pool, kept[i % ARRAY_SIZE(kept)]);
		snprintf(text, sizeof(text), "text %06u", i);
		kept[i % ARRAY_SIZE(kept)] = text_pool_ref(&pool, text);
	}
	assert_int_equal(pool.bytes, ARRAY_SIZE(kept) * (one + strlen("text 000000") - 1));
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		assert_ptr_equal(text_pool_ref(&pool, kept[i]), kept[i]);
	text_pool_release(&pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_texts_are_one),
		cmocka_unit_test(the_last_reference_frees),
		cmocka_unit_test(bytes_are_of_what_is_there),
	};

	return cmocka_run_group_tests_name("text_pool", tests, NULL, NULL);
}
