// SPDX-License-Identifier: Apache-2.0
/* Where the pipeline has agents and JVMs tell: of allocations, of locks. */
#include "pipeline_parts.h"
#include "session/pipeline_outside.h"

/* The agent's functions are probed as the events want it; that one is missing says nothing of the other. */
static void functions_of_an_agent(void **state)
{
	struct fixture *f = *state;
	struct process process = { .pid = PID_A };
	struct err err = { 0 };

	begin(f);
	parts.is_jvm = true;
	noted();
	assert_int_equal(pipeline_outside_probe(&process, A_POINTER(jvm), &f->pipeline, &err), 0);
	assert_string_equal(noted(), "");
	assert_false(f->pipeline.sees_locks);
	f->pipeline.samples_locks = true;
	parts.lock_probed = -EOPNOTSUPP;
	assert_int_equal(pipeline_outside_probe(&process, A_POINTER(jvm), &f->pipeline, &err), 0);
	assert_string_equal(noted(), "probe the locks of 1\n");
	assert_false(f->pipeline.sees_locks);
	parts.lock_probed = 0;
	f->pipeline.samples_allocations = true;
	parts.probed = -EOPNOTSUPP;
	assert_int_equal(pipeline_outside_probe(&process, A_POINTER(jvm), &f->pipeline, &err),
			 -EOPNOTSUPP);
	assert_string_equal(noted(), "probe the locks of 1\nprobe the agent of 1\n");
	assert_true(f->pipeline.sees_locks);
	parts.probed = 0;
}

/* Of a target, agent or not; a JVM without them is told of. */
static void probes_of_phases(void **state)
{
	struct fixture *f = *state;
	struct process process = { .pid = PID_A };

	begin(f);
	parts.is_jvm = true;
	pipeline_add_jvm(&f->pipeline, &process);
	assert_null(strstr(noted(), "phases"));
	f->pipeline.phases.wanted = 1;
	parts.phases_probed = -ENODATA;
	pipeline_add_jvm(&f->pipeline, &process);
	assert_non_null(strstr(noted(), "probe the phases of 1\n"));
	assert_int_equal(f->pipeline.phases.seen, 0);
	assert_int_equal(f->pipeline.profile.counters.len, 1);
	assert_string_equal(profile_get_string(&f->pipeline.profile,
					       f->pipeline.profile.counters.items[0].name),
			    "safepoint.not-seen");
	parts.phases_probed = 0;
	pipeline_add_jvm(&f->pipeline, &process);
	assert_int_equal(f->pipeline.phases.seen, 1);
	pipeline_outside_poll(&f->pipeline);
	assert_true(parts.phases_polled_ns > 0);
	noted();
	pipeline_outside_forget(&f->pipeline, &process);
	assert_non_null(strstr(noted(), "no more of 1's phases\n"));
}

/* Agent or not, each target's threads are seen to park. */
static void threads_that_park(void **state)
{
	struct fixture *f = *state;
	struct process process = { .pid = PID_A };

	begin(f);
	parts.is_jvm = true;
	pipeline_add_jvm(&f->pipeline, &process);
	assert_null(strstr(noted(), "park"));
	f->pipeline.samples_locks = true;
	parts.parks_seen = -ENODATA;
	pipeline_add_jvm(&f->pipeline, &process);
	assert_non_null(strstr(noted(), "see 1 park\n"));
	assert_false(f->pipeline.sees_locks);
	assert_int_equal(f->pipeline.profile.counters.len, 1);
	assert_string_equal(profile_get_string(&f->pipeline.profile,
					       f->pipeline.profile.counters.items[0].name),
			    "lock.parks-not-seen");
	parts.parks_seen = 0;
	pipeline_add_jvm(&f->pipeline, &process);
	assert_true(f->pipeline.sees_locks);
	pipeline_outside_poll(&f->pipeline);
	assert_true(parts.parks_polled_ns > 0);
	noted();
	pipeline_outside_forget(&f->pipeline, &process);
	assert_non_null(strstr(noted(), "no more of 1's parks\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(functions_of_an_agent),
		TEST(probes_of_phases),
		TEST(threads_that_park),
	};

	return cmocka_run_group_tests_name("pipeline_locks", tests, NULL, NULL);
}
