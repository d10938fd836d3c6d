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
	/* Who has not come back is in no sample. */
	f->capture->unmounted = (struct capture_unmounted){ 5, 4711 };
	finish(f);
	assert_int_equal(figure(&f->read, "offcpu.virtual-waiting"), 5);
	assert_true(figure(&f->read, "offcpu.virtual-waiting-ns") > 4711);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(one_without_a_carrier) };

	return cmocka_run_group_tests_name("pipeline_unmounted", tests, NULL, NULL);
}
