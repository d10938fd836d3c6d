// SPDX-License-Identifier: Apache-2.0
/* Next to nothing comes: turns may be fewer. */
#include "pipeline_parts.h"

static void nothing(struct worker_job *job)
{
	(void)job;
}

/* Puts COUNT samples and forks, which end at time AT. */
static void put_records(struct fixture *f, uint64_t at, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		if (i % 5)
			put_leaf(f, at + i, PID_A);
		else
			put_fork(f, at + i, PID_B, PID_A);
	}
}

/* Of the last two turns: COUNT records came since the one before, which was TOOK_NS ago. */
static bool is_calm_after(struct fixture *f, unsigned int count, uint64_t took_ns)
{
	static uint64_t at;

	put_records(f, at, count / 2);
	at += count;
	/* Between turns, too. */
	pipeline_take_records(&f->pipeline);
	put_records(f, at, count - count / 2);
	at += count;
	fake_advance(took_ns);
	pipeline_turn(&f->pipeline);
	return pipeline_is_calm(&f->pipeline);
}

/* Samples and what the kernel tells count alike: five hundred a second are next to nothing. */
static void what_is_calm(void **state)
{
	struct worker_job job = { .run = nothing, .done = nothing };
	struct fixture *f = *state;

	/* With the first turn, after which nobody knows yet. */
	begin(f);
	assert_false(pipeline_is_calm(&f->pipeline));
	assert_true(is_calm_after(f, 25, 50 * MS));
	assert_false(is_calm_after(f, 26, 50 * MS));
	assert_true(is_calm_after(f, 50, 100 * MS));
	assert_false(is_calm_after(f, 51, 100 * MS));
	assert_true(is_calm_after(f, 0, 50 * MS));
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
