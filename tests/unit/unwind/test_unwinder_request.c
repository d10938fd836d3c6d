// SPDX-License-Identifier: Apache-2.0
/* What a miss becomes as a request for a walk, and what is made of the walk's result. */
#include "unwinder_walks.h"

#include "base/strbuf.h"

static void a_request_is_its_miss(void **state)
{
	struct fixture *f = *state;
	const struct walk_request *r = &walker.request;

	finish(f);
	assert_int_equal(r->pc, 0x123456);
	assert_true(r->caller);
	assert_false(r->linked || r->regs_kept || r->exact || r->listed);
	assert_int_equal(r->max_frames, 77);
	assert_null(r->jvm);
	assert_int_equal(r->jvm_serial, 0);
	assert_int_equal(r->thread, 0x777000);
	assert_true(r->has_anchor);
	assert_memory_equal(r->anchor, f->miss.anchor, sizeof(r->anchor));
	assert_memory_equal(r->regs, f->miss.regs, sizeof(r->regs));
	assert_int_equal(r->serial, 1);
	assert_int_equal(r->first, 0);
	assert_int_equal(r->count, 0);
	assert_int_equal(r->stack_top, 0x7ffd12340);
	f->miss.leaf = 1;
	f->miss.thread = 0;
	finish(f);
	assert_false(r->caller);
	assert_false(r->has_anchor);
	f->miss.exact = 1;
	finish(f);
	assert_true(r->exact && !r->linked && !r->regs_kept);
	f->miss.exact = 0;
	f->miss.linked = 1;
	finish(f);
	assert_true(r->linked && !r->guessed && !r->exact && !r->regs_kept);
	f->miss.linked = 0;
	f->miss.guessed = 1;
	finish(f);
	assert_true(r->guessed && !r->linked && !r->exact && !r->regs_kept);
	f->miss.guessed = 0;
	f->miss.regs_kept = 1;
	finish(f);
	assert_true(r->regs_kept && !r->exact && !r->linked);
	/* No stack, but a chunk. */
	assert_true(r->chunk == 0);
	f->miss.unmounted = 1;
	finish(f);
	assert_true(r->chunk == 0x123456);
}

/* What BPF walked stands before it. */
static void a_sample_is_completed(void **state)
{
	struct fixture *f = *state;
	struct wire_sample *sample =
		unwinder_finish(f->unwinder, &f->miss, &f->sample, &f->process, 0, false);

	assert_int_equal(walker.words_before, 2);
	assert_int_equal(walker.frames_before, 1);
	assert_int_equal(walker.first_word, 0x111);
	assert_int_equal(sample->size, sizeof(*sample) + 4 * 8);
	assert_int_equal(sample->kernel_frames, 1);
	assert_int_equal(sample->user_words, 3);
	assert_int_equal(sample->user_frames, 2);
	assert_int_equal(sample->words[0], 0xffffffff81000000ULL);
	assert_int_equal(sample->words[1], 0x111);
	assert_int_equal(sample->words[2], 0x222);
	assert_int_equal(sample->words[3], 0xabc);
	assert_int_equal(sample->reason, UNWIND_DONE);
	assert_int_equal(sample->flags, WIRE_SAMPLE_STALE);
	assert_int_equal(sample->weight, 4242);
	assert_int_equal(sample->time_ns, f->sample.time_ns);
	free(sample);
}

static void its_process_as_the_registry_has_it(void **state)
{
	struct fixture *f = *state;
	char path[] = "/no/such/file", other[] = "/another";
	struct mapping m = {
		.start = MAPPED, .end = MAPPED + 0x1000, .key = { .inode = 5 }, .path = path
	};

	mappings_add(&f->process, &m);
	finish(f);
	assert_int_equal(walker.request.count, 1);
	m = (struct mapping){ .start = 2 * MAPPED,
			      .end = 2 * MAPPED + 0x1000,
			      .key = { .inode = 6 },
			      .path = other };
	mappings_add(&f->process, &m);
	finish(f);
	assert_int_equal(walker.request.count, 2);
	mappings_clear(&f->process);
	f->process.mappings_serial = 2; /* as before, but it is another program */
	f->process.serial++;
	finish(f);
	assert_int_equal(walker.request.count, 0);
}

static void see_figure(const char *name, const char *detail, uint64_t value, void *data)
{
	struct strbuf *out = data;

	assert_string_equal(detail, "");
	strbuf_addf(out, "%s %llu\n", name, (unsigned long long)value);
}

