// SPDX-License-Identifier: Apache-2.0
/* Waits for locks outside of Java in a recording. */
#include "waits_fixture.h"

static void set_event(const char *name)
{
	event = profile_event(&written, &(struct profile_event){
						.name = profile_string(&written, name),
						.unit = profile_string(&written, "nanoseconds") });
}

/* A native lock's time is that of its begin, and what it waited for a cpu is apart. */
static void a_lock_of_native_code(void **state)
{
	const struct profile_sample *sample;
	struct profile p;

	(void)state;
	set_event("nativelock");
	add(8000, 400, 4, STATE_SLEEPING, "rwlock");
	read_back(&p, false);
	assert_int_equal(p.samples.len, 1);
	sample = &p.samples.items[0];
	assert_int_equal(sample->time_ns, START_NS + 5);
	assert_int_equal(sample->weight, 8000);
	assert_int_equal(sample->queued, 400);
	assert_int_equal(sample->chance, 4);
	assert_int_equal(sample->state, STATE_SLEEPING);
	assert_string_equal(text(&p, sample->reason), "rwlock");
	assert_string_equal(text(&p, profile_get_event(&p, sample->event)->name), "nativelock");
	assert_int_equal(profile_get_thread(&p, sample->thread)->tid, 8);
	profile_release(&p);
}

/* A kernel's lock has the time of its end, in the recording that of its begin. */
static void a_lock_of_the_kernel(void **state)
{
	const struct profile_sample *sample;
	struct profile p;

	(void)state;
	set_event("kernellock");
	add(8000, 0, 4, STATE_RUNNING_KERNEL, "spinlock");
	read_back(&p, false);
	assert_int_equal(p.samples.len, 1);
	sample = &p.samples.items[0];
	assert_int_equal(sample->time_ns, START_NS + 5);
	assert_int_equal(sample->weight, 8000);
	assert_int_equal(sample->chance, 4);
	assert_int_equal(sample->state, STATE_RUNNING_KERNEL);
	assert_string_equal(text(&p, sample->reason), "spinlock");
	assert_string_equal(text(&p, profile_get_event(&p, sample->event)->name), "kernellock");
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_lock_of_native_code, begin),
		cmocka_unit_test_setup(a_lock_of_the_kernel, begin),
	};

	return cmocka_run_group_tests_name("recording_locks", tests, NULL, NULL);
}
