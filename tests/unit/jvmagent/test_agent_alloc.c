// SPDX-License-Identifier: Apache-2.0
/* Samples of allocations in the agent: ids of classes, the interval that travels, the budget, the end. */
#include "test.h"

#include "fake_jvmti.h"

#define INTERVAL 65536

static void sample_of(int class, jlong size)
{
	fake.callbacks.SampledObjectAlloc(&fake_jvmti, &fake_jni, fake_thread_id(0), NULL,
					  (void *)&fake.methods[class], size);
}

static struct agent *sampling_agent(void)
{
	struct agent *a = fake_agent();

	alloc_begin(a, INTERVAL);
	agent_switch_events(a, CODEMAP_WANT_ALLOC);
	assert_true(fake.on[JVMTI_EVENT_SAMPLED_OBJECT_ALLOC]);
	assert_int_equal(fake.interval, INTERVAL);
	assert_int_equal(a->ring.header->alloc_interval, INTERVAL);
	return a;
}

/* The last record of the ring. */
static const struct codemap_class *last_record(const struct agent *a, uint64_t before)
{
	return (const void *)(a->ring.data + before % CODEMAP_RING_BYTES);
}

static void class_is_told_before_its_id_is_used(void **state)
{
	struct agent *a = sampling_agent();
	uint64_t before = a->ring.head;
	const struct codemap_class *c = last_record(a, before);
	uint64_t id;

	(void)state;
	sample_of(0, 104);
	assert_int_equal(c->record.kind, CODEMAP_CLASS);
	assert_int_equal(c->name_len, strlen("Lpkg/A;"));
	assert_memory_equal(c + 1, "Lpkg/A;", c->name_len);
	id = fake_hit.class_id;
	assert_int_equal(id, c->id);
	assert_int_not_equal(id, 0);
	assert_int_equal(fake_hit.size, 104);
	assert_int_equal(fake_hit.interval, INTERVAL);
	/* Once. */
	before = a->ring.head;
	sample_of(0, 24);
	assert_int_equal(a->ring.head, before);
	assert_int_equal(fake_hit.class_id, id);
	sample_of(1, 24);
	assert_int_not_equal(fake_hit.class_id, id);
	assert_int_equal(fake_hit.hits, 3);
	fake_drop(a);
}

/* A new consumer knows no class; an id is never given twice, not even in the next activation. */
static void ids_go_on(void **state)
{
	struct agent *a = sampling_agent();
	uint64_t first, before;

	(void)state;
	sample_of(0, 24);
	first = fake_hit.class_id;
	alloc_begin(a, INTERVAL);
	before = a->ring.head;
	sample_of(0, 24);
	assert_true(fake_hit.class_id > first);
	assert_int_not_equal(a->ring.head, before);
	fake_drop(a);
	a->events_on = 0;
	assert_int_equal(open_memory(a), AGENT_OK);
	alloc_begin(a, INTERVAL);
	first = fake_hit.class_id;
	sample_of(1, 24);
	assert_true(fake_hit.class_id > first);
	fake_drop(a);
}

/* What cannot be named, or told, has id 0: the sample itself is not lost. */
static void classes_without_a_name(void **state)
{
	struct agent *a = sampling_agent();

	(void)state;
	fake.methods[0].class_signature = NULL;
	sample_of(0, 24);
	assert_int_equal(fake_hit.class_id, 0);
	assert_int_equal(fake_hit.hits, 1);
	a->ring.head = CODEMAP_RING_BYTES - 8; /* full */
	sample_of(1, 24);
	assert_int_equal(fake_hit.class_id, 0);
	assert_int_equal(fake_hit.hits, 2);
	assert_int_equal(fake.tags[1], 0);
	fake_drop(a);
}

/* HotSpot has drawn the next sample's distance when it tells of one: a change comes a sample later. */
static void interval_of_the_draw(void **state)
{
	struct agent *a = sampling_agent();

	(void)state;
	sample_of(0, 24);
	set_interval(a, 4 * INTERVAL);
	sample_of(0, 24);
	assert_int_equal(fake_hit.interval, INTERVAL);
	sample_of(0, 24);
	assert_int_equal(fake_hit.interval, 4 * INTERVAL);
	/* Another run's draws are not this one's. */
	a->events_on = 0;
	alloc_begin(a, 2 * INTERVAL);
	sample_of(0, 24);
	assert_int_equal(fake_hit.interval, 2 * INTERVAL);
	fake_drop(a);
}

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t *place_of(struct agent *a, const JNIEnv *jni)
{
	uint32_t key;

	return draw_of(&a->alloc, jni, &key);
}

