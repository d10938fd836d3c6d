// SPDX-License-Identifier: Apache-2.0
/* Which pids are known of the kernel's processes, and for how long. */
#include "test.h"

#include "base/clock.h"
#include "process/live_processes.h"

#define PID 77

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct live_processes));
	return 0;
}

static int teardown(void **state)
{
	live_processes_release(*state);
	free(*state);
	return 0;
}

static void an_exec_makes_another_program(void **state)
{
	struct live_processes *live = *state;

	assert_false(live_processes_execed_since(live, PID, 0));
	live_processes_note_exec(live, PID, 1000);
	assert_true(live_processes_execed_since(live, PID, 999));
	assert_false(live_processes_execed_since(live, PID, 1000));
	assert_false(live_processes_execed_since(live, PID + 1, 999));
	live_processes_note_exec(live, PID, 2000);
	assert_true(live_processes_execed_since(live, PID, 1999));
	live_processes_note_exit(live, PID);
	assert_null(live_processes_find(live, PID));
	assert_false(live_processes_execed_since(live, PID, 999));
	live_processes_note_exit(live, PID);
}

static void what_is_attached_keeps_it(void **state)
{
	struct live_processes *live = *state;
	struct live_process *process = live_processes_get(live, PID);
	struct attachment attachment;
	struct book book = { VEC_INIT };

	assert_int_equal(process->pid, PID);
	assert_ptr_equal(live_processes_get(live, PID), process);
	book_attach(&book, &process->attached, &attachment);
	live_processes_note_exit(live, PID);
	live_processes_tidy(live, 1000);
	assert_ptr_equal(live_processes_find(live, PID), process);
	book_detach(&book, &process->attached, &attachment);
	live_processes_tidy(live, 1000);
	assert_null(live_processes_find(live, PID));
	book_release(&book);
}

/* A sample may be held back; the record of an exit may be lost; a clock may be behind. */
static void an_exec_is_known_for_a_minute(void **state)
{
	struct live_processes *live = *state;
	uint64_t exec_ns = 100 * NSEC_PER_SEC;

	live_processes_note_exec(live, PID, exec_ns);
	live_processes_tidy(live, exec_ns - 1);
	live_processes_tidy(live, exec_ns + 60 * NSEC_PER_SEC);
	assert_true(live_processes_execed_since(live, PID, exec_ns - 1));
	live_processes_tidy(live, exec_ns + 60 * NSEC_PER_SEC + 1);
	assert_null(live_processes_find(live, PID));
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_exec_makes_another_program),
		TEST(what_is_attached_keeps_it),
		TEST(an_exec_is_known_for_a_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
