// SPDX-License-Identifier: Apache-2.0
/* Waits for monitors in the agent: their lengths, classes, the shortest, the budget, the end. */
#include "test.h"

#include "fake_jvmti.h"

#define LEAST_NS 10000ULL
#define MS	 1000000ULL

static jobject object_of(int class)
{
	return (void *)&fake.methods[class];
}

static void enter_for(int class, uint64_t ns)
{
	fake.callbacks.MonitorContendedEnter(&fake_jvmti, &fake_jni, fake_thread_id(0),
					     object_of(class));
	fake_passed_ns += ns;
	fake.callbacks.MonitorContendedEntered(&fake_jvmti, &fake_jni, fake_thread_id(0),
					       object_of(class));
}

static void begin_waiting(int class)
{
	fake.callbacks.MonitorWait(&fake_jvmti, &fake_jni, fake_thread_id(0), object_of(class), 0);
}

static void end_waiting(int class)
{
	fake.callbacks.MonitorWaited(&fake_jvmti, &fake_jni, fake_thread_id(0), object_of(class),
				     JNI_FALSE);
}

static void wait_for(int class, uint64_t ns)
{
	begin_waiting(class);
	fake_passed_ns += ns;
	end_waiting(class);
}

static void begin(struct agent *a)
{
	locks_begin(a, LEAST_NS);
	agent_switch_events(a, CODEMAP_WANT_LOCKS);
}

static struct agent *telling_agent(void)
{
	struct agent *a = fake_agent();

	begin(a);
	assert_true(fake.monitor_events);
	assert_true(fake.on[JVMTI_EVENT_MONITOR_CONTENDED_ENTER]);
	assert_true(fake.on[JVMTI_EVENT_MONITOR_CONTENDED_ENTERED]);
	assert_true(fake.on[JVMTI_EVENT_MONITOR_WAIT]);
	assert_true(fake.on[JVMTI_EVENT_MONITOR_WAITED]);
	assert_int_equal(a->ring.header->events_on, CODEMAP_WANT_LOCKS);
	return a;
}

/* The clock goes on by itself, too. */
static void expect_length(uint64_t ns)
{
	assert_in_range(fake_lock.length_ns, ns, ns + 20 * MS);
}

static void enters_and_waits_are_told(void **state)
{
	struct agent *a = telling_agent();
	const struct codemap_class *c =
		(const void *)(a->ring.data + a->ring.head % CODEMAP_RING_BYTES);
	uint64_t id;

	(void)state;
	enter_for(0, 50 * MS);
	assert_int_equal(fake_lock.hits, 1);
	assert_int_equal(c->record.kind, CODEMAP_CLASS);
	id = fake_lock.class_id;
	assert_int_equal(id, c->id);
	assert_int_equal(fake_lock.kind, LOCKS_ENTER);
	assert_int_equal(fake_lock.chance, 1);
	assert_int_equal(fake_lock.identity, 0x7abcdef1);
	expect_length(50 * MS);
	/* Both ends name one begin. */
	assert_int_equal(fake_lock.begins, 1);
	assert_true(fake_lock.begun_ns > 0);
	assert_true(fake_lock.begin_ns == fake_lock.begun_ns);
	wait_for(1, 70 * MS);
	/* Nobody has what a thread waits in. */
	assert_int_equal(fake_lock.begins, 1);
	assert_true(fake_lock.begin_ns > fake_lock.begun_ns);
	assert_int_equal(fake_lock.hits, 2);
	assert_int_equal(fake_lock.kind, LOCKS_WAIT);
	assert_int_equal(fake_lock.identity, 17);
	assert_int_not_equal(fake_lock.class_id, id);
	expect_length(70 * MS);
	fake_drop(a);
}

static void short_ones_are_not_told(void **state)
{
	struct agent *a = telling_agent();

	(void)state;
	a->locks.least_ns = 5000 * MS;
	enter_for(0, 100 * MS);
	assert_int_equal(fake_lock.hits, 0);
	enter_for(0, 5000 * MS);
	assert_int_equal(fake_lock.hits, 1);
	fake_drop(a);
}

