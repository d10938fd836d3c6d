// SPDX-License-Identifier: Apache-2.0
/* When an agent is looked for, loaded, given up and looked for again. */
#include "agents_world.h"

/* --- whose agent is used --- */

static void a_target_at_once(void **state)
{
	struct fixture *f = *state;

	f->jvm.answer = 0;
	agents_add(f->agents, f->process, true);
	assert_int_equal(f->jvm.opens, 1);
	agents_add(f->agents, f->process, true);
	assert_int_equal(opens_in(f, 30000), 0);
	assert_counts(f, 0, 0);
	agents_note_sample(f->agents, f->process);
	agents_note_sample(f->agents, f->process);
	assert_counts(f, 1, 1);
}

/* The lease of a JVM that is not asked for is left alone. */
static void another_only_when_it_is_sampled(void **state)
{
	struct fixture *f = *state;

	f->jvm.answer = 0;
	agents_add(f->agents, f->process, false);
	assert_int_equal(opens_in(f, 30000), 0);
	agents_note_sample(f->agents, f->process);
	assert_counts(f, 1, 0);
	assert_int_equal(opens_in(f, 100), 1);
	assert_counts(f, 1, 1);
}

/* A JVM that was moved into the cgroup is one; asked of it again as of any, it stays one. */
static void another_that_becomes_a_target(void **state)
{
	struct fixture *f = *state;

	f->jvm.answer = 0;
	agents_add(f->agents, f->process, false);
	assert_int_equal(opens_in(f, 30000), 0);
	agents_add(f->agents, f->process, true);
	agents_add(f->agents, f->process, false);
	assert_int_equal(opens_in(f, 100), 1);
	assert_counts(f, 0, 0); /* none of its samples came */
}

static void one_that_was_not_known(void **state)
{
	struct fixture *f = *state;

	f->jvm.answer = 0;
	agents_note_sample(f->agents, f->process);
	assert_int_equal(f->jvm.opens, 1);
	assert_counts(f, 1, 1);
}

static void a_dead_one_is_left_alone(void **state)
{
	struct fixture *f = *state;

	agents_add(f->agents, f->process, true);
	f->process->exited = true;
	assert_int_equal(opens_in(f, 30000), 0);
	f->process->exited = false;
	agents_forget(f->agents, f->process); /* it runs another program */
	assert_int_equal(opens_in(f, 30000), 0);
	assert_int_equal(f->jvm.opens, 1);
}

/* It maps libjvm later: a sample shows it at once, without one it takes half a second. Until it maps something nobody asks again. */
static void one_that_becomes_a_jvm(void **state)
{
	struct fixture *f = *state;

	for (int way = 0; way < 2; way++) {
		f->is_none = true;
		agents_add(f->agents, f->process, true);
		f->asked = 0;
		assert_int_equal(opens_in(f, 1000), 0);
		agents_note_sample(f->agents, f->process);
		assert_int_equal(f->asked, 0);
		f->is_none = false;
		f->process->mappings_serial++;
		if (way == 0) {
			agents_note_sample(f->agents, f->process);
			assert_int_equal(f->jvm.opens, 1);
		} else {
			assert_in_range(opens_in(f, 600), 1, 2);
		}
		f->jvm.opens = 0;
		agents_forget(f->agents, f->process);
	}
}

/* --- how often --- */

/* After 0.5, 1, 2, 4, 8 s; then each 10 s while the JVM maps something, as a library that is loaded, else each 60 s. */
static void looked_for_again_ever_less_often(void **state)
{
	struct fixture *f = *state;

	agents_add(f->agents, f->process, true);
	assert_int_equal(f->jvm.opens, 1);
	assert_int_equal(opens_in(f, 400), 0);
	assert_int_equal(opens_in(f, 100), 1);
	assert_int_equal(opens_in(f, 900), 0);
	assert_int_equal(opens_in(f, 100), 1);
	assert_int_equal(opens_in(f, 2000), 1);
	assert_int_equal(opens_in(f, 4000), 1);
	assert_int_equal(opens_in(f, 8000), 1);
	for (int i = 0; i < 3; i++) {
		f->process->mappings_serial++;
		assert_int_equal(opens_in(f, 9900), 0);
		assert_int_equal(opens_in(f, 100), 1);
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(opens_in(f, 59900), 0);
		assert_int_equal(opens_in(f, 100), 1);
	}
	assert_int_equal(opens_in(f, 30000), 0);
	f->process->mappings_serial++;
	assert_int_equal(opens_in(f, 100), 1);
}

