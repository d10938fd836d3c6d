// SPDX-License-Identifier: Apache-2.0
/* What a miss becomes as a request for a walk, and what is made of the walk's result. */
#include "test.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "fake_clock.h"
#include "heap_tables.h"
#include "process/mappings.h"
#include "unwind/unwinder_private.h"

#define PID	     5000001U /* PID_MAX_LIMIT of include/linux/threads.h is 4 * 1024 * 1024 */
#define MAPPED	     0x10000000ULL
#define MISSING	     0x666000ULL /* mapped by nobody */
#define SAMPLE_WORDS 8

/* --- in place of unwind/walk.c --- */

static struct {
	struct walk_request request;
	uint32_t words_before, frames_before;
	uint64_t first_word;
	unsigned int stops; /* so often something is missing */
	unsigned int begun;
} walker;

void walk_begin(struct walk *walk, const struct walk_request *request, struct unwind_memory *memory,
		struct walk_result *result)
{
	memset(walk, 0, sizeof(*walk));
	walk->memory = memory;
	walk->result = result;
	walker.begun++;
	walker.request = *request;
	walker.words_before = result->word_count;
	walker.frames_before = result->frames;
	walker.first_word = result->words[0];
}

bool walk_go_on(struct walk *walk)
{
	struct unwind_cursor *c = &walk->cursor;

	if (walker.stops) {
		walker.stops--;
		return true;
	}
	c->row_frames = 1;
	c->hot_frames = 2;
	c->fp_frames = 3;
	c->jit_frames = 4;
	c->java_frames = 5;
	c->java_hot_frames = 6;
	c->anchors = 7;
	c->frozen = 8;
	walk->result->words[walk->result->word_count++] = 0xabc;
	walk->result->frames++;
	walk->result->reason = UNWIND_DONE;
	return false;
}

uint64_t walk_missing(const struct walk *walk)
{
	(void)walk;
	return MISSING;
}

/* --- */

struct fixture {
	struct table_memory *memory;
	struct image_cache *images;
	struct unwinder *unwinder;
	struct process process;
	struct wire_miss miss;
	int jvm_answer;

	union {
		struct wire_sample sample;
		char space[sizeof(struct wire_sample) + SAMPLE_WORDS * sizeof(uint64_t)];
	};
};

static int read_jvm(uint32_t pid, const struct mapping *libjvm, bool urgent,
		    struct wire_jvm *ret_wire, void *data)
{
	struct fixture *f = data;

	(void)pid, (void)libjvm, (void)urgent;
	ret_wire->serial = 9;
	return f->jvm_answer;
}

static void make_miss(struct fixture *f)
{
	struct wire_miss *miss = &f->miss;

	*miss = (struct wire_miss){ .size = sizeof(*miss),
				    .kind = WIRE_MISS,
				    .tgid = PID,
				    .tid = PID,
				    .time_ns = clock_now_ns(),
				    .pc = 0x123456,
				    .thread = 0x777000,
				    .anchor = { 11, 12, 13 } };
	for (uint64_t i = 0; i < 16; i++)
		miss->regs[i] = 1000 + i;
}

/* A kernel frame, and two words of a frame that BPF walked. */
static void make_sample(struct fixture *f)
{
	f->sample = (struct wire_sample){ .size = sizeof(f->sample) + 3 * 8,
					  .kind = WIRE_SAMPLE,
					  .flags = WIRE_SAMPLE_RESUMED | WIRE_SAMPLE_STALE,
					  .reason = UNWIND_NO_ROWS,
					  .tgid = PID,
					  .tid = PID,
					  .time_ns = f->miss.time_ns,
					  .weight = 4242,
					  .kernel_frames = 1,
					  .user_words = 2,
					  .user_frames = 1 };
	f->sample.words[0] = 0xffffffff81000000ULL;
	f->sample.words[1] = 0x111;
	f->sample.words[2] = 0x222;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct unwind_jvm_source jvms = { read_jvm, f };

	*state = f;
	memset(&walker, 0, sizeof(walker));
	fake_begin();
	f->jvm_answer = -ENODATA;
	f->memory = table_memory_new_heap(256, 256, 1024);
	f->process = (struct process){ .pid = PID, .serial = 1 };
	make_miss(f);
	make_sample(f);
	f->images = image_cache_new(NULL);
	f->unwinder = unwinder_new(f->memory, f->images, &jvms, 1 << 20);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unwinder_free(f->unwinder);
	image_cache_free(f->images);
	table_memory_free_heap(f->memory);
	mappings_clear(&f->process);
	free(f);
	return 0;
}

static void finish(struct fixture *f)
{
	free(unwinder_finish(f->unwinder, &f->miss, &f->sample, &f->process, 77));
}

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
	assert_true(r->linked && !r->exact && !r->regs_kept);
	f->miss.linked = 0;
	f->miss.regs_kept = 1;
	finish(f);
	assert_true(r->regs_kept && !r->exact && !r->linked);
}

/* What BPF walked stands before it. */
static void a_sample_is_completed(void **state)
{
	struct fixture *f = *state;
	struct wire_sample *sample =
		unwinder_finish(f->unwinder, &f->miss, &f->sample, &f->process, 0);

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
					       "unwind.frozen 16\n");
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
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

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
