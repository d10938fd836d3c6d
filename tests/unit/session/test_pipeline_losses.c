// SPDX-License-Identifier: Apache-2.0
/* What did not arrive, or not whole, as the recording says it. */
#include "pipeline_fixture.h"

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

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lost_side_band),
		TEST(lost_samples_are_their_processs),
		TEST(invalid_records_are_told),
	};

	return cmocka_run_group_tests_name("pipeline_losses", tests, NULL, NULL);
}
