// SPDX-License-Identifier: Apache-2.0
/* Waits of virtual threads without their carriers: each is one sample, which comes when it is over. */
#include "pipeline_fixture.h"

#include "session/pipeline_spans.h"

#define TID (PID_A + 5)

static const struct profile_sample *row(struct fixture *f)
{
	assert_int_equal(f->pipeline.profile.samples.len, 1);
	return &f->pipeline.profile.samples.items[0];
}

static uint64_t figure(const struct profile *p, const char *name)
{
	for (size_t i = 0; i < p->counters.len; i++)
		if (!strcmp(profile_get_string(p, p->counters.items[i].name), name))
			return p->counters.items[i].value;
	return 0;
}

/* A virtual thread's, without its carrier: told when it is over, as of its begin. */
static void one_without_a_carrier(void **state)
{
	struct fixture *f = *state;
	const struct sample_spec spec = { .pid = PID_A,
					  .tid = TID,
					  .event = 1,
					  .weight = 3 * 40 * MS,
					  .object_bytes = 40 * MS,
					  .interval = 3,
					  .flags = WIRE_SAMPLE_WEIGHED,
					  .unmounted = 1,
					  .virtual_id = 77,
					  .state = WIRE_STATE_SLEEPING,
					  .cause = WIRE_CAUSE_MONITOR_ENTER,
					  .in_user = 1,
					  .user = { MAPPED | WIRE_FRAME_EXACT } };

	f->events[1].is_wall = true;
	open_pipeline(f);
	put_process(f, 10, PID_A, "busy", "[one]");
	f->pipeline.samples_waits = true;
	put_sample(f, 100, spec);
	run_until(f, 110 + HELD_MS);
	assert_int_equal(row(f)->time_ns, at_ms(f, 60));
	assert_true(row(f)->weight == 3 * 40 * MS);
	assert_int_equal(row(f)->chance, 3);
	assert_int_equal(row(f)->queued, 0);
	assert_int_equal(row(f)->objects, 0);
	assert_int_equal(row(f)->identity, 0);
	assert_int_equal(row(f)->state, STATE_SLEEPING);
	assert_string_equal(profile_get_string(&f->pipeline.profile, row(f)->reason),
			    "monitor enter");
	/* Who has not come back, and was not read, is in no sample. */
	f->capture->unmounted = (struct capture_unmounted){ 5, 4711 };
	finish(f);
	assert_int_equal(figure(&f->read, "offcpu.virtual-waiting"), 5);
	assert_true(figure(&f->read, "offcpu.virtual-waiting-ns") > 4711);
}

/* It leaves for good at 30 ms, as one that stands for four. */
static void put_one(struct fixture *f, uint64_t id)
{
	const struct process *process = registry_find(f->pipeline.registry, PID_A);
	const struct wire_process of = { PID_A, 7, 0 };
	uint8_t frames[] = { 0, 0, 0, 0, 0, 0, 0, 0 };
	struct virtual_parked parked = { .id = id,
					 .cause = WIRE_CAUSE_MONITOR_ENTER,
					 .chunk = 0x1000,
					 .data = frames,
					 .bytes = sizeof(frames),
					 .name_width = 1,
					 .name_bytes = 3,
					 .name = "one" };

	unmounted_put(&f->pipeline.unmounted, process, &of, &parked, 4, at_ms(f, 30));
}

static void one_that_does_not_come_back(void **state)
{
	struct fixture *f = *state;
	const struct profile *profile = &f->pipeline.profile;

	f->events[1].is_wall = true;
	open_pipeline(f);
	put_process(f, 10, PID_A, "busy", "[one]");
	f->pipeline.samples_waits = true;
	run_until(f, 20 + HELD_MS);
	put_one(f, 77);
	f->capture->unmounted_id = 77;
	f->capture->unmounted_wait = (struct capture_unmounted_wait){ at_ms(f, 30), true, 10 * MS };
	f->capture->unmounted.threads = 5;
	pipeline_spans_end(&f->pipeline, at_ms(f, 70));
	run_until(f, 80 + 2 * HELD_MS);
	assert_int_equal(row(f)->time_ns, at_ms(f, 30));
	assert_true(row(f)->weight == 4 * (40 + 10) * MS);
	assert_int_equal(row(f)->chance, 4);
	assert_int_equal(row(f)->state, STATE_SLEEPING);
	assert_string_equal(profile_get_string(profile, row(f)->reason), "monitor enter");
	finish(f);
	assert_int_equal(figure(&f->read, "offcpu.virtual-told"), 4);
	assert_int_equal(figure(&f->read, "offcpu.virtual-waiting"), 1);
}

/* However many a heap has, sums stay numbers. */
static void one_for_very_many(void **state)
{
	struct fixture *f = *state;

	f->events[1].is_wall = true;
	open_pipeline(f);
	put_process(f, 10, PID_A, "busy", "[one]");
	f->pipeline.samples_waits = true;
	run_until(f, 20 + HELD_MS);
	put_one(f, 77);
	f->pipeline.unmounted.waits.items[0].stands_for = 1e15;
	f->capture->unmounted_id = 77;
	f->capture->unmounted_wait = (struct capture_unmounted_wait){ at_ms(f, 30), false, 0 };
	pipeline_spans_end(&f->pipeline, at_ms(f, 70));
	run_until(f, 80 + 2 * HELD_MS);
	assert_true(row(f)->weight == 1000000000000000000);
	finish(f);
}

/* One has come back, so that its wait was told, one waits anew, one is not known, one had hardly left. */
static void those_that_are_told_otherwise(void **state)
{
	static const struct {
		uint64_t id, begin_ms, end_ms;
	} cases[] = { { 78, 30, 70 }, { 77, 31, 70 }, { 0, 30, 70 }, { 77, 30, 30 } };
	struct fixture *f = *state;

	f->events[1].is_wall = true;
	f->events[1].least_ns = MS;
	open_pipeline(f);
	put_process(f, 10, PID_A, "busy", "[one]");
	f->pipeline.samples_waits = true;
	run_until(f, 20 + HELD_MS);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		f->capture->unmounted_id = cases[i].id;
		f->capture->unmounted_wait =
			(struct capture_unmounted_wait){ at_ms(f, cases[i].begin_ms), true, 0 };
		put_one(f, 77);
		pipeline_spans_end(&f->pipeline, at_ms(f, cases[i].end_ms));
	}
	run_until(f, 80 + 2 * HELD_MS);
	assert_int_equal(f->pipeline.profile.samples.len, 0);
	finish(f);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(one_without_a_carrier),
					    TEST(one_that_does_not_come_back),
					    TEST(one_for_very_many),
					    TEST(those_that_are_told_otherwise) };

	return cmocka_run_group_tests_name("pipeline_unmounted", tests, NULL, NULL);
}