/* Each thread has its own draw, and one that begins where another has ended knows none. */
static void draws_of_threads(void **state)
{
	struct agent *a = sampling_agent();
	JNIEnv threads[64]; /* 128 bytes apart, as none really are */
	static JNIEnv others[1 << 18];
	size_t at = 0;

	(void)state;
	for (int i = 0; i < 64; i += 16) {
		threads[i] = fake_jni;
		alloc_sample(a, &threads[i], NULL, (void *)&fake.methods[0], 24);
		assert_int_equal(fake_hit.interval, INTERVAL);
	}
	set_interval(a, 4 * INTERVAL);
	fake.callbacks.ThreadEnd(&fake_jvmti, &threads[16], fake_thread_id(0));
	for (int i = 0; i < 64; i += 16) {
		alloc_sample(a, &threads[i], NULL, (void *)&fake.methods[0], 24);
		assert_int_equal(fake_hit.interval, i == 16 ? 4 * INTERVAL : INTERVAL);
	}
	/* A thread without a draw ends, where another one's is kept. */
	while (place_of(a, &others[at]) != place_of(a, &threads[0]) &&
	       at < ARRAY_LENGTH(others) - 1)
		at++;
	assert_ptr_equal(place_of(a, &others[at]), place_of(a, &threads[0]));
	others[at] = fake_jni;
	fake.callbacks.ThreadEnd(&fake_jvmti, &others[at], fake_thread_id(0));
	set_interval(a, 8 * INTERVAL);
	alloc_sample(a, &threads[0], NULL, (void *)&fake.methods[0], 24);
	assert_int_equal(fake_hit.interval, 4 * INTERVAL);
	fake_drop(a);
}

static void budget(void **state)
{
	struct agent *a = sampling_agent();

	(void)state;
	for (uint32_t i = 0; i < ALLOC_PER_WINDOW; i++)
		sample_of(0, 24);
	assert_true(fake.interval >= 2 * INTERVAL);
	assert_true(fake.interval <= ALLOC_MAX_FACTOR * INTERVAL);
	assert_int_equal(a->ring.header->alloc_interval, fake.interval);
	assert_int_equal(fake.intervals, 2);
	/* Below the budget nothing changes; a window later it may become what was wanted again. */
	sample_of(0, 24);
	assert_int_equal(fake.intervals, 2);
	for (int i = 0; i < 10; i++) {
		fake_passed_ns += 2 * ALLOC_WINDOW_NS;
		alloc_watch(a);
	}
	assert_int_equal(fake.interval, INTERVAL);
	fake_drop(a);
}

/* Half of the interval would bring twice the samples: it stays while they would not fit. */
static void budget_that_is_used(void **state)
{
	struct agent *a = sampling_agent();
	jint raised;

	(void)state;
	for (uint32_t i = 0; i < ALLOC_PER_WINDOW; i++)
		sample_of(0, 24);
	raised = fake.interval;
	for (uint32_t i = 0; i < ALLOC_PER_WINDOW / 2; i++)
		sample_of(0, 24);
	fake_passed_ns += ALLOC_WINDOW_NS;
	sample_of(0, 24);
	assert_int_equal(fake.interval, raised);
	fake_drop(a);
}

/* Samples that come slowly are not all followed by a look at the clock; the next look finds the window over. */
static void rare_samples(void **state)
{
	struct agent *a = sampling_agent();

	(void)state;
	for (uint32_t i = 0; i < ALLOC_PER_WINDOW; i++)
		sample_of(0, 24);
	assert_true(fake.interval > INTERVAL);
	for (uint32_t i = 0; i < 5 * ALLOC_PER_LOOK; i++) {
		fake_passed_ns += ALLOC_WINDOW_NS / 4;
		sample_of(0, 24);
	}
	assert_int_equal(fake.interval, INTERVAL);
	fake_drop(a);
}

static void use_up_the_budget(void)
{
	fake_passed_ns += ALLOC_WINDOW_NS / 2;
	for (uint32_t i = 0; i < ALLOC_PER_WINDOW; i++)
		sample_of(0, 24);
}

static void forget_what_was_wanted(void)
{
	alloc_begin(&agent, 3 * INTERVAL);
}