/* Somebody else's, whose recording may end at any time. */
static void one_that_is_held_is_asked_for_each_10_s(void **state)
{
	struct fixture *f = *state;

	f->jvm.answer = -EBUSY;
	agents_add(f->agents, f->process, true);
	opens_in(f, 30000);
	assert_int_equal(opens_in(f, 30000), 3);
}

/* Who has it may have been killed: until a lease would be over we ask often. */
static void a_lease_that_ends(void **state)
{
	struct fixture *f = *state;

	f->jvm.answer = -EBUSY;
	agents_add(f->agents, f->process, true);
	assert_int_equal(opens_in(f, 3000), 6);
	assert_int_equal(opens_in(f, 900), 0);
	assert_int_equal(opens_in(f, 100), 1);
	assert_int_equal(opens_in(f, 1900), 0);
	assert_int_equal(opens_in(f, 100), 1);
}

/* Somebody detached it, or we were too slow for our lease; it may come back. */
static void an_agent_that_went_is_looked_for(void **state)
{
	struct fixture *f = *state;

	f->jvm.answer = 0;
	agents_note_sample(f->agents, f->process);
	f->jvm.reads = false;
	f->jvm.answer = -ENODATA;
	assert_int_equal(opens_in(f, 100), 1);
	assert_int_equal(opens_in(f, 10000), 4); /* 0.5, 1, 2, 4 s later */
	assert_counts(f, 1, 1);
	f->jvm.answer = 0;
	assert_int_equal(opens_in(f, 8000), 1);
	assert_int_equal(opens_in(f, 10000), 0);
	f->jvm.reads = false;
	assert_int_equal(opens_in(f, 100), 1);
}

static void why_it_is_not_used(void **state)
{
	struct fixture *f = *state;

	agents_note_sample(f->agents, f->process);
	assert_string_equal(failures(f), ""); /* there is none */
	f->jvm.answer = -ESRCH;
	assert_int_equal(opens_in(f, 500), 1);
	assert_string_equal(failures(f), ""); /* the JVM is going */
	f->jvm.answer = -EBUSY;
	assert_int_equal(opens_in(f, 1000), 1);
	assert_string_equal(failures(f), "1: answer 16\n");
	f->jvm.answer = 0;
	assert_int_equal(opens_in(f, 2000), 1);
	assert_string_equal(failures(f), "");
	assert_counts(f, 1, 1);
}

/* --- loading it --- */

static void no_agent_is_loaded_unasked(void **state)
{
	struct fixture *f = *state;

	agents_note_sample(f->agents, f->process);
	assert_false(agents_busy(f->agents));
	opens_in(f, 30000);
	assert_int_equal(f->loads, 0);
}

static void an_agent_is_loaded_once(void **state)
{
	struct fixture *f = *state;

	agents_note_sample(f->agents, f->process);
	assert_true(agents_busy(f->agents));
	wait_for_load(f, 1, 2);
	assert_int_equal(f->loaded_pid, PID);
	opens_in(f, 30000);
	assert_int_equal(f->loads, 1);
	assert_string_equal(failures(f), "");
}

static void a_refusal_is_told(void **state)
{
	struct fixture *f = *state;

	f->load = -EPERM;
	agents_note_sample(f->agents, f->process);
	wait_for_load(f, 1, 2);
	assert_string_equal(failures(f), "1: refused\n");
	assert_counts(f, 1, 0);
	f->jvm.answer = -EIO; /* a JVM that lets nobody look says less */
	opens_in(f, 3000);
	assert_string_equal(failures(f), "1: refused\n");
	f->jvm.answer = 0; /* somebody else loaded it */
	assert_true(opens_in(f, 10000) >= 1);
	assert_string_equal(failures(f), "");
}

/* Its JVM starts, or is stopped. */
static void one_that_is_not_ready_is_tried_again(void **state)
{
	struct fixture *f = *state;

	f->load = -EAGAIN;
	agents_note_sample(f->agents, f->process);
	wait_for_load(f, 1, 0);
	for (int i = 0; i < 20000 && !*failures(f); i++) {
		usleep(1);
		agents_poll(f->agents);
	}
	assert_string_equal(failures(f), "1: refused\n");
	f->load = 0;
	opens_in(f, 3000);
	wait_for_load(f, 2, 0);
	f->jvm.answer = 0;
	opens_in(f, 3000);
	assert_string_equal(failures(f), "");
}

