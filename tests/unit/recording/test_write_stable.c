/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>

#include "recording/write_stable.h"

/* More than a table holds. */
#define MANY 40000U

static struct jfr_stable stable;

static uint32_t key_of(uint32_t name)
{
	return jfr_stable_key(&stable.threads, &name, sizeof(name));
}

static int set_up(void **state)
{
	(void)state;
	memset(&stable, 0xff, sizeof(stable));
	jfr_stable_init(&stable);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	jfr_stable_release(&stable);
	return 0;
}

static void a_name_keeps_its_key(void **state)
{
	(void)state;
	assert_int_equal(key_of(1000), 0);
	assert_int_equal(key_of(2000), 1);
	assert_int_equal(key_of(1000), 0);
	assert_int_equal(jfr_stable_key(&stable.classes, "a", 1), 0);
	/* Few are never forgotten. */
	for (int i = 0; i < 100; i++)
		jfr_stable_end_chunk(&stable);
	assert_int_equal(key_of(2000), 1);
}

/* All of one chunk stay, however many they are, until the next one has others. */
static void what_the_last_chunk_had_stays(void **state)
{
	(void)state;
	for (uint32_t name = 0; name < MANY; name++)
		assert_int_equal(key_of(name), name);
	jfr_stable_end_chunk(&stable);
	assert_int_equal(intern_len(&stable.threads.names), MANY);
	assert_int_equal(key_of(7), 7);
	assert_int_equal(key_of(MANY - 9), MANY - 9);
	jfr_stable_end_chunk(&stable);
	assert_in_range(intern_len(&stable.threads.names), 5000, MANY / 2);
	assert_int_equal(key_of(7), 7);
	/* One that was forgotten gets a key that nobody had. */
	assert_int_equal(key_of(8), MANY);
	assert_int_equal(key_of(8), MANY);
	assert_int_equal(key_of(9), MANY + 1);
}

/* Chunk after chunk of threads that never come back, beside some that do. */
static void a_long_run_is_bounded(void **state)
{
	enum { CHUNKS = 300, EACH = 200 };

	uint32_t newest = 0;

	(void)state;
	for (uint32_t chunk = 0; chunk < CHUNKS; chunk++) {
		assert_int_equal(key_of(MANY), 0);
		for (uint32_t i = 0; i < EACH; i++)
			newest = key_of(MANY + 1 + chunk * EACH + i);
		jfr_stable_end_chunk(&stable);
		assert_true(stable.threads.names.bytes + 48UL * intern_len(&stable.threads.names) <=
			    JFR_STABLE_BYTES);
	}
	assert_int_equal(newest, CHUNKS * EACH);
	/* The youngest of those that are not sampled any more are known yet. */
	assert_int_equal(key_of(MANY + CHUNKS * EACH), newest);
	assert_int_equal(key_of(MANY + CHUNKS * EACH - 5000), newest - 5000);
	assert_int_equal(key_of(MANY + 1), newest + 1);
}

/* Names of 60 kB, as a class may have: bytes count, not names. */
static void long_names(void **state)
{
	static char name[60000];

	(void)state;
	memset(name, 'x', sizeof(name));
	for (uint32_t chunk = 0; chunk < 100; chunk++) {
		memcpy(name, &chunk, sizeof(chunk));
		assert_int_equal(jfr_stable_key(&stable.classes, name, sizeof(name)), chunk);
		jfr_stable_end_chunk(&stable);
	}
	assert_in_range(intern_len(&stable.classes.names), 5, 8);
	assert_int_equal(jfr_stable_key(&stable.classes, name, sizeof(name)), 99);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_name_keeps_its_key),
		TEST(what_the_last_chunk_had_stays),
		TEST(a_long_run_is_bounded),
		TEST(long_names),
	};

	return cmocka_run_group_tests_name("jfr_stable", tests, NULL, NULL);
}
