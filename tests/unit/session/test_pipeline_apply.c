/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "heap_tables.h"
#include "session/pipeline_apply.h"
#include "session/pipeline_arrive.h"

/* A worker that is stuck in a file until it is let go. */
struct stuck {
	struct worker_job job;
	int read_fd;
};

struct fixture {
	struct pipeline pipeline;
	struct capture_options options;
	struct capture_event event;
	struct table_memory *memory;
	struct stuck stuck;
	int go_fd;

	union {
		struct wire_sample sample;
		char space[sizeof(struct wire_sample) + sizeof(uint64_t)];
	};
};

static void stuck_run(struct worker_job *job)
{
	char byte;

	if (read(container_of(job, struct stuck, job)->read_fd, &byte, 1) < 0)
		abort();
}

static void stuck_done(struct worker_job *job)
{
	close(container_of(job, struct stuck, job)->read_fd);
}

static void block_worker(struct fixture *f)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	f->stuck = (struct stuck){ { .run = stuck_run, .done = stuck_done }, fds[0] };
	f->go_fd = fds[1];
	worker_pool_submit(f->pipeline.pool, &f->stuck.job);
}

/* One function of this program, exact. */
static void make_sample(struct fixture *f)
{
	f->sample.size = sizeof(f->space);
	f->sample.kind = WIRE_SAMPLE;
	f->sample.reason = UNWIND_DEPTH;
	f->sample.tgid = f->sample.tid = (uint32_t)getpid();
	f->sample.time_ns = clock_now_ns();
	f->sample.weight = 1;
	f->sample.user_words = f->sample.user_frames = 1;
	f->sample.words[0] = (uintptr_t)make_sample | WIRE_FRAME_EXACT;
}

static void push_sample(struct fixture *f)
{
	merge_push_sample(&f->pipeline.queue, &f->sample, NULL, false);
}

static int read_no_jvm(uint32_t pid, const struct mapping *libjvm, bool urgent,
		       struct wire_jvm *ret_wire, void *data)
{
	(void)pid;
	(void)libjvm;
	(void)urgent;
	(void)ret_wire;
	(void)data;
	return -ENODATA;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct pipeline *pipeline = &f->pipeline;
	const struct unwind_jvm_source no_jvms = { .read = read_no_jvm };
	struct err err;

	*state = f;
	f->memory = table_memory_new_heap(1024, 1024, 4096);
	f->options = (struct capture_options){ .events = &f->event, .event_count = 1 };
	pipeline->options = &f->options;
	pipeline->plan.queue_bytes = 1 << 20;
	profile_init(&pipeline->profile);
	ledger_init(&pipeline->ledger);
	if (worker_pool_new(1, &pipeline->pool, &err) < 0)
		return -1;
	pipeline->registry = registry_new();
	pipeline->images = image_cache_new(pipeline->pool);
	pipeline->jvms = jvm_table_new();
	pipeline->symbolizer = symbolizer_new(pipeline->images, pipeline->jvms);
	pipeline->unwinder = unwinder_new(f->memory, pipeline->images, &no_jvms, 1 << 20);
	pipeline->event_ids[0] = profile_event(&pipeline->profile, &(struct profile_event){ 0 });
	make_sample(f);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	pipeline_release(&f->pipeline);
	table_memory_free_heap(f->memory);
	free(f);
	return 0;
}

static const char *name_of(struct fixture *f, size_t sample)
{
	struct profile *p = &f->pipeline.profile;
	struct profile_stack stack = profile_get_stack(p, p->samples.items[sample].stack);

	return profile_get_string(p, profile_get_frame(p, stack.frames[0])->name);
}

static void a_sample_waits_for_its_files(void **state)
{
	struct fixture *f = *state;
	struct pipeline *pipeline = &f->pipeline;

	push_sample(f);
	assert_false(pipeline_apply_until(pipeline, UINT64_MAX));
	worker_pool_drain(pipeline->pool);
	assert_true(pipeline_apply_until(pipeline, UINT64_MAX));
	assert_int_equal(pipeline->profile.samples.len, 1);
	assert_string_equal(name_of(f, 0), "make_sample");
}

