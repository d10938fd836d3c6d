// SPDX-License-Identifier: Apache-2.0
/* That side-bands are relieved by who empties the rings, whatever those do. */
#include "pump_world.h"

static bool is_relieved_again(const struct sideband *side)
{
	int before = side->relieved;

	for (int i = 0; i < SOON_MS && side->relieved < before + 2; i++)
		usleep(1000);
	return side->relieved >= before + 2;
}

/* Whether there are records of samples or not. */
static void side_bands_beside_it(void **state)
{
	struct sideband sides[2] = { { .held = 1000 }, { .held = SIZE_MAX } };

	(void)state;
	start();
	ring_pump_add_side(f.pump, &sides[0]);
	ring_pump_add_side(f.pump, &sides[1]);
	assert_true(is_relieved_again(&sides[0]) && is_relieved_again(&sides[1]));
	assert_int_equal(sides[0].room, RING_PUMP_BYTES);
	assert_int_equal(sides[1].room, RING_PUMP_BYTES - 1000);
	ring_pump_remove_side(f.pump, &sides[0]);
	sides[0].relieved = 0;
	assert_true(is_relieved_again(&sides[1]));
	assert_int_equal(sides[0].relieved, 0);
	assert_int_equal(sides[1].room, RING_PUMP_BYTES);
	assert_int_equal(f.consumes, 0);
	/* One that is not there. */
	ring_pump_remove_side(f.pump, &sides[0]);
	ring_pump_remove_side(f.pump, &sides[1]);
}

/* Who drains leaves nothing there. */
static void calm_side_bands(void **state)
{
	struct sideband side = { .held = 0 };
	int before;

	(void)state;
	start();
	ring_pump_add_side(f.pump, &side);
	assert_true(is_relieved_again(&side));
	before = side.relieved;
	usleep(250000);
	assert_in_range(side.relieved - before, 0, 4);
	ring_pump_remove_side(f.pump, &side);
}

/* The queue is full, and nobody takes. */
static void side_bands_while_it_waits(void **state)
{
	struct sideband sides[2] = { 0 };

	(void)state;
	start();
	ring_pump_add_side(f.pump, &sides[0]);
	make(20, MIB);
	wake();
	assert_true(has_news(SOON_MS));
	wake();
	usleep(20000);
	assert_true(is_relieved_again(&sides[0]));
	assert_in_range(consumed(), RING_PUMP_BYTES / MIB - 1, RING_PUMP_BYTES / MIB);
	take();
	expect_all();
	ring_pump_remove_side(f.pump, &sides[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(side_bands_beside_it),
		TEST(calm_side_bands),
		TEST(side_bands_while_it_waits),
	};

	return cmocka_run_group_tests_name("ring_pump_sides", tests, NULL, NULL);
}
