// SPDX-License-Identifier: Apache-2.0
/* How much memory a capture asks for its rings and copies of stacks. */
#include "capture_parts.h"

/* A quarter of a second of stacks of 1 KiB, in powers of two; from 1 to 4 MiB by default. */
static void how_large_the_rings_are(void **state)
{
	static const struct {
		uint32_t hz, bytes;
	} by_frequency[] = {
		{ 99, 1 << 20 },   { 4096, 1 << 20 }, { 4100, 2 << 20 },
		{ 8192, 2 << 20 }, { 8200, 4 << 20 }, { 20000, 4 << 20 },
	};
	struct capture_event events[2];

	(void)state;
	open_capture();
	assert_int_equal(f.ring_bytes, 4 << 20); /* few cpus are online, whatever is possible */
	f.online[CPUS - 1] = true;
	for (size_t i = 0; i < ARRAY_SIZE(by_frequency); i++) {
		f.event.period = NSEC_PER_SEC / by_frequency[i].hz;
		open_capture();
		assert_int_equal(f.ring_bytes, by_frequency[i].bytes);
		assert_int_equal(f.session.ring_bytes, by_frequency[i].bytes);
	}
	/* Of all events together; a counter has a frequency instead of a period. */
	events[0] = (struct capture_event){ .name = "cycles", .type = 0, .freq_hz = 3000 };
	events[1] = events[0];
	f.options.events = events;
	f.options.event_count = 1;
	open_capture();
	assert_int_equal(f.ring_bytes, 1 << 20);
	f.options.event_count = 2;
	open_capture();
	assert_int_equal(f.ring_bytes, 2 << 20);
	f.options.rings_limit_bytes = 8 << 20; /* half of each cpu's share */
	open_capture();
	assert_int_equal(f.ring_bytes, 512 << 10);
	f.options.rings_limit_bytes = 1;
	open_capture();
	assert_int_equal(f.ring_bytes, 64 << 10);
	/* What was asked for is given. */
	f.options.ring_bytes = 1 << 20;
	open_capture();
	assert_int_equal(f.ring_bytes, 1 << 20);
	f.options.ring_bytes = 4ULL << 30;
	open_capture();
	assert_int_equal(f.ring_bytes, 1 << 30);
}

static void how_much_of_a_stack_is_copied(void **state)
{
	(void)state;
	open_capture();
	assert_int_equal(f.session.miss_copy_bytes, WIRE_MISS_LEAST_COPY);
	f.options.rings_limit_bytes = 3 * 4 * (WIRE_MISS_LEAST_COPY + 5000);
	open_capture();
	assert_int_equal(f.session.miss_copy_bytes, WIRE_MISS_LEAST_COPY + 4096);
	f.options.rings_limit_bytes = 1ULL << 32;
	open_capture();
	assert_int_equal(f.session.miss_copy_bytes, WIRE_MISS_MAX_COPY);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(how_large_the_rings_are),
		TEST(how_much_of_a_stack_is_copied),
	};

	return cmocka_run_group_tests_name("capture_sizes", tests, NULL, NULL);
}
