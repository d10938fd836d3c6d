// SPDX-License-Identifier: Apache-2.0
/* What becomes of side-band records and samples, as the recording says it. */
#include "pipeline_fixture.h"

/* The rings of two cpus: what was first comes last. */
static void records_are_put_in_order(void **state)
{
	struct fixture *f = *state;

	open_pipeline(f);
	put_leaf(f, 20, PID_A);
	run_until(f, 200);
	put_process(f, 10, PID_A, "late", "[one]");
	put_mmap(f, 30, PID_A, "[two]");
	put_leaf(f, 40, PID_A);
	run_until(f, 300);
	assert_string_equal(applied(f), "");
	run_until(f, 500);
	assert_string_equal(applied(f), "20 cpu 100 kernel late.1/kernel's.1: [one]\n"
					"40 cpu 100 kernel late.1/kernel's.1: [two]\n");
	assert_int_equal(f->pipeline.late_samples, 0);
}

/* Of one moment: a mapping is there before it is sampled. */
static void side_band_first(void **state)
{
	struct fixture *f = *state;

	open_pipeline(f);
	put_process(f, 10, PID_A, "program", "[one]");
	put_leaf(f, 20, PID_A);
	put_mmap(f, 20, PID_A, "[two]");
	run_until(f, 20 + HELD_MS);
	assert_string_equal(applied(f), "20 cpu 100 kernel program.1/kernel's.1: [two]\n");
}

static void too_late(void **state)
{
	struct fixture *f = *state;

	open_pipeline(f);
	put_process(f, 10, PID_A, "program", "[one]");
	put_leaf(f, 500, PID_A);
	run_until(f, 1000);
	put_leaf(f, 499, PID_A);
	put_leaf(f, 500, PID_A);
	run_until(f, 1500);
	assert_int_equal(f->pipeline.late_samples, 1);
	assert_int_equal(f->pipeline.samples, 3);
	finish(f);
	assert_int_equal(counter_of(&f->read, "samples.late"), 1);
	assert_int_equal(f->read.samples.len, 3);
}

/* --- processes -------------------------------------------------------------------------------- */

static void a_child_has_its_parents_code(void **state)
{
	struct fixture *f = *state;

	open_pipeline(f);
	put_process(f, 10, PID_A, "parent", "[one]");
	put_fork(f, 20, PID_B, PID_A);
	put_mmap(f, 30, PID_A, "[two]");
	put_leaf(f, 40, PID_B);
	put_named(f, 50, SIDE_COMM, PID_B, "child");
	put_leaf(f, 60, PID_A);
	put_leaf(f, 70, PID_B);
	run_until(f, 70 + HELD_MS);
	/* Tables keep the name that a process had when it was first sampled. */
	assert_string_equal(applied(f), "40 cpu 100 kernel parent.2/kernel's.2: [one]\n"
					"60 cpu 100 kernel parent.1/kernel's.1: [two]\n"
					"70 cpu 100 kernel parent.2/kernel's.2: [one]\n");
}

static void a_process_names_itself(void **state)
{
	struct fixture *f = *state;

	open_pipeline(f);
	put_process(f, 10, PID_A, "program", "[one]");
	put_named(f, 20, SIDE_COMM, PID_A, "server: main");
	put_leaf(f, 30, PID_A);
	run_until(f, 30 + HELD_MS);
	assert_string_equal(applied(f), "30 cpu 100 kernel server: main.1/kernel's.1: [one]\n");
}

/* A thread of a process is no child. */
static void a_new_thread(void **state)
{
	struct fixture *f = *state;

	open_pipeline(f);
	put_process(f, 10, PID_A, "threads", "[one]");
	put_side(f, 20,
		 (struct side_event){ .kind = SIDE_FORK,
				      .pid = PID_A,
				      .tid = PID_A + 5,
				      .ppid = PID_A,
				      .ptid = PID_A });
	put_side(f, 25,
		 (struct side_event){
			 .kind = SIDE_COMM, .pid = PID_A, .tid = PID_A + 5, .name = "worker" });
	put_sample(f, 30,
		   (struct sample_spec){ .pid = PID_A,
					 .tid = PID_A + 5,
					 .comm = "worker",
					 .user = { MAPPED | WIRE_FRAME_EXACT } });
	run_until(f, 30 + HELD_MS);
	assert_string_equal(applied(f), "30 cpu 100 kernel threads.1/worker.6: [one]\n");
}

/* Its exit ends nothing; that of the first thread ends the process. */
static void a_threads_exit(void **state)
{
	struct fixture *f = *state;

	open_pipeline(f);
	put_process(f, 10, PID_A, "first", "[one]");
	put_process(f, 10, PID_B, "second", "[two]");
	put_side(f, 20, (struct side_event){ .kind = SIDE_EXIT, .pid = PID_A, .tid = PID_A + 1 });
	put_side(f, 20, (struct side_event){ .kind = SIDE_EXIT, .pid = PID_B });
	run_until(f, 5000);
	assert_non_null(registry_find(f->pipeline.registry, PID_A));
	assert_false(registry_find(f->pipeline.registry, PID_A)->exited);
	assert_null(registry_find(f->pipeline.registry, PID_B));
	put_leaf(f, 5000, PID_A);
	run_until(f, 5000 + HELD_MS);
	assert_string_equal(applied(f), "5000 cpu 100 kernel first.1/kernel's.1: [one]\n");
}

/* Samples of its life are still held back when it is gone. */
static void samples_of_the_dead(void **state)
{
	struct fixture *f = *state;

	open_pipeline(f);
	put_process(f, 10, PID_A, "shortlived", "[one]");
	put_leaf(f, 20, PID_A);
	put_side(f, 20, (struct side_event){ .kind = SIDE_EXIT, .pid = PID_A });
	run_until(f, 1900);
	put_leaf(f, 1800, PID_A);
	run_until(f, 2200);
	assert_string_equal(applied(f), "20 cpu 100 kernel shortlived.1/kernel's.1: [one]\n"
					"1800 cpu 100 kernel shortlived.1/kernel's.1: [one]\n");
}

