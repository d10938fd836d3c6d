// SPDX-License-Identifier: Apache-2.0
/* Forks and execs that the registry does not know yet. */
#include "test.h"

#include "process/news.h"

static void known_until_they_are_applied(void **state)
{
	struct process_news news = { 0 };

	(void)state;
	assert_false(process_news_has(&news, 5, 100, 0));
	process_news_put(&news, 5, 100, 50);
	assert_false(process_news_has(&news, 6, 100, 50));
	assert_false(process_news_has(&news, 5, 99, 50)); /* it was what the registry says */
	assert_true(process_news_has(&news, 5, 100, 50));
	assert_true(process_news_has(&news, 5, 1000, 99));
	assert_false(process_news_has(&news, 5, 1000, 100));
	process_news_put(&news, 5, 200, 100);
	assert_true(process_news_has(&news, 5, 250, 199));
	process_news_release(&news);
}

/* None goes before its time, and all go at some time. */
static void memory_is_bounded(void **state)
{
	struct process_news news = { 0 };

	(void)state;
	for (uint32_t i = 1; i <= 100000; i++) {
		uint64_t applied_ns = i > 100 ? i - 100 : 0;

		process_news_put(&news, i, i, applied_ns);
		if (i > 99)
			assert_true(process_news_has(&news, i - 99, i, applied_ns));
		assert_true(process_news_has(&news, i, i, applied_ns));
		assert_true(news.recent.len + news.older.len <= 300);
	}
	process_news_release(&news);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_until_they_are_applied),
		cmocka_unit_test(memory_is_bounded),
	};

	return cmocka_run_group_tests_name("news", tests, NULL, NULL);
}