/* Who has told HotSpot of an interval has no cpu for a while. */
static void others_change_it_meanwhile(void **state)
{
	struct agent *a = sampling_agent();

	(void)state;
	fake.interval_set = use_up_the_budget;
	for (uint32_t i = 0; i < ALLOC_PER_WINDOW; i++)
		sample_of(0, 24);
	/* 16 times for 500 samples in no time, and at most four for those that came meanwhile. */
	assert_in_range(fake.interval, 2 * INTERVAL, 4 * INTERVAL);
	assert_int_equal(a->alloc.interval, fake.interval);
	assert_int_equal(a->ring.header->alloc_interval, fake.interval);
	fake.interval_set = forget_what_was_wanted;
	use_up_the_budget();
	assert_int_equal(fake.interval, 3 * INTERVAL);
	assert_int_equal(a->alloc.interval, fake.interval);
	fake_drop(a);
}

/* Or has counted samples of an interval that is another one now: not twice as much, not half of it again. */
static void who_comes_late_changes_nothing(void **state)
{
	struct agent *a = sampling_agent();

	(void)state;
	set_interval(a, 8 * INTERVAL);
	change_interval(a, INTERVAL, 16 * INTERVAL);
	assert_int_equal(fake.interval, 8 * INTERVAL);
	change_interval(a, 8 * INTERVAL, 4 * INTERVAL);
	assert_int_equal(fake.interval, 4 * INTERVAL);
	change_interval(a, 4 * INTERVAL, 4 * INTERVAL);
	assert_int_equal(fake.intervals, 3);
	fake_drop(a);
}

/* HotSpot has no such interval: what is in force stays. */
static void one_that_cannot_be_set(void **state)
{
	struct agent *a = sampling_agent();

	(void)state;
	fake.interval = -1;
	set_interval(a, 8 * INTERVAL);
	assert_int_equal(a->alloc.interval, INTERVAL);
	fake.interval = INTERVAL;
	set_interval(a, 8 * INTERVAL);
	assert_int_equal(a->alloc.interval, 8 * INTERVAL);
	fake_drop(a);
}

static void at_the_end_classes_are_as_before(void **state)
{
	struct agent *a = sampling_agent();

	(void)state;
	fake.loaded = 2;
	sample_of(0, 24);
	sample_of(1, 24);
	assert_int_not_equal(fake.tags[0], 0);
	agent_switch_events(a, CODEMAP_WANT_CODE);
	assert_false(fake.on[JVMTI_EVENT_SAMPLED_OBJECT_ALLOC]);
	assert_int_equal(fake.tags[0], 0);
	assert_int_equal(fake.tags[1], 0);
	assert_int_equal(fake.capacity, 2);
	fake_drop(a);
}

static void who_cannot(void **state)
{
	struct agent *a;

	(void)state;
	fake_reset();
	fake.refused.can_generate_sampled_object_alloc_events = 1;
	agent.vm = &fake_vm;
	agent.pid = getpid();
	assert_int_equal(open_memory(&agent), AGENT_OK);
	assert_int_equal(open_jvmti(&agent), AGENT_OK);
	a = &agent;
	assert_int_equal(a->ring.header->cannot, CODEMAP_WANT_ALLOC | CODEMAP_WANT_LIVE);
	assert_false(a->can & CODEMAP_WANT_ALLOC);
	fake.on[JVMTI_EVENT_SAMPLED_OBJECT_ALLOC] = true; /* nobody touches it */
	agent_switch_events(a, CODEMAP_WANT_CODE);
	assert_true(fake.on[JVMTI_EVENT_SAMPLED_OBJECT_ALLOC]);
	fake_drop(a);
}

/* A callback of a process that has forked, or after the end. */
static void nothing_without_an_agent(void **state)
{
	struct agent *a = sampling_agent();

	(void)state;
	a->pid++;
	sample_of(0, 24);
	a->pid--;
	a->active = 0;
	sample_of(0, 24);
	assert_int_equal(fake_hit.hits, 0);
	assert_int_equal(a->users, 0);
	fake_drop(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(class_is_told_before_its_id_is_used),
		cmocka_unit_test(ids_go_on),
		cmocka_unit_test(classes_without_a_name),
		cmocka_unit_test(interval_of_the_draw),
		cmocka_unit_test(budget),
		cmocka_unit_test(budget_that_is_used),
		cmocka_unit_test(draws_of_threads),
		cmocka_unit_test(rare_samples),
		cmocka_unit_test(others_change_it_meanwhile),
		cmocka_unit_test(who_comes_late_changes_nothing),
		cmocka_unit_test(one_that_cannot_be_set),
		cmocka_unit_test(at_the_end_classes_are_as_before),
		cmocka_unit_test(who_cannot),
		cmocka_unit_test(nothing_without_an_agent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
