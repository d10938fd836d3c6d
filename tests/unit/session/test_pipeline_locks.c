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
	assert_string_equal(noted(), "probe the begins of 1\nprobe the locks of 1\n");
	assert_false(f->pipeline.sees_locks);
	parts.lock_probed = 0;
	/* An older agent: its waits count, whoever had the lock. */
	parts.lock_begin_probed = -EOPNOTSUPP;
	f->pipeline.samples_allocations = true;
	parts.probed = -EOPNOTSUPP;
	assert_int_equal(pipeline_outside_probe(&process, A_POINTER(jvm), &f->pipeline, &err),
			 -EOPNOTSUPP);
	assert_string_equal(noted(),
			    "probe the begins of 1\nprobe the locks of 1\nprobe the agent of 1\n");
	assert_true(f->pipeline.sees_locks);
	assert_string_equal(profile_get_string(&f->pipeline.profile,
					       f->pipeline.profile.counters.items[1].name),
			    "lock.owners-not-seen");
	parts.lock_begin_probed = 0;
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

/* That they park is told of the JVM, or that it is not. */
static void virtual_threads_that_are_not_seen(void **state)
{
	struct fixture *f = *state;
	const struct err err = { .text = "its heap is not read" };
	const struct virtual_yields_unseen *unseen = &f->pipeline.parks.yields.unseen;

	begin(f);
	f->pipeline.samples_locks = true;
	pipeline_outside_watch_parks(&f->pipeline);
	assert_true(f->pipeline.parks.yields.wanted.locks);
	assert_false(f->pipeline.parks.yields.wanted.waits);
	unseen->fn(&err, unseen->data);
	assert_int_equal(f->pipeline.profile.counters.len, 1);
	assert_string_equal(profile_get_string(&f->pipeline.profile,
					       f->pipeline.profile.counters.items[0].name),
			    "lock.virtual-parks-not-seen");
	/* The same of their waits, where these are wanted. */
	f->pipeline.samples_locks = false;
	f->pipeline.samples_waits = true;
	pipeline_outside_watch_parks(&f->pipeline);
	assert_false(f->pipeline.parks.yields.wanted.locks);
	assert_true(f->pipeline.parks.yields.wanted.waits);
	unseen->fn(&err, unseen->data);
	assert_int_equal(f->pipeline.profile.counters.len, 2);
	assert_string_equal(profile_get_string(&f->pipeline.profile,
					       f->pipeline.profile.counters.items[1].name),
			    "offcpu.virtual-not-seen");
}

/* For their virtual threads JVMs are met, though nothing tells of locks. */
static void threads_that_wait(void **state)
{
	struct fixture *f = *state;
	struct process process = { .pid = PID_A };

	begin(f);
	parts.is_jvm = true;
	f->pipeline.samples_waits = true;
	pipeline_add_jvm(&f->pipeline, &process);
	assert_non_null(strstr(noted(), "see 1 park\n"));
	assert_false(f->pipeline.sees_locks);
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
	/* One that was met before tells no more than then. */
	parts.parks_seen = 1;
	pipeline_add_jvm(&f->pipeline, &process);
	assert_false(f->pipeline.sees_locks);
	parts.parks_seen = 0;
	pipeline_add_jvm(&f->pipeline, &process);
	assert_true(f->pipeline.sees_locks);
	pipeline_outside_poll(&f->pipeline);
	assert_true(parts.parks_polled_ns > 0);
	noted();
	pipeline_outside_forget(&f->pipeline, &process);
	assert_non_null(strstr(noted(), "no more of 1's parks\n"));
}

/* --- who has them ----------------------------------------------------------------------------- */

static const struct profile_sample *row(struct fixture *f, size_t at)
{
	assert_true(at < f->pipeline.profile.samples.len);
	return &f->pipeline.profile.samples.items[at];
}

/* A process that is known when its samples arrive. */
static void begin_jvm(struct fixture *f)
{
	begin(f);
	parts.is_jvm = true;
	put_process(f, 10, PID_A, "java", "[one]");
	run_until(f, 20 + HELD_MS);
}

static void put_owned(struct fixture *f, uint64_t ms, uint64_t owner)
{
	put_sample(f, ms,
		   (struct sample_spec){ .pid = PID_A,
					 .object_bytes = 5000,
					 .interval = 1,
					 .owner = owner,
					 .flags = WIRE_SAMPLE_LOCK | WIRE_SAMPLE_WEIGHED,
					 .cause = WIRE_CAUSE_MONITOR_ENTER,
					 .in_user = 1,
					 .user = { MAPPED | WIRE_FRAME_EXACT } });
}

static const struct profile_thread *owner(struct fixture *f, size_t i)
{
	assert_true(row(f, i)->owner > 0);
	return profile_get_thread(&f->pipeline.profile, row(f, i)->owner - 1);
}

static void expect_owner(struct fixture *f, size_t i, uint32_t tid, const char *name)
{
	assert_int_equal(owner(f, i)->tid, tid);
	assert_string_equal(profile_get_string(&f->pipeline.profile, owner(f, i)->name), name);
	assert_int_equal(owner(f, i)->java_tid, 33);
	assert_int_equal(owner(f, i)->process,
			 profile_get_thread(&f->pipeline.profile, row(f, i)->thread)->process);
}

