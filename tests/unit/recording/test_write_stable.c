/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>

#include "recording/write_stable.h"

static uint32_t key_of(struct jfr_stable *stable, uint32_t name)
{
	return jfr_stable_key(&stable->threads, &name, sizeof(name));
}

static void a_name_keeps_its_key(void **state)
{
	struct jfr_stable stable;

	(void)state;
	memset(&stable, 0xff, sizeof(stable));
	jfr_stable_init(&stable);
	assert_int_equal(key_of(&stable, 1000), 0);
	assert_int_equal(key_of(&stable, 2000), 1);
	assert_int_equal(key_of(&stable, 1000), 0);
	assert_int_equal(jfr_stable_key(&stable.classes, "a", 1), 0);
	/* Few are never forgotten. */
	jfr_stable_trim(&stable.threads, NULL, 0);
	assert_int_equal(key_of(&stable, 2000), 1);
	jfr_stable_release(&stable);
}

static void a_large_table_is_trimmed(void **state)
{
	const uint32_t used[] = { 7, JFR_STABLE_MAX, 9 };
	struct jfr_stable stable;

	(void)state;
	memset(&stable, 0xff, sizeof(stable));
	jfr_stable_init(&stable);
	for (uint32_t name = 0; name <= JFR_STABLE_MAX; name++)
		assert_int_equal(key_of(&stable, name), name);
	jfr_stable_trim(&stable.threads, used, 2);
	assert_int_equal(intern_len(&stable.threads.names), 2);
	assert_int_equal(key_of(&stable, 7), 7);
	assert_int_equal(key_of(&stable, JFR_STABLE_MAX), JFR_STABLE_MAX);
	/* One that was forgotten gets a key that nobody had. */
	assert_int_equal(key_of(&stable, 8), JFR_STABLE_MAX + 1);
	assert_int_equal(key_of(&stable, 8), JFR_STABLE_MAX + 1);
	assert_int_equal(key_of(&stable, 9), JFR_STABLE_MAX + 2);
	jfr_stable_release(&stable);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_keeps_its_key),
		cmocka_unit_test(a_large_table_is_trimmed),
	};

	return cmocka_run_group_tests_name("jfr_stable", tests, NULL, NULL);
}
