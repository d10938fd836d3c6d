/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "session/alloc/live_objects.h"

#define JVM   7
#define OTHER 8

struct world {
	struct live_objects all;
	struct profile profile;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	profile_init(&w->profile);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	live_objects_release(&w->all);
	profile_release(&w->profile);
	free(w);
	return 0;
}

/* A stack of one frame NAME in a mapping, and a thread of a process of the same name. */
static struct live_object object_of(struct profile *profile, uint64_t id, const char *name)
{
	const struct profile_mapping mapping = { .path = profile_string(profile, "[JIT]"),
						 .build_id = profile_string(profile, "ab"),
						 .start = 5 };
	const struct profile_frame frame = { .name = profile_string(profile, name),
					     .class_name = profile_string(profile, "pkg.A"),
					     .file = profile_string(profile, "A.java"),
					     .descriptor = profile_string(profile, "(LA;)V"),
					     .mapping = profile_mapping(profile, &mapping),
					     .line = 3,
					     .bci = 4,
					     .kind = FRAME_JAVA_JIT };
	const struct profile_frame root = { .name = profile_string(profile, "main"),
					    .mapping = PROFILE_NONE,
					    .address = 9 };
	const struct profile_process process = { .pid = 5, .name = profile_string(profile, name) };
	const struct profile_thread thread = { .process = profile_process(profile, &process),
					       .tid = 6,
					       .name = profile_string(profile, "worker") };
	const uint32_t frames[] = { profile_frame(profile, &frame), profile_frame(profile, &root) };

	return (struct live_object){ .id = id,
				     .time_ns = 100 + id,
				     .weight = 1000,
				     .objects = 10,
				     .stack = profile_stack(profile, frames, 2),
				     .thread = profile_thread(profile, &thread) };
}

static void add(struct world *w, uint64_t jvm, uint64_t id)
{
	const struct live_object object = {
		.id = id, .time_ns = id, .weight = 1000, .objects = 10
	};

	live_objects_add(&w->all, jvm, &object);
}

static uint32_t tell_one(struct world *w, uint64_t jvm, uint64_t id, uint32_t level)
{
	const struct codemap_object alive = { .id = id, .age = 3 };

	return live_objects_tell(&w->all, jvm, &alive, 1, level, 2, &w->profile);
}

static void what_is_alive_becomes_a_sample(void **state)
{
	struct world *w = *state;
	const struct live_object object = object_of(&w->profile, 1, "leak");
	const struct profile_sample *sample;

	live_objects_add(&w->all, JVM, &object);
	assert_int_equal(tell_one(w, JVM, 2, 0), 0);
	assert_int_equal(tell_one(w, OTHER, 1, 0), 0);
	assert_int_equal(tell_one(w, JVM, 1, 0), 1);
	assert_int_equal(w->profile.samples.len, 1);
	sample = &w->profile.samples.items[0];
	assert_int_equal(sample->time_ns, 101);
	assert_int_equal(sample->weight, 1000);
	assert_int_equal(sample->objects, 10);
	assert_int_equal(sample->count, 1);
	assert_int_equal(sample->event, 2);
	assert_int_equal(sample->stack, object.stack);
	assert_int_equal(sample->thread, object.thread);
	assert_int_equal(sample->age, 3);
	/* Twice in a report is once. */
	assert_int_equal(tell_one(w, JVM, 1, 0), 0);
}

static void what_has_gone_is_given_up(void **state)
{
	struct world *w = *state;

	add(w, JVM, 1);
	add(w, JVM, 2);
	add(w, JVM, 3);
	add(w, OTHER, 1);
	live_objects_drop(&w->all, JVM, 1);
	live_objects_drop(&w->all, JVM, 1);
	live_objects_drop(&w->all, JVM, 77);
	live_objects_drop(&w->all, 99, 2);
	assert_int_equal(tell_one(w, JVM, 1, 0), 0);
	assert_int_equal(tell_one(w, JVM, 3, 0), 1);
	assert_int_equal(tell_one(w, JVM, 2, 0), 1);
	live_objects_forget(&w->all, OTHER);
	assert_int_equal(tell_one(w, OTHER, 1, 0), 0);
}

/* The least id that a level of LEVEL keeps, and one that only those below do. */
static uint64_t id_of_level(uint32_t level)
{
	uint64_t id = 1;

	while (!codemap_live_keeps(id, level) || codemap_live_keeps(id, level + 1))
		id++;
	return id;
}

static void levels_multiply(void **state)
{
	struct world *w = *state;

	for (uint32_t level = 0; level < 6; level++)
		add(w, JVM, id_of_level(level));
	/* The agent's table came to 3; what it does not keep is not there any more. */
	live_objects_thin(&w->all, JVM, 3);
	assert_int_equal(tell_one(w, JVM, id_of_level(2), 3), 0);
	assert_int_equal(tell_one(w, JVM, id_of_level(3), 3), 1);
	assert_int_equal(w->profile.samples.items[0].weight, 8000);
	assert_int_equal(w->profile.samples.items[0].objects, 80);
	/* A level never falls, and a report's own counts as well. */
	live_objects_thin(&w->all, JVM, 1);
	assert_int_equal(tell_one(w, JVM, id_of_level(4), 0), 1);
	assert_int_equal(w->profile.samples.items[1].weight, 8000);
	assert_int_equal(tell_one(w, JVM, id_of_level(5), 5), 1);
	assert_int_equal(w->profile.samples.items[2].weight, 32000);
	add(w, JVM, id_of_level(4));
	assert_int_equal(tell_one(w, JVM, id_of_level(4), 0), 0);
}