/* An end without a begin, or with one of another kind, of an earlier run, of a wait that was told of. */
static void ends_without_a_begin_are_not_told(void **state)
{
	struct agent *a = telling_agent();

	(void)state;
	end_waiting(0);
	fake.callbacks.MonitorContendedEnter(&fake_jvmti, &fake_jni, fake_thread_id(0),
					     object_of(0));
	fake_passed_ns += MS;
	end_waiting(0);
	assert_int_equal(fake_lock.hits, 0);
	wait_for(0, MS);
	end_waiting(0);
	assert_int_equal(fake_lock.hits, 1);
	begin_waiting(0);
	fake_passed_ns += MS;
	agent_switch_events(a, 0);
	begin(a);
	fake_passed_ns += MS;
	end_waiting(0);
	assert_int_equal(fake_lock.hits, 1);
	fake_drop(a);
}

/* A replay while events are on: waits that are under way are waits all the same. */
static void a_replay_ends_no_wait(void **state)
{
	struct agent *a = telling_agent();

	(void)state;
	begin_waiting(0);
	fake_passed_ns += MS;
	begin(a);
	end_waiting(0);
	assert_int_equal(fake_lock.hits, 1);
	fake_drop(a);
}

/* What is left out the rest stands for. */
static void many_short_ones_are_thinned(void **state)
{
	struct agent *a = telling_agent();
	const uint64_t waits = 200000, ns = 20000;
	uint64_t begin_ns = agent_now_ns();

	(void)state;
	for (uint64_t i = 0; i < waits; i++)
		enter_for(0, ns);
	assert_true(a->locks.level_ns >= 2 * ns);
	assert_in_range(fake_lock.hits, 2000, waits / 4);
	/* They have taken what has passed, and half a percent is three deviations. */
	assert_true((double)fake_lock.sum_ns > 0.85 * (double)(waits * ns));
	assert_true((double)fake_lock.sum_ns < 1.15 * (double)(agent_now_ns() - begin_ns));
	/* A long one is never left out. */
	enter_for(0, 2000 * MS);
	assert_int_equal(fake_lock.chance, 1);
	for (int i = 0; i < 40; i++) {
		fake_passed_ns += 200 * MS;
		locks_watch(a);
	}
	assert_int_equal(a->locks.level_ns, 0);
	fake_drop(a);
}

static void capability_goes_with_the_events(void **state)
{
	struct agent *a = telling_agent();

	(void)state;
	enter_for(0, MS);
	assert_int_not_equal(fake.tags[0], 0);
	fake.loaded = 1;
	agent_switch_events(a, CODEMAP_WANT_THREADS);
	assert_false(fake.monitor_events);
	assert_false(fake.on[JVMTI_EVENT_MONITOR_CONTENDED_ENTER]);
	assert_false(fake.on[JVMTI_EVENT_MONITOR_WAITED]);
	assert_int_equal(fake.tags[0], 0);
	/* Of allocations the classes keep theirs. */
	alloc_begin(a, 65536);
	locks_begin(a, LEAST_NS);
	agent_switch_events(a, CODEMAP_WANT_LOCKS | CODEMAP_WANT_ALLOC);
	enter_for(0, MS);
	agent_switch_events(a, CODEMAP_WANT_ALLOC);
	assert_false(fake.monitor_events);
	assert_int_not_equal(fake.tags[0], 0);
	fake_drop(a);
}

static void a_jvm_that_has_them_not(void **state)
{
	struct agent *a = fake_agent();

	(void)state;
	fake.refused.can_generate_monitor_events = 1;
	locks_begin(a, LEAST_NS);
	agent_switch_events(a, CODEMAP_WANT_LOCKS | CODEMAP_WANT_THREADS);
	assert_int_equal(a->ring.header->events_on, CODEMAP_WANT_THREADS);
	assert_false(fake.on[JVMTI_EVENT_MONITOR_WAITED]);
	agent_switch_events(a, 0);
	fake_drop(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(enters_and_waits_are_told),
		cmocka_unit_test(short_ones_are_not_told),
		cmocka_unit_test(ends_without_a_begin_are_not_told),
		cmocka_unit_test(a_replay_ends_no_wait),
		cmocka_unit_test(many_short_ones_are_thinned),
		cmocka_unit_test(capability_goes_with_the_events),
		cmocka_unit_test(a_jvm_that_has_them_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
