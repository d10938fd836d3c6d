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

/* --- losses ----------------------------------------------------------------------------------- */

/* What this process maps is looked up again, once side-band records were lost. */
static void lost_side_band(void **state)
{
	struct fixture *f = *state;
	uint32_t pid = (uint32_t)getpid();
	void *code;

	open_pipeline(f);
	put_leaf(f, 10, pid);
	run_until(f, 10 + HELD_MS);
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	put_sample(
		f, 500,
		(struct sample_spec){ .pid = pid, .user = { (uintptr_t)code | WIRE_FRAME_EXACT } });
	run_until(f, 11000);
	assert_null(
		process_find_mapping(registry_find(f->pipeline.registry, pid), (uintptr_t)code));
	put_side(f, 11000, (struct side_event){ .kind = SIDE_LOST, .lost = 17 });
	run_until(f, 22000);
	put_sample(
		f, 22000,
		(struct sample_spec){ .pid = pid, .user = { (uintptr_t)code | WIRE_FRAME_EXACT } });
	run_until(f, 22000 + HELD_MS);
	munmap(code, 4096);
	assert_non_null(strstr(applied(f), ": [unknown]\n500 "));
	assert_non_null(strstr(applied(f), "22000 cpu 100 kernel "));
	assert_non_null(strstr(applied(f), ": [anon]\n"));
	finish(f);
	assert_int_equal(counter_of(&f->read, "sideband.lost"), 17);
}

static void put_lost(struct fixture *f, uint32_t pid, uint32_t event, uint64_t count,
		     uint64_t weight)
{
	struct fake_lost lost = { { .tgid = pid, .start_ns = pid, .event = event },
				  { .count = count, .weight = weight, .comm = "lost" } };

	vec_push(&f->capture->lost, lost);
}

/* Samples × period and what was lost is the time of the process. */
static void lost_samples_are_their_processs(void **state)
{
	struct fixture *f = *state;

	open_pipeline(f);
	put_process(f, 10, PID_A, "busy", "[one]");
	put_leaf(f, 20, PID_A);
	put_sample(f, 21,
		   (struct sample_spec){
			   .pid = PID_A, .weight = 7, .event = 1, .reason = UNWIND_BUDGET });
	run_until(f, 50 + HELD_MS);
	put_lost(f, PID_A, 0, 3, 450);
	put_lost(f, PID_B, 1, 2, 128);
	put_lost(f, PID_A, 2, 1000, 1000); /* there is no such event */
	flush(f); /* each second, since the kernel has room for some only */
	assert_int_equal(ledger_lost(&f->pipeline.ledger), 5);
	assert_int_equal(f->capture->lost.len, 0);
	put_lost(f, PID_A, 0, 1, 50);
	finish(f);
	assert_int_equal(ledger_lost(&f->pipeline.ledger), 6);
	assert_string_equal(quality_of(f, &f->read), "busy.1 cpu 1 1 100 4 500\n"
						     "busy.1 faults 1 0 7 0 0\n"
						     "lost.2 faults 0 0 0 2 128\n");
	assert_int_equal(counter_of(&f->read, "unwind.budget"), 1);
}

/* A record that fails its check is a lost sample of its process, if it says that much. */
static void invalid_records_are_told(void **state)
{
	struct fixture *f = *state;
	struct wire_sample sample = { .kind = WIRE_SAMPLE,
				      .event = 1,
				      .weight = 64,
				      .tgid = PID_A,
				      .start_ns = PID_A,
				      .comm = "torn" };

	open_pipeline(f);
	fake_put_invalid(f->capture, &sample, sizeof(sample));
	sample.event = 2; /* there is no such event */
	fake_put_invalid(f->capture, &sample, sizeof(sample));
	fake_put_invalid(f->capture, &sample, sizeof(sample) - 1);
	sample.kind = WIRE_MISS;
	fake_put_invalid(f->capture, &sample, sizeof(sample));
	finish(f);
	assert_int_equal(ledger_lost(&f->pipeline.ledger), 4);
	assert_int_equal(f->pipeline.ledger.losses[WIRE_LOSS_INVALID].weight, 64);
	assert_string_equal(quality_of(f, &f->read), "torn.1 faults 0 0 0 1 64\n");
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
		TEST(lost_side_band),
		TEST(lost_samples_are_their_processs),
		TEST(invalid_records_are_told),
		TEST(samples_are_as_they_came),
		TEST(the_recording_says_what_it_is),
	};

	return cmocka_run_group_tests_name("pipeline", tests, NULL, NULL);
}
