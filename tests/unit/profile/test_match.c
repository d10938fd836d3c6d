/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "profile/match.h"
#include "profile_fixture.h"

static void test_patterns(void **state)
{
	(void)state;
	assert_true(profile_match_name("a.b", "a.b"));
	assert_false(profile_match_name("a.b", "a.bc"));
	assert_false(profile_match_name("a.b", "xa.b"));
	assert_false(profile_match_name("a.bc", "a.b"));
	assert_true(profile_match_name("a*", "a.b"));
	assert_false(profile_match_name("a*", "b.a"));
	assert_true(profile_match_name("*b", "a.b"));
	assert_false(profile_match_name("*b", "a.bc"));
	assert_false(profile_match_name("*a.b", "b"));
	assert_true(profile_match_name("*.*", "a.b"));
	assert_false(profile_match_name("*-*", "a.b"));
	assert_true(profile_match_name("*", ""));
	assert_true(profile_match_name("**", "a"));
	assert_true(profile_match_name("", ""));
	assert_false(profile_match_name("", "a"));
}

/* Three stacks of weights 1, 2 and 4: A.run > read, A.run, main. */
static void make_profile(struct profile *p)
{
	uint32_t event, thread, run, read, main_fn;

	profile_init(p);
	event = fixture_event(p, "cpu", "nanoseconds", 1);
	thread = fixture_thread(p, fixture_process(p, "java", 1), "java", 1);
	run = fixture_java(p, FRAME_JAVA_JIT, "A", "run", 7);
	read = fixture_native(p, "read");
	main_fn = fixture_native(p, "main");
	fixture_sample(p, event, thread, 1, 1, FIXTURE_FRAMES(run, read));
	fixture_sample(p, event, thread, 1, 2, FIXTURE_FRAMES(run));
	fixture_sample(p, event, thread, 1, 4, FIXTURE_FRAMES(main_fn));
	fixture_sample(p, event, thread, 1, 8, NULL, 0);
}

static uint64_t weight_shown(const char *include, const char *more, const char *exclude)
{
	struct profile_match match = { 0 };
	const struct profile_sample *s;
	struct profile p;
	uint64_t weight = 0;

	make_profile(&p);
	if (include)
		vec_push(&match.include, include);
	if (more)
		vec_push(&match.include, more);
	if (exclude)
		vec_push(&match.exclude, exclude);
	profile_match_apply(&p, &match);
	vec_for_each (s, &p.samples)
		weight += s->weight;
	vec_release(&match.include);
	vec_release(&match.exclude);
	profile_release(&p);
	return weight;
}

static void test_samples(void **state)
{
	(void)state;
	assert_int_equal(weight_shown(NULL, NULL, NULL), 15);
	assert_int_equal(weight_shown("A.run", NULL, NULL), 3);
	assert_int_equal(weight_shown("read", "main", NULL), 5);
	assert_int_equal(weight_shown(NULL, NULL, "read"), 14);
	assert_int_equal(weight_shown("A.*", NULL, "read"), 2);
	assert_int_equal(weight_shown("*", NULL, NULL), 7);
	assert_int_equal(weight_shown("none", NULL, NULL), 0);
}

/* With the number of a hidden class, and as it is shown. */
static void test_hidden_classes(void **state)
{
	static const char *const patterns[] = { "A$$Lambda.run", "A$$Lambda/0x12.run", "*0x12*" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		struct profile_match match = { 0 };
		struct profile p;
		uint32_t thread, event, run;

		profile_init(&p);
		event = fixture_event(&p, "cpu", "nanoseconds", 1);
		thread = fixture_thread(&p, fixture_process(&p, "java", 1), "java", 1);
		run = fixture_java(&p, FRAME_JAVA_JIT, "A$$Lambda/0x12", "run", 7);
		fixture_sample(&p, event, thread, 1, 1, FIXTURE_FRAMES(run));
		vec_push(&match.include, patterns[i]);
		profile_match_apply(&p, &match);
		assert_int_equal(p.samples.len, 1);
		vec_release(&match.include);
		profile_release(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_hidden_classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
