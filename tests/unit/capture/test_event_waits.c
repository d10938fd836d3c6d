// SPDX-License-Identifier: Apache-2.0
/* Events about waits for locks outside of Java. */
#include "test.h"

#include <errno.h>

#include "capture/event.h"
#include "capture/probes/contention.h"

static bool has_tracepoints;

int contention_check(struct err *err)
{
	return has_tracepoints ? 0 : err_set(err, -EOPNOTSUPP, "no tracepoints");
}

static struct capture_event parse(const char *name)
{
	struct capture_event event;
	struct err err = { 0 };

	if (capture_event_parse(name, 997, &event, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	return event;
}

/* They are waits as offcpu's are, and no others. */
static void locks_of_native_code(void **state)
{
	struct capture_event e = parse("nativelock");

	(void)state;
	assert_true(capture_event_is_native_lock(&e) && capture_event_has_waits(&e));
	assert_false(capture_event_is_kernel_lock(&e) || capture_event_is_wall(&e));
	assert_int_equal(e.least_ns, 10000);
	assert_string_equal(e.unit, "nanoseconds");
	for (unsigned int t = 0; t < WIRE_TRIGGER_COUNT; t++)
		assert_int_equal(capture_event_needs(&e, (enum wire_trigger)t),
				 t >= WIRE_TRIGGER_OFFCPU && t <= WIRE_TRIGGER_OFFCPU_WAKER);
	e = parse("nativelock=0");
	assert_string_equal(e.name, "nativelock");
	assert_int_equal(e.least_ns, 0);
	e = parse("offcpu");
	assert_false(capture_event_is_native_lock(&e));
}

static void locks_of_the_kernel(void **state)
{
	struct capture_event e;

	(void)state;
	has_tracepoints = true;
	e = parse("kernellock");
	assert_true(capture_event_is_kernel_lock(&e));
	assert_false(capture_event_is_lock(&e) || capture_event_has_waits(&e));
	assert_int_equal(e.least_ns, 10000);
	assert_string_equal(e.unit, "nanoseconds");
	for (unsigned int t = 0; t < WIRE_TRIGGER_COUNT; t++)
		assert_int_equal(capture_event_needs(&e, (enum wire_trigger)t),
				 t == WIRE_TRIGGER_KERNEL_LOCK ||
					 t == WIRE_TRIGGER_KERNEL_LOCK_BEGIN);
	e = parse("kernellock=2ms");
	assert_string_equal(e.name, "kernellock");
	assert_int_equal(e.least_ns, 2000000);
	e = parse("lock");
	assert_false(capture_event_is_kernel_lock(&e));
	assert_false(capture_event_needs(&e, WIRE_TRIGGER_KERNEL_LOCK_BEGIN));
}

/* What is wrong with the name is said first. */
static void a_kernel_that_does_not_tell(void **state)
{
	struct capture_event e;
	struct err err = { 0 };

	(void)state;
	has_tracepoints = false;
	assert_int_equal(capture_event_parse("kernellock", 99, &e, &err), -EOPNOTSUPP);
	assert_string_equal(err.text, "no tracepoints");
	assert_int_equal(capture_event_parse("kernellock=x", 99, &e, &err), -EINVAL);
	assert_int_equal(capture_event_parse("kernellock=61s", 99, &e, &err), -EINVAL);
	parse("lock");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(locks_of_native_code),
		cmocka_unit_test(locks_of_the_kernel),
		cmocka_unit_test(a_kernel_that_does_not_tell),
	};

	return cmocka_run_group_tests_name("event_waits", tests, NULL, NULL);
}
