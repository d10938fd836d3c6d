// SPDX-License-Identifier: Apache-2.0
/* Probes of single processes, opened while it runs. */
#include "capture_parts.h"

#include "capture/capture_private.h"

/* A second event, of TRIGGER. */
static void open_events(enum wire_trigger trigger)
{
	struct capture_event events[] = { f.event, { .trigger = trigger } };

	f.options.events = events;
	f.options.event_count = ARRAY_SIZE(events);
	open_capture();
}

static void open_places(enum wire_trigger trigger)
{
	if (access("/sys/bus/event_source/devices/uprobe", F_OK) != 0)
		skip();
	open_events(trigger);
}

/* A place of a process is probed once, and again in the next process of its pid. */
static void places_of_a_process(void **state)
{
	struct capture_place place = { .trigger = WIRE_TRIGGER_ALLOC_AGENT,
				       .pid = 77,
				       .generation = 1,
				       .path = "/proc/self/exe",
				       .offset = 4242 };
	struct err err = { 0 };

	(void)state;
	open_places(WIRE_TRIGGER_ALLOC_AGENT);
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

/* One probe of all that map the file, and one of its return; they are not those of a process. */
static void places_of_all(void **state)
{
	struct capture_place place = { .trigger = WIRE_TRIGGER_MALLOC,
				       .form = WIRE_MALLOC_ARRAY,
				       .path = "/proc/self/exe",
				       .offset = 4242 };
	struct err err = { 0 };

	(void)state;
	open_places(WIRE_TRIGGER_MALLOC);
	assert_int_equal(capture_add_place(f.capture, &place, &err), 0);
	assert_non_null(strstr(f.log, "of event 1 in 0 at 4242\n"));
	assert_non_null(strstr(f.log, "form 2 on cpu 0\n"));
	assert_int_equal(capture_add_place(f.capture, &place, &err), 0);
	assert_int_equal(f.capture->places.len, 1);
	place.trigger = WIRE_TRIGGER_MALLOC_RETURN;
	place.is_return = true;
	assert_int_equal(capture_add_place(f.capture, &place, &err), 0);
	assert_int_equal(f.capture->places.len, 2);
	assert_non_null(strstr(f.log, "returns\n"));
	capture_drop_places(f.capture, 77, 0);
	assert_int_equal(f.capture->places.len, 2);
}

/* Those of a file are one probe, which is there once for a process. */
static void functions_of_a_file(void **state)
{
	struct capture_place file = { .trigger = WIRE_TRIGGER_MALLOC_SESSION,
				      .pid = 77,
				      .generation = 1,
				      .path = "/proc/self/exe" };
	const struct capture_function functions[CAPTURE_MAX_FUNCTIONS + 1] = {
		{ WIRE_MALLOC_SIZE, 4242 }, { WIRE_MALLOC_FREE, 2424 }
	};
	struct err err = { 0 };

	(void)state;
	f.has_sessions = true;
	open_events(WIRE_TRIGGER_MALLOC);
	assert_true(capture_has_sessions(f.capture));
	assert_int_equal(capture_add_functions(f.capture, &file, functions, 2, &err), 0);
	assert_int_equal(f.capture->places.len, 1);
	assert_non_null(strstr(f.log, "session"));
	assert_non_null(strstr(f.log, "of 2 in 77\n1 at 4242\n2049 at 2424\n"));
	assert_int_equal(capture_add_functions(f.capture, &file, functions, 2, &err), 0);
	assert_int_equal(f.capture->places.len, 1);
	capture_drop_places(f.capture, 77, 1);
	assert_int_equal(f.capture->places.len, 0);
	assert_int_equal(
		capture_add_functions(f.capture, &file, functions, ARRAY_SIZE(functions), &err),
		-E2BIG);
	f.shared_error = -EPERM;
	assert_int_equal(capture_add_functions(f.capture, &file, functions, 2, &err), -EPERM);
	assert_int_equal(f.capture->places.len, 0);
	/* Where no return matters it is no session. */
	f.shared_error = 0;
	file.trigger = WIRE_TRIGGER_MALLOC;
	assert_int_equal(capture_add_functions(f.capture, &file, functions, 2, &err), 0);
	assert_non_null(strstr(f.log, "calls"));
}

/* Where that would harm, memory is not followed. */
static void returns_that_harm(void **state)
{
	struct err err = { 0 };

	(void)state;
	f.returns_error = -EOPNOTSUPP;
	open_capture();
	capture_free(TAKE_PTR(f.capture));
	f.options.follow_memory = true;
	assert_int_equal(capture_open(&f.options, &f.capture, &err), -EOPNOTSUPP);
}

/* The kernel is asked for them only when somebody wants them. */
static void no_sessions(void **state)
{
	(void)state;
	f.has_sessions = true;
	open_capture();
	assert_false(capture_has_sessions(f.capture));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(places_of_a_process, setup, teardown),
		cmocka_unit_test_setup_teardown(places_of_all, setup, teardown),
		cmocka_unit_test_setup_teardown(functions_of_a_file, setup, teardown),
		cmocka_unit_test_setup_teardown(returns_that_harm, setup, teardown),
		cmocka_unit_test_setup_teardown(no_sessions, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