static void figures_are_sums(void **state)
{
	struct fixture *f = *state;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	finish(f);
	finish(f);
	walker.stops = 1; /* what is missing there nobody has */
	finish(f);
	unwinder_for_each_figure(f->unwinder, see_figure, &text);
	assert_string_equal(strbuf_str(&text), "unwind.misses-finished-late 2\n"
					       "unwind.misses-unfinished 1\n"
					       "unwind.frames.row 2\n"
					       "unwind.frames.hot 4\n"
					       "unwind.frames.frame-pointer 6\n"
					       "unwind.frames.jit 8\n"
					       "unwind.frames.java 10\n"
					       "unwind.frames.java-hot 12\n"
					       "unwind.anchors 14\n"
					       "unwind.frozen 16\n"
					       "unwind.frames.frozen 18\n");
}

/* This process lives; what it maps is read now. */
static void a_live_process(void **state)
{
	struct fixture *f = *state;
	struct wire_sample *sample;

	f->miss.tgid = f->miss.tid = f->sample.tgid = f->sample.tid = (uint32_t)getpid();
	f->sample.start_ns = 5;
	/* Where it was there is no code: it was another program. */
	assert_null(unwinder_try(f->unwinder, &f->miss, &f->sample, 3));
	assert_int_equal(walker.begun, 0);
	f->miss.pc = (uintptr_t)see_figure;
	f->sample.time_ns = 1; /* its pid was another process's */
	assert_null(unwinder_try(f->unwinder, &f->miss, &f->sample, 3));
	assert_int_equal(walker.begun, 0);
	f->sample.time_ns = f->miss.time_ns;
	sample = unwinder_try(f->unwinder, &f->miss, &f->sample, 3);
	assert_non_null(sample);
	assert_int_equal(sample->flags, WIRE_SAMPLE_STALE);
	assert_int_equal(walker.request.max_frames, 3);
	assert_true(walker.request.count > 1);
	assert_int_not_equal(walker.request.serial, 0);
	assert_int_equal(f->unwinder->at_once, 1);
	assert_false(unwinder_wants_again(f->unwinder));
	free(sample);
}

static void a_dead_process(void **state)
{
	struct fixture *f = *state;

	assert_null(unwinder_try(f->unwinder, &f->miss, &f->sample, 3));
	assert_int_equal(walker.begun, 0);
	assert_false(unwinder_wants_again(f->unwinder)); /* in vain */
	assert_int_equal(f->unwinder->at_once, 0);
}

static void no_more_time(void **state)
{
	struct fixture *f = *state;

	f->unwinder->spent_ns = BUDGET_NS;
	assert_false(unwinder_is_busy(f->unwinder));
	f->unwinder->spent_ns++;
	assert_true(unwinder_is_busy(f->unwinder));
	assert_null(unwinder_try(f->unwinder, &f->miss, &f->sample, 3));
	assert_true(unwinder_wants_again(f->unwinder));
	unwinder_grant(f->unwinder);
	assert_false(unwinder_is_busy(f->unwinder));
	assert_null(unwinder_try(f->unwinder, &f->miss, &f->sample, 3));
	assert_false(unwinder_wants_again(f->unwinder));
}

/* Its exit may be lost: what is known of an exec is kept for a while only. */
static void execs_are_forgotten(void **state)
{
	struct fixture *f = *state;

	unwinder_note_exec(f->unwinder, PID, clock_now_ns());
	unwinder_note_exec(f->unwinder, PID + 1, clock_now_ns());
	/* News from after the turn began. */
	unwinder_note_exec(f->unwinder, PID + 2, clock_now_ns() + 60 * NSEC_PER_SEC);
	assert_int_equal(f->unwinder->live.by_pid.len, 3);
	unwinder_note_exit(f->unwinder, PID + 1);
	assert_int_equal(f->unwinder->live.by_pid.len, 2);
	unwinder_tidy(f->unwinder, clock_now_ns() + 1 * NSEC_PER_SEC);
	assert_int_equal(f->unwinder->live.by_pid.len, 2);
	unwinder_tidy(f->unwinder, clock_now_ns() + 61 * NSEC_PER_SEC);
	assert_int_equal(f->unwinder->live.by_pid.len, 1);
	unwinder_note_exit(f->unwinder, PID + 2);
	/* Wherever it stands in a table. */
	for (uint32_t i = 0; i < 60; i++) {
		unwinder_note_exec(f->unwinder, PID + i, clock_now_ns());
		fake_advance(60 * NSEC_PER_SEC);
		unwinder_tidy(f->unwinder, clock_now_ns());
		assert_true(f->unwinder->live.by_pid.len > 0);
		fake_advance(60 * NSEC_PER_SEC);
		unwinder_tidy(f->unwinder, clock_now_ns());
		assert_int_equal(f->unwinder->live.by_pid.len, 0);
	}
	unwinder_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_request_is_its_miss),
		TEST(a_sample_is_completed),
		TEST(its_process_as_the_registry_has_it),
		TEST(figures_are_sums),
		TEST(a_live_process),
		TEST(a_dead_process),
		TEST(no_more_time),
		TEST(execs_are_forgotten),
	};

	return cmocka_run_group_tests_name("unwinder_request", tests, NULL, NULL);
}
