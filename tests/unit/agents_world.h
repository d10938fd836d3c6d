/* SPDX-License-Identifier: Apache-2.0 */
/* A JVM, and an agent for it, that are the test's; time too. Included once per test. */
#ifndef HOSTPROF_TESTS_AGENTS_WORLD_H
#define HOSTPROF_TESTS_AGENTS_WORLD_H

#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fake_clock.h"
#include "jvm/attach/agents.h"
#include "jvm/attach/attach.h"
#include "process/registry.h"

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
	bool replayed, is_none; /* the process is no JVM yet */
	/* of attaching */
	int find, check, load;
	unsigned int loads, asked;
	uint32_t loaded_pid;
	char failures[256];
};

static struct fixture *now;

/* --- in place of jvm/ --- */

struct jvm *jvm_table_get(struct jvm_table *table, struct process *process)
{
	(void)table;
	now->asked++;
	return process->pid == PID && !now->is_none ? &now->jvm : NULL;
}

int jvm_open_code_map(struct jvm *jvm, struct err *err)
{
	jvm->opens++;
	jvm->reads = jvm->answer == 0;
	return jvm->answer ? err_set(err, jvm->answer, "answer %d", -jvm->answer) : 0;
}

int jvm_check_allocations(const struct jvm *jvm, struct err *err)
{
	(void)jvm, (void)err;
	return 0;
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
	if (strcmp(path, "/the/agent.so") != 0 || *options || timeout_ns != 5000 * MS)
		return err_set(err, -EINVAL, "wrong call");
	now->loaded_pid = pid;
	__atomic_fetch_add(&now->loads, 1, __ATOMIC_SEQ_CST);
	return now->load ? err_set(err, now->load, "refused") : 0;
}

/* --- */

static inline int setup(void **state)
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

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	agents_free(f->agents);
	registry_free(f->registry);
	free(f);
	return 0;
}

/* The same, and agents are loaded. */
static inline int setup_attach(void **state)
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
static inline unsigned int opens_in(struct fixture *f, uint64_t ms)
{
	unsigned int before = f->jvm.opens;

	for (; ms; ms -= 100) {
		fake_advance(100 * MS);
		agents_poll(f->agents);
	}
	return f->jvm.opens - before;
}

static inline void assert_counts(struct fixture *f, uint32_t jvms, uint32_t with_agent)
{
	uint32_t is, with;

	agents_count(f->agents, &is, &with);
	assert_int_equal(is, jvms);
	assert_int_equal(with, with_agent);
}

static inline void note_failure(uint32_t pid, const char *why, void *data)
{
	struct fixture *f = data;
	size_t len = strlen(f->failures);

	snprintf(f->failures + len, sizeof(f->failures) - len, "%u: %s\n", pid - PID + 1, why);
}

static inline const char *failures(struct fixture *f)
{
	f->failures[0] = '\0';
	agents_for_each_failure(f->agents, note_failure, f);
	return f->failures;
}

/* Attaching is a worker's. OPENS 0: any. */
static inline void wait_for_load(struct fixture *f, unsigned int loads, unsigned int opens)
{
	for (int i = 0; i < 20000 && (f->loads < loads || f->jvm.opens < opens); i++) {
		usleep(1);
		agents_poll(f->agents);
	}
	assert_int_equal(f->loads, loads);
	if (opens)
		assert_int_equal(f->jvm.opens, opens);
}

#define TEST(fn)   cmocka_unit_test_setup_teardown(fn, setup, teardown)
#define ATTACH(fn) cmocka_unit_test_setup_teardown(fn, setup_attach, teardown)

#endif
