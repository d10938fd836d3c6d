/* SPDX-License-Identifier: Apache-2.0 */
/* This process's own stack, as BPF would have sent it, is walked at once and late. */
#include "unwinder_fixture.h"

static uint64_t figure;

static void note_figure(const char *name, const char *detail, uint64_t value, void *data)
{
	if (strcmp(name, data) == 0 && !*detail)
		figure = value;
}

static uint64_t figure_of(const struct fixture *f, const char *name)
{
	_cleanup_free_ char *copy = xstrdup(name);

	figure = 0;
	unwinder_for_each_figure(f->unwinder, note_figure, copy);
	return figure;
}

static void test_at_once(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ struct wire_sample *first = NULL, *second = NULL;
	uint64_t made;

	take_stack(f);
	make_sample(f);
	first = try(f);
	check_whole(f, first);
	made = figure_of(f, "unwind.pages-made");
	assert_true(made > 0);
	assert_true(figure_of(f, "unwind.rows-made") > made);
	assert_int_equal(figure_of(f, "unwind.spaces"), 1);
	/* now everything is there */
	second = try(f);
	check_whole(f, second);
	assert_int_equal(figure_of(f, "unwind.pages-made"), made);
	assert_int_equal(figure_of(f, "unwind.mappings-read"), 1);
	assert_int_equal(figure_of(f, "unwind.misses-finished-at-once"), 2);
}

/* The process is gone: its mappings are those that the registry has. */
static void test_late(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ struct wire_sample *sample = NULL;

	f->process.exited = true;
	take_stack(f);
	make_sample(f);
	sample = finish(f);
	check_whole(f, sample);
	assert_int_equal(figure_of(f, "unwind.spaces"), 0);
	assert_int_equal(figure_of(f, "unwind.misses-finished-late"), 1);
}

/* BPF came as far as this frame. */
static void test_goes_on(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ struct wire_sample *sample = NULL;

	take_stack(f);
	make_sample(f);
	f->sample = xrealloc(f->sample, sizeof(*f->sample) + 16);
	f->sample->words[1] = 0x4711;
	f->sample->user_words = f->sample->user_frames = 1;
	f->sample->size += 8;
	sample = try(f);
	assert_non_null(sample);
	assert_int_equal(sample_check(sample, sample->size), 0);
	assert_int_equal(sample->reason, UNWIND_DONE);
	assert_int_equal(user_words(sample)[0], 0x4711);
	assert_int_equal(user_words(sample)[1], f->miss->pc | WIRE_FRAME_EXACT);
	assert_int_equal(user_words(sample)[2], f->caller);
}

/* Behind the frames stands a virtual thread's name. */
static void test_keeps_the_name(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ struct wire_sample *sample = NULL;

	take_stack(f);
	make_sample(f);
	f->sample = xrealloc(f->sample, sizeof(*f->sample) + 16);
	memcpy(&f->sample->words[1], "request", 8);
	f->sample->virtual_id = 4711;
	f->sample->name_bytes = 7;
	f->sample->name_width = 1;
	f->sample->size += 8;
	sample = try(f);
	check_whole(f, sample);
	assert_int_equal(sample->virtual_id, 4711);
	assert_memory_equal(user_words(sample) + sample->user_words, "request", 7);
}

/* The pid has another owner now, who began after the sample. */
static void test_other_generation(void **state)
{
	struct fixture *f = *state;

	take_stack(f);
	make_sample(f);
	f->sample->time_ns = 1;
	assert_null(try(f));
	assert_int_equal(figure_of(f, "unwind.spaces"), 0);
}

/* It runs another program now: neither is the code there, nor does the kernel count so much. */
static void test_execed(void **state)
{
	struct fixture *f = *state;

	take_stack(f);
	make_sample(f);
	f->miss->pc = 0x1000;
	assert_null(try(f));
	assert_int_equal(figure_of(f, "unwind.spaces"), 0);
}

static void test_unknown_process(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ struct wire_sample *sample = NULL;

	mappings_clear(&f->process);
	take_stack(f);
	make_sample(f);
	sample = finish(f);
	assert_int_equal(sample_check(sample, sample->size), 0);
	assert_int_equal(sample->reason, UNWIND_NO_ROWS);
	assert_int_equal(sample->user_frames, 0);
	assert_int_equal(figure_of(f, "unwind.misses-unfinished"), 1);
}

static void test_copy_ends(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ struct wire_sample *sample = NULL;

	take_stack(f);
	make_sample(f);
	f->miss->copy_bytes = WIRE_MISS_BELOW + 8;
	sample = try(f);
	assert_non_null(sample);
	assert_int_equal(sample_check(sample, sample->size), 0);
	assert_int_equal(sample->reason, UNWIND_COPY_END);
	assert_int_equal(user_words(sample)[0], f->miss->pc | WIRE_FRAME_EXACT);
}

