// SPDX-License-Identifier: Apache-2.0
/* -e of what JVMs do for themselves. */
#include "test.h"

#include "capture/event.h"

static struct capture_event parse(const char *name, uint32_t hz)
{
	struct capture_event event;
	struct err err = { 0 };

	if (capture_event_parse(name, hz, &event, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	assert_string_equal(event.name, name);
	return event;
}

/* All of them where nothing is said. */
static void test_safepoints(void **state)
{
	struct capture_event e = parse("safepoint", 997);
	struct err err = { 0 };

	(void)state;
	assert_true(capture_event_is_safepoint(&e));
	assert_false(capture_event_is_lock(&e));
	assert_int_equal(e.least_ns, 0);
	assert_string_equal(e.unit, "nanoseconds");
	for (unsigned int t = 0; t < WIRE_TRIGGER_COUNT; t++)
		assert_int_equal(capture_event_needs(&e, (enum wire_trigger)t),
				 t == WIRE_TRIGGER_SAFEPOINT);
	assert_int_equal(capture_event_parse("safepoint=2ms", 99, &e, &err), 0);
	assert_string_equal(e.name, "safepoint");
	assert_int_equal(e.least_ns, 2000000);
	e = parse("lock", 99);
	assert_false(capture_event_is_safepoint(&e));
}

/* A compiler thread's switches are seen, too. */
static void test_compilations(void **state)
{
	struct capture_event e = parse("jit", 997);
	struct err err = { 0 };

	(void)state;
	assert_true(capture_event_is_jit(&e));
	assert_false(capture_event_is_safepoint(&e));
	assert_int_equal(e.least_ns, 0);
	assert_string_equal(e.unit, "nanoseconds");
	for (unsigned int t = 0; t < WIRE_TRIGGER_COUNT; t++)
		assert_int_equal(capture_event_needs(&e, (enum wire_trigger)t),
				 t == WIRE_TRIGGER_JIT || t == WIRE_TRIGGER_JIT_SWITCH);
	assert_int_equal(capture_event_parse("jit=2ms", 99, &e, &err), 0);
	assert_string_equal(e.name, "jit");
	assert_int_equal(e.least_ns, 2000000);
	e = parse("safepoint", 99);
	assert_false(capture_event_is_jit(&e));
}

static void test_collections(void **state)
{
	struct capture_event e = parse("gc", 997);
	struct err err = { 0 };

	(void)state;
	assert_string_equal(e.unit, "nanoseconds");
	assert_int_equal(e.least_ns, 0);
	for (unsigned int t = 0; t < WIRE_TRIGGER_COUNT; t++)
		assert_int_equal(capture_event_needs(&e, (enum wire_trigger)t),
				 t == WIRE_TRIGGER_GC);
	assert_int_equal(capture_event_parse("gc=2ms", 99, &e, &err), 0);
	assert_string_equal(e.name, "gc");
	assert_int_equal(e.least_ns, 2000000);
}

static void test_loaded_classes(void **state)
{
	struct capture_event e = parse("classload", 997);
	struct err err = { 0 };

	(void)state;
	assert_int_equal(e.trigger, WIRE_TRIGGER_CLASS_LOAD);
	assert_int_equal(e.period, 1);
	assert_string_equal(e.unit, "count");
	for (unsigned int t = 0; t < WIRE_TRIGGER_COUNT; t++)
		assert_int_equal(capture_event_needs(&e, (enum wire_trigger)t),
				 t == WIRE_TRIGGER_CLASS_LOAD);
	assert_true(capture_event_parse("classload=2", 99, &e, &err) < 0);
	assert_true(capture_event_parse("classloads", 99, &e, &err) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_safepoints),
		cmocka_unit_test(test_compilations),
		cmocka_unit_test(test_loaded_classes),
		cmocka_unit_test(test_collections),
	};

	return cmocka_run_group_tests_name("event_phases", tests, NULL, NULL);
}
