// SPDX-License-Identifier: Apache-2.0
/* Probes of single processes, opened while it runs. */
#include "capture_parts.h"

#include "capture/capture_private.h"

/* A place of a process is probed once, and again in the next process of its pid. */
static void places_of_a_process(void **state)
{
	struct capture_event events[] = { f.event, { .trigger = WIRE_TRIGGER_ALLOC_AGENT } };
	struct capture_place place = { .trigger = WIRE_TRIGGER_ALLOC_AGENT,
				       .pid = 77,
				       .generation = 1,
				       .path = "/proc/self/exe",
				       .offset = 4242 };
	struct err err = { 0 };

	(void)state;
	if (access("/sys/bus/event_source/devices/uprobe", F_OK) != 0)
		skip();
	f.options.events = events;
	f.options.event_count = 2;
	open_capture();
	assert_int_equal(capture_add_place(f.capture, &place, &err), 0);
	assert_non_null(strstr(f.log, "of event 1 in 77 at 4242\n"));
	assert_int_equal(f.capture->places.len, 1);
	assert_int_equal(capture_add_place(f.capture, &place, &err), 0);
	assert_int_equal(f.capture->places.len, 1);
	place.generation = 2;
	assert_int_equal(capture_add_place(f.capture, &place, &err), 0);
	assert_int_equal(f.capture->places.len, 2);
	capture_drop_places(f.capture, 77, 1);
	assert_int_equal(f.capture->places.len, 1);
	assert_int_equal(f.capture->places.items[0].generation, 2);
	capture_drop_places(f.capture, 78, 2);
	assert_int_equal(f.capture->places.len, 1);
	place.path = "/there/is/none";
	assert_int_equal(capture_add_place(f.capture, &place, &err), -ENOENT);
	place.path = "/proc/self/exe";
	place.trigger = WIRE_TRIGGER_RAW; /* no event wants it */
	assert_int_equal(capture_add_place(f.capture, &place, &err), 0);
	assert_int_equal(f.capture->places.len, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(places_of_a_process, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