/* Its end lies in frames that are still the same: the rest is read from the process. */
static void test_stack_goes_on(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ struct wire_sample *sample = NULL, *late = NULL, *old = NULL;
	uint64_t end = (uintptr_t)__builtin_frame_address(0) + 1024, continued;

	take_stack(f);
	make_sample(f);
	f->miss->copy_bytes = (uint32_t)(end - f->miss->copy_at);
	sample = try(f);
	check_whole(f, sample);
	/* once for each try: on a busy host its time may be used up */
	continued = figure_of(f, "unwind.stacks-continued");
	assert_true(continued > 0);
	late = finish(f);
	check_whole(f, late);
	assert_int_equal(figure_of(f, "unwind.stacks-continued"), ++continued);
	/* its memory is another program's since */
	unwinder_note_exec(f->unwinder, f->miss->tgid, f->sample->time_ns + 1);
	old = finish(f);
	assert_int_equal(old->reason, UNWIND_COPY_END);
	assert_int_equal(figure_of(f, "unwind.stacks-continued"), continued);
	/* nobody holds a sample for a minute: that it was is forgotten */
	unwinder_tidy(f->unwinder, f->sample->time_ns + 62 * NSEC_PER_SEC);
	free(finish(f));
	assert_int_equal(figure_of(f, "unwind.stacks-continued"), continued + 1);
}

/* The return address is none. */
static void test_bad_return(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ struct wire_sample *sample = NULL;

	take_stack(f);
	make_sample(f);
	for (uint32_t at = 0; at + 8 <= f->miss->copy_bytes; at += 8)
		if (memcmp(f->miss->copy + at, &f->caller, 8) == 0)
			memset(f->miss->copy + at, 0x33, 6);
	sample = finish(f);
	assert_int_equal(sample->reason, UNWIND_BAD_RETURN);
	assert_int_equal(sample->user_frames, 2);
}

static void test_exit_drops_space(void **state)
{
	struct fixture *f = *state;

	take_stack(f);
	make_sample(f);
	free(try(f));
	unwinder_note_exit(f->unwinder, f->miss->tgid);
	assert_int_equal(figure_of(f, "unwind.spaces"), 0);
	unwinder_note_exit(f->unwinder, f->miss->tgid);
}

/* Where its code was is something else: walks wait for the mappings of their time, for a while. */
static void test_replaced_code(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ struct wire_sample *sample = NULL;
	struct mapping mapping, *mine;
	char none[] = "";

	take_stack(f);
	make_sample(f);
	free(try(f));
	mine = process_find_mapping(&f->process, f->miss->pc);
	/* the same once more is nothing new */
	unwinder_note_mapping(f->unwinder, f->process.pid, mine);
	assert_int_equal(figure_of(f, "unwind.spaces"), 1);
	mapping = *mine;
	mapping.path = none;
	mapping.key = (struct file_key){ 0 };
	unwinder_note_mapping(f->unwinder, f->process.pid, &mapping);
	assert_int_equal(figure_of(f, "unwind.spaces"), 0);
	assert_null(try(f));
	sample = finish(f);
	check_whole(f, sample);
}

/* BPF counts other pages, and goes on to do so: after two readings it is told not to compare. */
static void test_count_that_differs(void **state)
{
	struct fixture *f = *state;
	const uint64_t step_ns = 200 * NSEC_PER_MSEC;
	struct wire_space space;

	take_stack(f);
	make_sample(f);
	free(try(f));
	assert_int_equal(f->memory->get_space(f->miss->tgid, &space, f->memory->data), 0);
	assert_true(space.exec_pages > 0);
	f->sample->flags = WIRE_SAMPLE_STALE;
	for (uint64_t turn = 1; turn <= 2; turn++) {
		assert_true(space.exec_pages > 0);
		f->sample->time_ns = clock_now_ns() + turn * step_ns;
		unwinder_note_stale(f->unwinder, f->sample);
		unwinder_turn(f->unwinder, f->sample->time_ns + step_ns / 2);
		assert_int_equal(f->memory->get_space(f->miss->tgid, &space, f->memory->data), 0);
	}
	assert_int_equal(space.exec_pages, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_at_once),	     TEST(test_late),
		TEST(test_goes_on),	     TEST(test_keeps_the_name),
		TEST(test_other_generation), TEST(test_execed),
		TEST(test_unknown_process),  TEST(test_copy_ends),
		TEST(test_stack_goes_on),    TEST(test_bad_return),
		TEST(test_exit_drops_space), TEST(test_count_that_differs),
		TEST(test_replaced_code),
	};

	return cmocka_run_group_tests_name("unwinder", tests, NULL, NULL);
}