/* Found out as the sample arrives, named when its turn comes. */
static void who_has_a_lock(void **state)
{
	struct fixture *f = *state;

	begin_jvm(f);
	parts.owner = WIRE_OWNER(TID, PID_B);
	parts.owner_name = "holder";
	parts.tells_threads = true;
	put_owned(f, 1000, WIRE_OWNER(PLACE, 0x7f00));
	noted();
	run_until(f, 1010);
	assert_non_null(strstr(noted(), "owner 3000000000007f00\nthread 2 at 1000\n"));
	run_until(f, 1010 + HELD_MS);
	assert_non_null(strstr(noted(), "name of 2\n"));
	expect_owner(f, 0, PID_B, "holder");
	assert_int_equal(owner(f, 0)->is_virtual, 0);
	/* A virtual one has no tid, and is not asked for. */
	parts.owner = WIRE_OWNER(NUMBER, 33);
	put_owned(f, 2000, WIRE_OWNER(NUMBER, 33));
	run_until(f, 2010 + HELD_MS);
	assert_null(strstr(noted(), "name of"));
	expect_owner(f, 1, 0, PROFILE_VIRTUAL_THREAD);
	assert_int_equal(owner(f, 1)->is_virtual, 1);
}

static void who_is_not_known(void **state)
{
	struct fixture *f = *state;

	begin_jvm(f);
	parts.owner = 0;
	put_owned(f, 1000, WIRE_OWNER(PLACE, 0x7f00));
	/* One without a name says nothing. */
	run_until(f, 1010 + HELD_MS);
	parts.owner = WIRE_OWNER(TID, PID_B);
	parts.owner_name = NULL;
	put_owned(f, 2000, WIRE_OWNER(TID, PID_B));
	run_until(f, 2010 + HELD_MS);
	parts.owner_name = "holder";
	noted();
	put_owned(f, 3000, 0);
	run_until(f, 3010 + HELD_MS);
	assert_null(strstr(noted(), "owner"));
	assert_int_equal(f->pipeline.profile.samples.len, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(row(f, i)->owner, 0);
	/* Of the first it was told that there is one. */
	assert_int_equal(f->pipeline.profile.counters.len, 1);
	assert_int_equal(f->pipeline.profile.counters.items[0].value, 1);
	assert_string_equal(profile_get_string(&f->pipeline.profile,
					       f->pipeline.profile.counters.items[0].name),
			    "lock.owners-not-found");
}

/* Asked when the wait begins; its sample, and no other one's, has the answer. */
static void a_monitor_that_does_not_tell(void **state)
{
	const struct wire_lock_begin begun = { .size = sizeof(begun),
					       .kind = WIRE_LOCK_BEGIN,
					       .begin_ns = 5000,
					       .monitor = 0x7f02,
					       .tgid = PID_A,
					       .tid = PID_A };
	struct fixture *f = *state;

	begin_jvm(f);
	parts.owner = WIRE_OWNER(TID, PID_B);
	parts.owner_name = "holder";
	fake_put_lock_begin(f->capture, &begun);
	noted();
	run_until(f, 1060);
	assert_non_null(strstr(noted(), "who has 7f02?\n"));
	parts.owner = 0;
	put_owned(f, 1100, WIRE_OWNER(ANONYMOUS, 5001));
	put_owned(f, 1101, WIRE_OWNER(ANONYMOUS, 5000));
	run_until(f, 1120 + HELD_MS);
	assert_int_equal(row(f, 0)->owner, 0);
	expect_owner(f, 1, PID_B, "holder");
}

/* A method that was compiled has its own words, which are none here; no object is followed. */
static void a_compilation(void **state)
{
	struct fixture *f = *state;

	begin_jvm(f);
	f->events[0].trigger = WIRE_TRIGGER_JIT;
	f->pipeline.live_mode = LIVE_ON;
	put_sample(f, 1000,
		   (struct sample_spec){ .pid = PID_A,
					 .weight = 700,
					 .object = 20,
					 .cause = WIRE_CAUSE_COMPILATION,
					 .text = WIRE_TEXT_COMPILATION,
					 .in_user = 1,
					 .user = { MAPPED | WIRE_FRAME_EXACT } });
	run_until(f, 1010 + HELD_MS);
	f->pipeline.live_mode = LIVE_OFF;
	assert_int_equal(f->pipeline.profile.samples.len, 1);
	assert_int_equal(row(f, 0)->weight, 700);
	assert_int_equal(row(f, 0)->chance, 1);
	assert_string_equal(profile_get_string(&f->pipeline.profile, row(f, 0)->reason),
			    "compilation");
	assert_int_equal(f->pipeline.live.owners.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(functions_of_an_agent),
		TEST(probes_of_phases),
		TEST(virtual_threads_that_are_not_seen),
		TEST(threads_that_park),
		TEST(threads_that_wait),
		TEST(who_has_a_lock),
		TEST(who_is_not_known),
		TEST(a_monitor_that_does_not_tell),
		TEST(a_compilation),
	};

	return cmocka_run_group_tests_name("pipeline_locks", tests, NULL, NULL);
}