static void an_exec_begins_anew(void **state)
{
	struct fixture *f = *state;
	struct process *process;
	uint64_t serial;

	open_pipeline(f);
	put_process(f, 10, PID_A, "shell", "[one]");
	put_leaf(f, 20, PID_A);
	put_named(f, 30, SIDE_EXEC, PID_A, "tool");
	put_sample(f, 40,
		   (struct sample_spec){
			   .pid = PID_A, .exec_id = 1, .user = { MAPPED | WIRE_FRAME_EXACT } });
	put_mmap(f, 50, PID_A, "[two]");
	put_sample(f, 60,
		   (struct sample_spec){
			   .pid = PID_A, .exec_id = 1, .user = { MAPPED | WIRE_FRAME_EXACT } });
	run_until(f, 25 + HELD_MS - 50);
	process = registry_find(f->pipeline.registry, PID_A);
	serial = process->serial;
	run_until(f, 60 + HELD_MS);
	assert_string_equal(applied(f), "20 cpu 100 kernel shell.1/kernel's.1: [one]\n"
					"40 cpu 100 kernel tool.1/kernel's.1: [unknown]\n"
					"60 cpu 100 kernel tool.1/kernel's.1: [two]\n");
	assert_int_not_equal(process->serial, serial);
	assert_int_equal(process->exec_count, 2);
}

/* A pid is given again at once: the kernel's start time tells them apart. */
static void a_pid_that_is_used_again(void **state)
{
	struct fixture *f = *state;
	const struct profile *p;

	open_pipeline(f);
	put_process(f, 10, PID_A, "old", "[one]");
	put_leaf(f, 20, PID_A);
	put_side(f, 30, (struct side_event){ .kind = SIDE_EXIT, .pid = PID_A });
	put_process(f, 40, PID_A, "new", "[two]");
	put_sample(f, 50,
		   (struct sample_spec){
			   .pid = PID_A, .exec_id = 7, .user = { MAPPED | WIRE_FRAME_EXACT } });
	run_until(f, 50 + HELD_MS);
	assert_string_equal(applied(f), "20 cpu 100 kernel old.1/kernel's.1: [one]\n"
					"50 cpu 100 kernel new.1/kernel's.1: [two]\n");
	p = &f->pipeline.profile;
	assert_int_not_equal(p->samples.items[0].thread, p->samples.items[1].thread);
}

/* --- what a sample says ----------------------------------------------------------------------- */

static void samples_are_as_they_came(void **state)
{
	struct fixture *f = *state;

	open_pipeline(f);
	put_process(f, 1, PID_A, "program", "[one]");
	put_sample(f, 10,
		   (struct sample_spec){ .pid = PID_A,
					 .tid = PID_A + 2,
					 .weight = 12345,
					 .in_user = 1,
					 .comm = "thread-3",
					 .user = { MAPPED | WIRE_FRAME_EXACT } });
	put_sample(f, 11,
		   (struct sample_spec){
			   .pid = PID_A,
			   .weight = 64,
			   .event = 1,
			   .reason = UNWIND_PAGE,
			   .comm = "fifteen letters",
			   .kernel = { KERNEL + 0x500, KERNEL + 0x401, KERNEL + 0x301 },
			   .user = { MAPPED + 8, (WIRE_MARK_FROZEN | 3ULL << 60), MAPPED + 1 } });
	run_until(f, 20 + HELD_MS);
	assert_string_equal(applied(f), "10 cpu 12345 user program.1/thread-3.3: [one]\n"
					"11 faults 64 kernel program.1/fifteen letters.1: "
					"[unwind: page-not-resident] [one] [frozen frames] [one]"
					" k:300 k:400 k:500\n");
	assert_int_equal(f->pipeline.ledger.samples, 2);
	assert_int_equal(f->pipeline.ledger.complete, 1);
}

static void the_recording_says_what_it_is(void **state)
{
	struct fixture *f = *state;
	char host[256] = "";

	open_pipeline(f);
	assert_int_equal(f->pipeline.profile.start_ns, f->start_ns);
	put_process(f, 1, PID_A, "program", "[one]");
	put_leaf(f, 10, PID_A);
	run_until(f, 2000);
	finish(f);
	gethostname(host, sizeof(host) - 1);
	assert_string_equal(profile_get_string(&f->read, f->read.host), host);
	assert_string_equal(profile_get_string(&f->read, f->read.command), "hostprof record");
	assert_int_equal(f->read.start_ns, f->start_ns);
	assert_int_equal(f->read.start_wall_ns, f->start_ns + 1000000 * NSEC_PER_SEC);
	assert_in_range(f->read.duration_ns, 2000 * MS, 2100 * MS);
	assert_int_equal(profile_get_event(&f->read, 0)->period, 100);
	assert_string_equal(profile_get_string(&f->read, profile_get_event(&f->read, 0)->unit),
			    "nanoseconds");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(records_are_put_in_order),
		TEST(side_band_first),
		TEST(too_late),
		TEST(a_child_has_its_parents_code),
		TEST(a_process_names_itself),
		TEST(a_new_thread),
		TEST(a_threads_exit),
		TEST(samples_of_the_dead),
		TEST(an_exec_begins_anew),
		TEST(a_pid_that_is_used_again),
		TEST(samples_are_as_they_came),
		TEST(the_recording_says_what_it_is),
	};

	return cmocka_run_group_tests_name("pipeline", tests, NULL, NULL);
}
