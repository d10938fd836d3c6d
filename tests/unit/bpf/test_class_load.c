// SPDX-License-Identifier: Apache-2.0
/* Of how many classes that are loaded one is told. */
#include "test.h"

#include <stdlib.h>

#include "sample/phases/class_load.h"

static void each_of_few(void **state)
{
	struct wire_pace pace = { .window_ns = 1 };
	wire_u64 now_ns = 1;

	(void)state;
	for (int i = 0; i < 20000; i++)
		assert_int_equal(class_load_chance(&pace, now_ns += 1000000, (wire_u32)i), 1);
}

/* What is told of stands for what is not. */
static void sums_stay(void **state)
{
	struct wire_pace pace = { .window_ns = 1 };
	wire_u64 now_ns = 1, told = 0, sum = 0;

	(void)state;
	srand(7);
	for (int i = 0; i < 400000; i++) {
		wire_u32 chance = class_load_chance(&pace, now_ns += 5000, (wire_u32)rand());

		told += chance > 0;
		sum += chance;
	}
	/* 2 s. */
	assert_in_range(told, 5000, 20000);
	assert_in_range(sum, 360000, 440000);
}

static void by_its_bits(void **state)
{
	struct wire_pace pace = { .window_ns = 1, .doubled = 3 };

	(void)state;
	assert_int_equal(class_load_chance(&pace, 2, 1), 0);
	assert_int_equal(class_load_chance(&pace, 2, 4), 0);
	assert_int_equal(pace.taken, 0);
	assert_int_equal(class_load_chance(&pace, 2, 8), 8);
	assert_int_equal(pace.taken, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_of_few),
		cmocka_unit_test(sums_stay),
		cmocka_unit_test(by_its_bits),
	};

	return cmocka_run_group_tests_name("class_load", tests, NULL, NULL);
}