/* Past some tries it counts as one without an agent; it is tried on, and may have one yet. */
static void one_that_is_never_ready(void **state)
{
	struct fixture *f = *state;

	f->load = -EAGAIN;
	agents_note_sample(f->agents, f->process);
	for (int i = 0; i < 20000 && !agents_has_failed(f->agents, f->process); i++) {
		opens_in(f, 100);
		usleep(10);
	}
	assert_true(agents_has_failed(f->agents, f->process));
	assert_int_equal(f->loads, 5);
	opens_in(f, 10000);
	wait_for_load(f, 6, 0);
	f->jvm.answer = 0;
	opens_in(f, 10000);
	assert_false(agents_has_failed(f->agents, f->process));
}

static void one_that_must_not_be_touched(void **state)
{
	struct fixture *f = *state;

	f->check = -EOPNOTSUPP;
	agents_note_sample(f->agents, f->process);
	wait_for_load(f, 0, 2);
	assert_string_equal(failures(f), "1: may not\n");
	assert_int_equal(f->loads, 0);
}

static void no_agent_is_installed(void **state)
{
	struct fixture *f = *state;

	f->find = -ENOENT;
	agents_note_sample(f->agents, f->process);
	wait_for_load(f, 0, 2);
	assert_string_equal(failures(f), "1: no agent\n");
}

/* Until its exec, it is a copy of a JVM in which no thread would answer. */
static void a_fork_is_not_attached_to(void **state)
{
	struct fixture *f = *state;

	f->process->exec_count = 0;
	agents_note_sample(f->agents, f->process);
	assert_false(agents_busy(f->agents)); /* with an attach, it would be */
	opens_in(f, 3000);
	assert_false(agents_busy(f->agents));
	f->process->begin_ns = 0; /* it was there before us */
	opens_in(f, 10000);
	wait_for_load(f, 1, 0);
}

/* The answer comes when nobody waits for it; the process has another agent, of its next program. */
static void one_that_went_while_it_was_attached_to(void **state)
{
	struct fixture *f = *state;

	f->load = -EPERM;
	agents_note_sample(f->agents, f->process);
	agents_forget(f->agents, f->process);
	f->process->exec_count = 0; /* not attached to */
	agents_note_sample(f->agents, f->process);
	wait_for_load(f, 1, 0);
	while (agents_busy(f->agents))
		opens_in(f, 100);
	assert_string_equal(failures(f), "");
}

/* --- waiting for it --- */

static void samples_wait_for_a_replay(void **state)
{
	struct fixture *f = *state;

	f->jvm.answer = 0;
	assert_false(agents_busy(f->agents));
	agents_note_sample(f->agents, f->process);
	assert_true(agents_busy(f->agents));
	opens_in(f, 1000);
	assert_true(agents_busy(f->agents));
	f->replayed = true;
	opens_in(f, 100);
	assert_false(agents_busy(f->agents));
	f->replayed = false; /* the next one */
	f->jvm.reads = false;
	opens_in(f, 100);
	assert_true(agents_busy(f->agents));
}

static void but_not_for_ever(void **state)
{
	struct fixture *f = *state;

	f->jvm.answer = 0;
	agents_note_sample(f->agents, f->process);
	opens_in(f, 4900);
	assert_true(agents_busy(f->agents));
	opens_in(f, 100);
	assert_false(agents_busy(f->agents));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_target_at_once),
		TEST(another_only_when_it_is_sampled),
		TEST(another_that_becomes_a_target),
		TEST(one_that_was_not_known),
		TEST(a_dead_one_is_left_alone),
		TEST(one_that_becomes_a_jvm),
		TEST(looked_for_again_ever_less_often),
		TEST(one_that_is_held_is_asked_for_each_10_s),
		TEST(a_lease_that_ends),
		TEST(an_agent_that_went_is_looked_for),
		TEST(why_it_is_not_used),
		TEST(no_agent_is_loaded_unasked),
		ATTACH(an_agent_is_loaded_once),
		ATTACH(a_refusal_is_told),
		ATTACH(one_that_is_not_ready_is_tried_again),
		ATTACH(one_that_is_never_ready),
		ATTACH(one_that_went_while_it_was_attached_to),
		ATTACH(one_that_must_not_be_touched),
		ATTACH(no_agent_is_installed),
		ATTACH(a_fork_is_not_attached_to),
		TEST(samples_wait_for_a_replay),
		TEST(but_not_for_ever),
	};

	return cmocka_run_group_tests_name("agents", tests, NULL, NULL);
}
