// SPDX-License-Identifier: Apache-2.0
/* Next to nothing comes: turns may be fewer. */
#include "pipeline_parts.h"

static void nothing(struct worker_job *job)
{
	(void)job;
}

/* Samples and what the kernel tells count alike; those that a turn brought say that there will be more. */
static void what_is_calm(void **state)
{
	struct worker_job job = { .run = nothing, .done = nothing };
	struct fixture *f = *state;

	begin(f);
	pipeline_turn(&f->pipeline);
	assert_true(pipeline_is_calm(&f->pipeline));
	for (uint64_t i = 0; i < 20; i++)
		put_leaf(f, i, PID_A);
	for (uint64_t i = 0; i < 5; i++)
		put_fork(f, 20 + i, PID_B, PID_A);
	fake_advance(50 * MS);
	pipeline_turn(&f->pipeline);
	assert_true(pipeline_is_calm(&f->pipeline));
	put_leaf(f, 30, PID_A);
	pipeline_take_records(&f->pipeline);
	assert_false(pipeline_is_calm(&f->pipeline));
	pipeline_turn(&f->pipeline);
	assert_true(pipeline_is_calm(&f->pipeline));
	parts.agents_busy = true;
	assert_false(pipeline_is_calm(&f->pipeline));
	parts.agents_busy = false;
	worker_pool_submit(f->pipeline.pool, &job);
	assert_false(pipeline_is_calm(&f->pipeline));
	worker_pool_drain(f->pipeline.pool);
	assert_true(pipeline_is_calm(&f->pipeline));
	queue_holds(f, 1);
	assert_false(pipeline_is_calm(&f->pipeline));
	queue_holds(f, 1 << 30);
	assert_true(pipeline_is_calm(&f->pipeline));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_calm),
	};

	return cmocka_run_group_tests_name("pipeline_calm", tests, NULL, NULL);
}
