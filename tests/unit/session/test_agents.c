// SPDX-License-Identifier: Apache-2.0
/* When an agent is looked for, loaded, given up and looked for again. The JVMs are the test's. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fake_clock.h"
#include "jvm/attach/attach.h"
#include "process/registry.h"
#include "session/agents.h"

/* PID_MAX_LIMIT of include/linux/threads.h is 4 * 1024 * 1024: /proc knows nothing of these. */
#define PID 5000001U
#define MS  NSEC_PER_MSEC

struct jvm {
	int answer; /* of opening its code map */
	bool reads;
	unsigned int opens;
};

struct fixture {
	struct registry *registry;
	struct agents *agents;
	struct jvm jvm;
	struct process *process;
	bool replayed;
	/* of attaching */
	int find, check, load;
	unsigned int loads;
	uint32_t loaded_pid;
	char failures[256];
};

static struct fixture *now;

/* --- in place of jvm/ --- */

struct jvm *jvm_table_get(struct jvm_table *table, struct process *process)
{
	(void)table;
	return process->pid == PID ? &now->jvm : NULL;
}

int jvm_open_code_map(struct jvm *jvm, struct err *err)
{
	jvm->opens++;
	jvm->reads = jvm->answer == 0;
	return jvm->answer ? err_set(err, jvm->answer, "answer %d", -jvm->answer) : 0;
}

bool jvm_reads_code_map(const struct jvm *jvm)
{
	return jvm->reads;
}

bool jvm_table_replayed(const struct jvm_table *table)
{
	(void)table;
	return now->replayed;
}

int attach_find_agent(char *ret_path, unsigned long size, struct err *err)
{
	snprintf(ret_path, size, "/the/agent.so");
	return now->find ? err_set(err, now->find, "no agent") : 0;
}

int attach_check(uint32_t pid, struct err *err)
{
	(void)pid;
	return now->check ? err_set(err, now->check, "may not") : 0;
}

int attach_load_agent(uint32_t pid, const char *path, const char *options, uint64_t timeout_ns,
		      struct err *err)
{
	if (strcmp(path, "/the/agent.so") != 0 || *options || !timeout_ns)
		return err_set(err, -EINVAL, "wrong call");
	now->loaded_pid = pid;
	__atomic_fetch_add(&now->loads, 1, __ATOMIC_SEQ_CST);
	return now->load ? err_set(err, now->load, "refused") : 0;
}

/* --- */

static int setup(void **state)
{
	struct fixture *f = now = calloc(1, sizeof(*f));
	struct err err;

	*state = f;
	fake_begin();
	f->jvm.answer = -ENODATA;
	f->registry = registry_new();
	registry_exec(f->registry, clock_now_ns(), PID, "java");
	f->process = registry_find(f->registry, PID);
	return agents_new(NULL, false, &f->agents, &err);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	agents_free(f->agents);
	registry_free(f->registry);
	free(f);
	return 0;
}

/* The same, and agents are loaded. */
static int setup_attach(void **state)
{
	struct fixture *f;
	struct err err;

	if (setup(state) < 0)
		return -1;
	f = *state;
	agents_free(f->agents);
	return agents_new(NULL, true, &f->agents, &err);
}

/* Polls of MS, every 100 ms; how often a map was looked for. */
static unsigned int opens_in(struct fixture *f, uint64_t ms)
{
	unsigned int before = f->jvm.opens;

	for (; ms; ms -= 100) {
		fake_advance(100 * MS);
		agents_poll(f->agents);
	}
	return f->jvm.opens - before;
}

static void assert_counts(struct fixture *f, uint32_t jvms, uint32_t with_agent)
{
	uint32_t is, with;

	agents_count(f->agents, &is, &with);
	assert_int_equal(is, jvms);
	assert_int_equal(with, with_agent);
}

static void note_failure(uint32_t pid, const char *why, void *data)
{
	struct fixture *f = data;
	size_t len = strlen(f->failures);

	snprintf(f->failures + len, sizeof(f->failures) - len, "%u: %s\n", pid - PID + 1, why);
}

