// SPDX-License-Identifier: Apache-2.0
/* What is told of JVMs that are gone, and of each of many. */
#include "agents_world.h"

#include "heap_use.h"

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

/* Wherever it stands in a table. */
static void each_of_many(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < 64; i++) {
		unsigned int lines = 0;

		f->jvm.answer = -EBUSY;
		registry_exec(f->registry, clock_now_ns(), PID, "java");
		agents_note_sample(f->agents, f->process);
		assert_counts(f, i + 1, i);
		agents_for_each_failure(f->agents, count_line, &lines);
		assert_int_equal(lines, 1);
		f->jvm.answer = 0;
		assert_int_equal(opens_in(f, 500), 1);
		assert_counts(f, i + 1, i + 1);
		agents_forget(f->agents, f->process);
	}
	agents_free(NULL);
}

static void all_are_freed(void **state)
{
	size_t before = heap_use();
	struct agents *agents;
	struct err err;

	(void)state;
	assert_int_equal(agents_new(NULL, false, &agents, &err), 0);
	for (uint32_t i = 1; i <= 100; i++)
		agents_add(agents, &(struct process){ .serial = i, .pid = PID + i }, true);
	agents_free(agents);
	assert_true(heap_use() < before + 10000);
	/* One alone, wherever it stands. */
	for (uint32_t i = 1; i <= 100; i++) {
		if (i == 10)
			before = heap_use();
		assert_int_equal(agents_new(NULL, false, &agents, &err), 0);
		agents_add(agents, &(struct process){ .serial = i, .pid = PID + i }, true);
		agents_free(agents);
	}
	assert_true(heap_use() < before + 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(figures_of_the_gone_stay),
		TEST(a_hundred_failures_are_enough),
		TEST(each_of_many),
		TEST(all_are_freed),
	};

	return cmocka_run_group_tests_name("agents_past", tests, NULL, NULL);
}
