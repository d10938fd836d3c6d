/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "profile/thread_groups.h"
#include "profile/title.h"
#include "profile_fixture.h"

static void test_names(void **state)
{
	static const char *const names[][2] = {
		{ "pool-1-thread-17", "pool-*-thread-*" },
		{ "http-nio-8080-exec-5", "http-nio-*-exec-*" },
		{ "C2 CompilerThread0", "C2 CompilerThread*" },
		{ "G1 Conc#12", "G1 Conc#*" },
		{ "C2", "C2" },
		{ "kworker/3:1H-kblockd", "kworker/*:*H-kblockd" },
		{ "http2-4", "http2-*" },
		{ "42", "*" },
		{ "42-x", "*-x" },
		{ "7zip", "7zip" },
		{ "main", "main" },
		{ "", "" },
		{ "a*1", "a**" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

		thread_group_name(&out, names[i][0]);
		assert_string_equal(strbuf_str(&out), names[i][1]);
	}
}

/* "TITLE WEIGHT COUNT" of each sample, in their order. */
static void format_samples(const struct profile *p, struct strbuf *out)
{
	const struct profile_sample *s;

	vec_for_each (s, &p->samples) {
		profile_format_process(out, p, profile_process_of(p, s->thread));
		profile_format_thread(out, p, s->thread);
		strbuf_addf(out, " %u %u\n", (unsigned int)s->weight, (unsigned int)s->count);
	}
}

static void test_groups(void **state)
{
	_cleanup_strbuf_ struct strbuf got = STRBUF_INIT;
	uint32_t event, java, other, threads[5], run;
	struct profile p;

	(void)state;
	profile_init(&p);
	event = fixture_event(&p, "cpu", "nanoseconds", 1);
	java = fixture_process(&p, "java", 1);
	other = fixture_process(&p, "java", 2);
	run = fixture_native(&p, "run");
	threads[0] = fixture_thread(&p, java, "worker-1", 11);
	threads[1] = fixture_thread(&p, java, "worker-2", 12);
	threads[2] = fixture_thread(&p, other, "worker-3", 13);
	threads[3] = fixture_thread(&p, java, "main", 10);
	threads[4] = PROFILE_NONE;
	for (unsigned int i = 0; i < 5; i++)
		fixture_sample(&p, event, threads[i], 1, 1U << i, FIXTURE_FRAMES(run));
	thread_groups_apply(&p);
	format_samples(&p, &got);
	assert_string_equal(strbuf_str(&got), "java-1[worker-*] 3 2\n"
					      "java-2[worker-*] 4 1\n"
					      "java-1[main] 8 1\n"
					      "[unknown][unknown] 16 1\n");
	profile_release(&p);
}

/* More than fit into a batch. */
static void test_many(void **state)
{
	uint32_t event, process, run;
	const struct profile_sample *s;
	uint64_t weight = 0;
	struct profile p;
	char name[32];

	(void)state;
	profile_init(&p);
	event = fixture_event(&p, "cpu", "nanoseconds", 1);
	process = fixture_process(&p, "java", 1);
	run = fixture_native(&p, "run");
	for (unsigned int i = 0; i < 3 * PROFILE_BATCH + 1; i++) {
		snprintf(name, sizeof(name), "%c-%u", 'a' + i % 2, i);
		fixture_sample(&p, event, fixture_thread(&p, process, name, 100 + i), 1, 1,
			       FIXTURE_FRAMES(run));
	}
	thread_groups_apply(&p);
	vec_for_each (s, &p.samples)
		weight += s->weight;
	assert_int_equal(p.samples.len, 2);
	assert_int_equal(weight, 3 * PROFILE_BATCH + 1);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests_name("thread_groups", tests, NULL, NULL);
}