static void a_dead_file_system_stops_nothing(void **state)
{
	struct fixture *f = *state;
	struct pipeline *pipeline = &f->pipeline;

	block_worker(f);
	for (int i = 0; i < 3; i++)
		push_sample(f);
	assert_false(pipeline_apply_until(pipeline, UINT64_MAX));
	pipeline->stalled_since_ns -= 10 * NSEC_PER_SEC;
	/* One has waited for all. */
	assert_true(pipeline_apply_until(pipeline, UINT64_MAX));
	assert_int_equal(pipeline->profile.samples.len, 3);
	assert_string_equal(name_of(f, 2), "");
	assert_true(pipeline->stall_ns >= 10 * NSEC_PER_SEC);
	/* The file system is back. */
	close(f->go_fd);
	worker_pool_drain(pipeline->pool);
	push_sample(f);
	assert_true(pipeline_apply_until(pipeline, UINT64_MAX));
	assert_string_equal(name_of(f, 3), "make_sample");
}

static void a_full_queue_does_not_wait(void **state)
{
	struct fixture *f = *state;
	struct pipeline *pipeline = &f->pipeline;

	block_worker(f);
	push_sample(f);
	pipeline->queue.bytes += pipeline->plan.queue_bytes;
	assert_true(pipeline_apply_until(pipeline, UINT64_MAX));
	assert_int_equal(pipeline->profile.samples.len, 1);
	close(f->go_fd);
}

/* There was no time for its walk when it arrived: it does not wait until it is applied. */
static void a_walk_is_tried_again(void **state)
{
	struct fixture *f = *state;
	struct pipeline *pipeline = &f->pipeline;
	const struct wire_miss miss = { .size = sizeof(miss),
					.kind = WIRE_MISS,
					.leaf = 1,
					.exact = 1,
					.tgid = f->sample.tgid,
					.tid = f->sample.tid,
					.time_ns = f->sample.time_ns,
					.pc = (uintptr_t)make_sample };
	struct wire_sample raw = f->sample;
	const struct merge_item *item;

	raw.size = sizeof(raw);
	raw.flags = WIRE_SAMPLE_RESUMED;
	raw.user_words = raw.user_frames = 0;
	merge_push_sample(&pipeline->queue, &raw, xmemdup(&miss, sizeof(miss)), true);
	item = merge_peek(&pipeline->queue);
	/* On a busy machine a turn's time is not enough. */
	for (int turn = 0; turn < 50 && item->miss; turn++) {
		unwinder_grant(pipeline->unwinder);
		pipeline_walk_again(pipeline);
	}
	assert_null(item->miss);
	assert_int_equal(item->sample->flags, 0);
	assert_int_equal(item->sample->words[0], miss.pc | WIRE_FRAME_EXACT);
}

static void apply_all(struct pipeline *pipeline)
{
	while (!pipeline_apply_until(pipeline, UINT64_MAX))
		worker_pool_drain(pipeline->pool);
}

/* A recording that has to end: the stack is what BPF has of it, and that is counted. */
static void the_end_does_not_wait_for_walks(void **state)
{
	struct fixture *f = *state;
	struct pipeline *pipeline = &f->pipeline;
	const struct wire_miss miss = { .size = sizeof(miss), .kind = WIRE_MISS };

	merge_push_sample(&pipeline->queue, &f->sample, xmemdup(&miss, sizeof(miss)), false);
	pipeline->walks_until_ns = clock_now_ns() + 1000 * NSEC_PER_SEC;
	apply_all(pipeline);
	assert_int_equal(pipeline->misses_no_time, 0);
	merge_push_sample(&pipeline->queue, &f->sample, xmemdup(&miss, sizeof(miss)), false);
	pipeline->walks_until_ns = 1;
	apply_all(pipeline);
	assert_int_equal(pipeline->misses_no_time, 1);
	assert_int_equal(pipeline->profile.samples.len, 2);
	assert_int_equal(pipeline->queue.bytes, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_sample_waits_for_its_files),    TEST(a_dead_file_system_stops_nothing),
		TEST(a_full_queue_does_not_wait),      TEST(a_walk_is_tried_again),
		TEST(the_end_does_not_wait_for_walks),
	};

	return cmocka_run_group_tests_name("pipeline_apply", tests, NULL, NULL);
}
