// SPDX-License-Identifier: Apache-2.0
/* What JVMs do for themselves, in a recording. */
#include "waits_fixture.h"

/* --- compilations --- */

static uint32_t stack_of_method(void)
{
	const struct profile_frame frame = { .class_name = profile_string(&written, "a.B"),
					     .name = profile_string(&written, "m"),
					     .descriptor = profile_string(&written, "(I)V"),
					     .mapping = PROFILE_NONE,
					     .bci = -1,
					     .kind = FRAME_COMPILING };
	uint32_t frames[] = { profile_frame(&written, &frame), leaf_frame(&written) };

	return profile_stack(&written, frames, 2);
}

static void add_compilation(uint64_t length, uint64_t off, uint32_t chance, const char *reason)
{
	event = profile_event(&written, &(struct profile_event){
						.name = profile_string(&written, "jit"),
						.unit = profile_string(&written, "nanoseconds") });
	stack = stack_of_method();
	add(length * chance, off * chance, chance, STATE_RUNNING_USER, reason);
	written.samples.items[written.samples.len - 1].identity = 4711;
}

static void compilations_are_there(void **state)
{
	const struct profile_sample *sample;
	struct profile p;

	(void)state;
	add_compilation(3000, 200, 4, "C1 tier 3, OSR, failed");
	read_back(&p, false);
	assert_int_equal(p.samples.len, 1);
	sample = &p.samples.items[0];
	/* The time is that of the end. */
	assert_int_equal(sample->time_ns, START_NS + 5);
	assert_int_equal(sample->weight, 12000);
	assert_int_equal(sample->chance, 4);
	assert_int_equal(sample->queued, 800);
	assert_int_equal(sample->identity, 4711);
	assert_string_equal(text(&p, sample->reason), "C1 tier 3, OSR, failed");
	assert_string_equal(text(&p, profile_get_event(&p, sample->event)->name), "jit");
	assert_int_equal(profile_get_stack(&p, sample->stack).len, 2);
	profile_release(&p);
}

static void compilations_as_views_have_them(void **state)
{
	struct profile p;

	(void)state;
	add_compilation(3000, 200, 1, "C1 tier 3");
	add_compilation(500, 0, 1, "C1 tier 3");
	read_back(&p, true);
	assert_int_equal(p.samples.len, 2);
	assert_int_equal(find(&p, "[C1 tier 3]")->weight, 3300);
	assert_int_equal(find(&p, "[C1 tier 3]")->count, 2);
	assert_int_equal(find(&p, "[off the cpu]")->weight, 200);
	assert_int_equal(find(&p, "[off the cpu]")->count, 0);
	profile_release(&p);
}

/* --- loaded classes --- */

static void classes_are_there(void **state)
{
	const struct profile_frame *leaf;
	struct profile p;

	(void)state;
	for (int merge = 0; merge < 2; merge++) {
		if (merge)
			begin(state);
		event = profile_event(
			&written,
			&(struct profile_event){ .name = profile_string(&written, "classload"),
						 .unit = profile_string(&written, "count") });
		stack = stack_of_class("a.B/0x12");
		add(8, 0, 0, STATE_RUNNING_USER, "");
		read_back(&p, merge);
		assert_int_equal(p.samples.len, 1);
		assert_int_equal(p.samples.items[0].time_ns, START_NS + 5);
		assert_int_equal(p.samples.items[0].weight, 8);
		assert_int_equal(p.samples.items[0].count, 1);
		assert_int_equal(p.samples.items[0].reason, 0);
		assert_string_equal(text(&p, profile_get_event(&p, p.samples.items[0].event)->name),
				    "classload");
		leaf = profile_get_frame(&p,
					 profile_get_stack(&p, p.samples.items[0].stack).frames[0]);
		assert_int_equal(leaf->kind, FRAME_CLASS);
		assert_string_equal(text(&p, leaf->class_name), "a.B/0x12");
		profile_release(&p);
	}
}

/* --- collections --- */

static void add_pause(uint64_t length, const char *cause)
{
	const struct profile_frame mark = { .name = profile_string(&written, "[G1CollectFull]"),
					    .mapping = PROFILE_NONE,
					    .bci = -1,
					    .kind = FRAME_MARK };
	uint32_t frames[] = { profile_frame(&written, &mark), leaf_frame(&written) };

	event = profile_event(&written, &(struct profile_event){
						.name = profile_string(&written, "gc"),
						.unit = profile_string(&written, "nanoseconds") });
	stack = profile_stack(&written, frames, 2);
	add(length, 0, 1, STATE_RUNNING_USER, cause);
}

static void pauses_are_there(void **state)
{
	struct profile_stack frames;
	struct profile p;

	(void)state;
	add_pause(7000, "System.gc()");
	read_back(&p, false);
	assert_int_equal(p.samples.len, 1);
	/* The time is that of the end. */
	assert_int_equal(p.samples.items[0].time_ns, START_NS + 5);
	assert_int_equal(p.samples.items[0].weight, 7000);
	assert_string_equal(text(&p, p.samples.items[0].reason), "System.gc()");
	assert_string_equal(text(&p, profile_get_event(&p, p.samples.items[0].event)->name), "gc");
	frames = profile_get_stack(&p, p.samples.items[0].stack);
	assert_int_equal(frames.len, 2);
	assert_string_equal(text(&p, profile_get_frame(&p, frames.frames[0])->name),
			    "[G1CollectFull]");
	profile_release(&p);
}

static void pauses_as_views_have_them(void **state)
{
	struct profile p;

	(void)state;
	add_pause(7000, "System.gc()");
	add_pause(300, "System.gc()");
	add_pause(50, "no cause");
	read_back(&p, true);
	assert_int_equal(p.samples.len, 2);
	assert_int_equal(find(&p, "[System.gc()]")->weight, 7300);
	assert_int_equal(find(&p, "[System.gc()]")->count, 2);
	assert_int_equal(find(&p, "[no cause]")->weight, 50);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(compilations_are_there, begin),
		cmocka_unit_test_setup(compilations_as_views_have_them, begin),
		cmocka_unit_test_setup(classes_are_there, begin),
		cmocka_unit_test_setup(pauses_are_there, begin),
		cmocka_unit_test_setup(pauses_as_views_have_them, begin),
	};

	return cmocka_run_group_tests_name("recording_phases", tests, NULL, NULL);
}