/* Of a million objects some thousand stay, and they stand for all of them. */
static void it_is_bounded_and_unbiased(void **state)
{
	static struct codemap_object alive[1000000];
	struct world *w = *state;
	double sum = 0;
	uint32_t told;

	for (uint64_t id = 1; id <= 1000000; id++) {
		add(w, JVM, id);
		alive[id - 1] = (struct codemap_object){ .id = id, .age = 1 };
	}
	told = live_objects_tell(&w->all, JVM, alive, 1000000, 0, 2, &w->profile);
	assert_true(told <= LIVE_OBJECTS_MAX_OF_ONE && told > LIVE_OBJECTS_MAX_OF_ONE / 3);
	for (size_t i = 0; i < w->profile.samples.len; i++)
		sum += (double)w->profile.samples.items[i].weight;
	print_message("%u told, %.0f of 1000000000\n", told, sum);
	/* 4 sigma of so many. */
	assert_true((sum / 1e9 - 1) * (sum / 1e9 - 1) < 16.0 / told);
}

static void jvms_share_it(void **state)
{
	struct world *w = *state;
	struct codemap_object one = { .id = 0 };
	uint32_t told = 0;

	live_objects_set_limit(&w->all, 64 * 500 * LIVE_OBJECTS_EACH_BYTES);
	for (uint64_t jvm = 1; jvm <= 64; jvm++)
		add(w, jvm, 1);
	for (uint64_t id = 2; id <= 20000; id++)
		add(w, JVM, id);
	for (one.id = 1; one.id <= 20000; one.id++)
		told += live_objects_tell(&w->all, JVM, &one, 1, 0, 2, &w->profile);
	assert_true(told <= 500 && told > 500 / 3);
}

/* An agent that lies chooses ids that every level keeps: there are no more for that. */
static void chosen_ids_do_not_fill_memory(void **state)
{
	struct world *w = *state;
	const struct codemap_object zero = { .id = 0 };

	assert_true(codemap_live_keeps(0, 63));
	assert_false(codemap_live_keeps(0, 64));
	for (int i = 0; i < 3; i++)
		add(w, JVM, 0);
	assert_int_equal(live_objects_tell(&w->all, JVM, &zero, 1, UINT32_MAX, 2, &w->profile), 1);
	assert_int_equal(w->profile.samples.items[0].weight, 1000ULL << LIVE_OBJECTS_MOST_LEVELS);
}

/* A chunk ends: the same stack, thread and process are in the tables of the next. */
static void stacks_move_to_fresh_tables(void **state)
{
	struct world *w = *state;
	struct live_object leak = object_of(&w->profile, 1, "leak");
	struct live_object cache = object_of(&w->profile, 2, "cache");
	struct live_object again = object_of(&w->profile, 3, "leak");
	const struct profile_frame *frame;
	const struct profile_sample *s;
	const struct profile_process first = { .pid = 1 };
	const struct profile_thread *thread;
	struct profile fresh;

	live_objects_add(&w->all, JVM, &leak);
	live_objects_add(&w->all, OTHER, &cache);
	live_objects_add(&w->all, JVM, &again);
	profile_init(&fresh);
	profile_string(&fresh, "something else");
	profile_process(&fresh, &first);
	live_objects_move(&w->all, &w->profile, &fresh);
	profile_release(&w->profile);
	w->profile = fresh;
	assert_int_equal(tell_one(w, OTHER, 2, 0), 1);
	assert_int_equal(tell_one(w, JVM, 1, 0), 1);
	assert_int_equal(tell_one(w, JVM, 3, 0), 1);
	s = w->profile.samples.items;
	assert_int_equal(intern_len(&w->profile.stacks), 2);
	assert_int_equal(s[1].stack, s[2].stack);
	assert_int_equal(s[1].stack, object_of(&w->profile, 0, "leak").stack);
	assert_int_equal(s[0].stack, object_of(&w->profile, 0, "cache").stack);
	assert_int_equal(s[0].thread, object_of(&w->profile, 0, "cache").thread);
	frame = profile_get_frame(&w->profile,
				  profile_get_stack(&w->profile, s[1].stack).frames[0]);
	assert_string_equal(profile_get_string(&w->profile, frame->name), "leak");
	assert_string_equal(profile_get_string(&w->profile, frame->class_name), "pkg.A");
	assert_string_equal(profile_get_string(&w->profile, frame->descriptor), "(LA;)V");
	thread = profile_get_thread(&w->profile, s[1].thread);
	assert_int_equal(profile_get_process(&w->profile, thread->process)->pid, 5);
	assert_int_equal(s[1].time_ns, 101);
	assert_int_equal(s[1].weight, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_alive_becomes_a_sample, setup, teardown),
		cmocka_unit_test_setup_teardown(what_has_gone_is_given_up, setup, teardown),
		cmocka_unit_test_setup_teardown(levels_multiply, setup, teardown),
		cmocka_unit_test_setup_teardown(it_is_bounded_and_unbiased, setup, teardown),
		cmocka_unit_test_setup_teardown(jvms_share_it, setup, teardown),
		cmocka_unit_test_setup_teardown(chosen_ids_do_not_fill_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(stacks_move_to_fresh_tables, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