static const char *failures(struct fixture *f)
{
	f->failures[0] = '\0';
	agents_for_each_failure(f->agents, note_failure, f);
	return f->failures;
}

/* Attaching is a worker's. OPENS 0: any. */
static void wait_for_load(struct fixture *f, unsigned int loads, unsigned int opens)
{
	for (int i = 0; i < 20000 && (f->loads < loads || f->jvm.opens < opens); i++) {
		usleep(1);
		agents_poll(f->agents);
	}
	assert_int_equal(f->loads, loads);
	if (opens)
		assert_int_equal(f->jvm.opens, opens);
}

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

/* --- how often --- */

/* After 0.5, 1, 2, 4, 8 and each 10 s. */
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
		assert_int_equal(opens_in(f, 9900), 0);
		assert_int_equal(opens_in(f, 100), 1);
	}
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
	f->jvm.answer = 0; /* somebody else loaded it */
	assert_int_equal(opens_in(f, 500), 1);
	assert_string_equal(failures(f), "");
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

/* --- the past --- */

static void figures_of_the_gone_stay(void **state)
{
	struct fixture *f = *state;

	f->jvm.answer = -EBUSY;
	agents_note_sample(f->agents, f->process);
	agents_forget(f->agents, f->process);
	agents_forget(f->agents, f->process);
	assert_counts(f, 1, 0);
	assert_string_equal(failures(f), "1: answer 16\n");
	assert_int_equal(opens_in(f, 30000), 0);
	f->jvm.answer = 0;
	registry_exec(f->registry, clock_now_ns(), PID, "java");
	agents_note_sample(f->agents, f->process);
	assert_counts(f, 2, 1);
	agents_forget(f->agents, f->process);
	assert_counts(f, 2, 1);
	registry_exec(f->registry, clock_now_ns(), PID, "java");
	agents_add(f->agents, f->process, true); /* never sampled */
	agents_forget(f->agents, f->process);
	assert_counts(f, 2, 1);
	assert_string_equal(failures(f), "1: answer 16\n");
}

static void count_line(uint32_t pid, const char *why, void *data)
{
	assert_int_equal(pid, PID);
	assert_string_equal(why, "answer 16");
	++*(unsigned int *)data;
}

/* A host may start thousands of JVMs. */
static void a_hundred_failures_are_enough(void **state)
{
	struct fixture *f = *state;
	unsigned int lines = 0;

	f->jvm.answer = -EBUSY;
	for (int i = 0; i < 150; i++) {
		registry_exec(f->registry, clock_now_ns(), PID, "java");
		agents_note_sample(f->agents, f->process);
		agents_forget(f->agents, f->process);
	}
	assert_counts(f, 150, 0);
	agents_for_each_failure(f->agents, count_line, &lines);
	assert_int_equal(lines, 100);
}

#define TEST(fn)   cmocka_unit_test_setup_teardown(fn, setup, teardown)
#define ATTACH(fn) cmocka_unit_test_setup_teardown(fn, setup_attach, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_target_at_once),
		TEST(another_only_when_it_is_sampled),
		TEST(one_that_was_not_known),
		TEST(a_dead_one_is_left_alone),
		TEST(looked_for_again_ever_less_often),
		TEST(an_agent_that_went_is_looked_for),
		TEST(why_it_is_not_used),
		TEST(no_agent_is_loaded_unasked),
		ATTACH(an_agent_is_loaded_once),
		ATTACH(a_refusal_is_told),
		ATTACH(one_that_went_while_it_was_attached_to),
		ATTACH(one_that_must_not_be_touched),
		ATTACH(no_agent_is_installed),
		ATTACH(a_fork_is_not_attached_to),
		TEST(samples_wait_for_a_replay),
		TEST(but_not_for_ever),
		TEST(figures_of_the_gone_stay),
		TEST(a_hundred_failures_are_enough),
	};

	return cmocka_run_group_tests_name("agents", tests, NULL, NULL);
}
