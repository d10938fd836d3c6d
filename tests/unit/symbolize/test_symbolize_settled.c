// SPDX-License-Identifier: Apache-2.0
/* Stacks with frames of an agent's code map: kept as long as that does not change. */
#include "test.h"

#include "symbolize_java_world.h"

/* Asked about COUNT frames, the stack is TEXT. */
static void assert_finds(struct fixture *f, unsigned int count, const char *text)
{
	code_finds = 0;
	assert_stack(f, text);
	assert_int_equal(code_finds, count);
}

/* As long as the agent tells of no change it is not asked again, neither about a whole stack nor about a thread's last frames. */
static void code_that_does_not_change(void **state)
{
	struct fixture *f = *state;
	const char *whole = strdup(
		expect("StubRoutines (2):0 %u|demo.Work.after:12 %u|", FRAME_STUB, FRAME_JAVA_JIT));

	settles_ns = NSEC_PER_SEC;
	f->sample.time_ns = 2 * NSEC_PER_SEC;
	add_word(f, STUB | WIRE_FRAME_EXACT);
	add_word(f, MOVING);
	assert_finds(f, 2, whole);
	assert_finds(f, 0, whole);
	f->sample.words[0] = (STUB - 3) | WIRE_FRAME_EXACT;
	assert_finds(f, 1, whole);
	/* Before that it may have been another one. */
	f->sample.time_ns = 1;
	assert_finds(f, 2,
		     expect("StubRoutines (2):0 %u|demo.Work.before:12 %u|", FRAME_STUB,
			    FRAME_JAVA_JIT));
	f->sample.time_ns = 3 * NSEC_PER_SEC;
	assert_finds(f, 0, whole);
	/* The thread's last stack was of another time. */
	f->sample.words[0] = (STUB - 4) | WIRE_FRAME_EXACT;
	assert_finds(f, 1, whole);
	free((void *)(uintptr_t)whole);
}

/* And as soon as it does, of all that it told nothing is kept. */
static void code_that_changes(void **state)
{
	struct fixture *f = *state;

	settles_ns = 1;
	f->sample.time_ns = 2 * NSEC_PER_SEC;
	add_word(f, MOVING | WIRE_FRAME_EXACT);
	add_word(f, CHAIN);
	assert_finds(f, 2,
		     expect("demo.Work.after:12 %u|java.lang.Math.sqrt(D)D:7 %u|demo.Work.inner:30 "
			    "%u|demo.Work.outer:12 %u|",
			    FRAME_JAVA_JIT, FRAME_JAVA_INLINED, FRAME_JAVA_INLINED,
			    FRAME_JAVA_JIT));
	changes++;
	newest = "newest";
	f->sample.time_ns++;
	assert_finds(
		f, 2,
		expect("demo.Work.newest:12 %u|java.lang.Math.sqrt(D)D:7 %u|demo.Work.inner:30 "
		       "%u|demo.Work.outer:12 %u|",
		       FRAME_JAVA_JIT, FRAME_JAVA_INLINED, FRAME_JAVA_INLINED, FRAME_JAVA_JIT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(code_that_does_not_change),
		TEST(code_that_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
