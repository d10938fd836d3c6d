// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "symbolize_java_world.h"

static void inlined_methods_are_frames(void **state)
{
	struct fixture *f = *state;

	add_word(f, CHAIN | WIRE_FRAME_EXACT);
	assert_stack(f, expect("java.lang.Math.sqrt(D)D:7 %u|demo.Work.inner:30 %u|"
			       "demo.Work.outer:12 %u|",
			       FRAME_JAVA_INLINED, FRAME_JAVA_INLINED, FRAME_JAVA_JIT));
}

static void return_addresses_too(void **state)
{
	struct fixture *f = *state;

	add_word(f, STUB | WIRE_FRAME_EXACT);
	add_word(f, CHAIN);
	assert_stack(f, expect("StubRoutines (2):0 %u|java.lang.Math.sqrt(D)D:7 %u|"
			       "demo.Work.inner:30 %u|demo.Work.outer:12 %u|",
			       FRAME_STUB, FRAME_JAVA_INLINED, FRAME_JAVA_INLINED, FRAME_JAVA_JIT));
}

/* The word of a return address is the instruction behind the call, which has the call's debug info. */
static void a_call_at_the_end_of_its_pc(void **state)
{
	struct fixture *f = *state;

	add_word(f, (CHAIN + 1) | WIRE_FRAME_EXACT);
	add_word(f, CHAIN + 1); /* the call ends at CHAIN */
	add_word(f, (CHAIN - 0xfe));
	add_word(f, (CHAIN - 0xff)); /* that of the pc before, of which nothing is known */
	assert_stack(
		f,
		expect("StubRoutines (2):0 %u|"
		       "java.lang.Math.sqrt(D)D:7 %u|demo.Work.inner:30 %u|demo.Work.outer:12 %u|"
		       "java.lang.Math.sqrt(D)D:7 %u|demo.Work.inner:30 %u|demo.Work.outer:12 %u|"
		       "[JIT]:0 %u|",
		       FRAME_STUB, FRAME_JAVA_INLINED, FRAME_JAVA_INLINED, FRAME_JAVA_JIT,
		       FRAME_JAVA_INLINED, FRAME_JAVA_INLINED, FRAME_JAVA_JIT, FRAME_JAVA_JIT));
}

static void what_has_no_name(void **state)
{
	struct fixture *f = *state;

	add_word(f, EVICTED | WIRE_FRAME_EXACT);
	add_word(f, CODE + 0x1000);
	add_word(f, CODE_END + 0x1000);
	assert_stack(f, expect("[evicted]:0 %u|[JIT]:0 %u|[unknown]:0 %u|", FRAME_MARK,
			       FRAME_JAVA_JIT, FRAME_NATIVE));
}

static void interpreted_frames(void **state)
{
	struct fixture *f = *state;
	static const uint64_t methods[] = { 0x1000, 0xdead, 0 };

	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		add_word(f, (uint64_t)WIRE_FRAME_INTERPRETED << WIRE_FRAME_KIND_SHIFT | CODE);
		add_word(f, methods[i]);
		for (int k = 2; k < WIRE_INTERPRETED_WORDS; k++)
			add_word(f, 0x55);
	}
	assert_stack(f, expect("demo.Work.outer:12 %u|[evicted]:0 %u|[interpreted]:0 %u|",
			       FRAME_JAVA_INTERPRETED, FRAME_MARK, FRAME_JAVA_INTERPRETED));
}

static void add_compiled(struct fixture *f, uint64_t address, uint64_t compile_id)
{
	add_word(f, address | (uint64_t)WIRE_FRAME_COMPILED << WIRE_FRAME_KIND_SHIFT);
	add_word(f, compile_id);
}

/* The agent knows more, and when. */
static void the_code_map_wins(void **state)
{
	struct fixture *f = *state;

	add_compiled(f, CHAIN | WIRE_FRAME_EXACT, 7);
	add_compiled(f, STUB | WIRE_FRAME_EXACT, 7);
	add_compiled(f, NMETHOD, 7);
	add_compiled(f, EVICTED | WIRE_FRAME_EXACT, 7);
	assert_stack(f, expect("java.lang.Math.sqrt(D)D:7 %u|demo.Work.inner:30 %u|"
			       "demo.Work.outer:12 %u|StubRoutines (2):0 %u|"
			       "demo.Outside.seven:0 %u|demo.Outside.seven:0 %u|",
			       FRAME_JAVA_INLINED, FRAME_JAVA_INLINED, FRAME_JAVA_JIT, FRAME_STUB,
			       FRAME_JAVA_JIT, FRAME_JAVA_JIT));
}

static void names_from_outside(void **state)
{
	struct fixture *f = *state;

	has_code_map = false;
	add_compiled(f, CHAIN | WIRE_FRAME_EXACT, 7);
	add_compiled(f, STUB, 1);
	add_compiled(f, NMETHOD, 8);
	add_compiled(f, NMETHOD, 0xdead);
	add_compiled(f, NMETHOD, 0);
	assert_stack(f, expect("demo.Outside.seven:0 %u|vtable chunks:0 %u|demo.Outside.other:0 %u|"
			       "[evicted]:0 %u|[JIT]:0 %u|",
			       FRAME_JAVA_JIT, FRAME_STUB, FRAME_JAVA_JIT, FRAME_MARK,
			       FRAME_JAVA_JIT));
}

/* What stands there is of the first place behind; where the frame is not complete the method is all that is true. */
static void nothing_is_inlined_before_the_frame_is_complete(void **state)
{
	struct fixture *f = *state;

	add_compiled(f, CHAIN | WIRE_FRAME_EXACT, 7 | WIRE_COMPILED_ENTERING);
	add_compiled(f, CHAIN | WIRE_FRAME_EXACT, 7);
	add_compiled(f, STUB | WIRE_FRAME_EXACT, 7 | WIRE_COMPILED_ENTERING);
	add_compiled(f, NMETHOD, 7 | WIRE_COMPILED_ENTERING);
	assert_stack(
		f, expect("demo.Work.outer:0 %u|java.lang.Math.sqrt(D)D:7 %u|demo.Work.inner:30 %u|"
			  "demo.Work.outer:12 %u|StubRoutines (2):0 %u|demo.Outside.seven:0 %u|",
			  FRAME_JAVA_JIT, FRAME_JAVA_INLINED, FRAME_JAVA_INLINED, FRAME_JAVA_JIT,
			  FRAME_STUB, FRAME_JAVA_JIT));
}

/* One address, two compile ids: two methods. What is known is not asked again. */
static void compile_ids_tell_code_apart(void **state)
{
	struct fixture *f = *state;

	has_code_map = false;
	add_compiled(f, NMETHOD, 7);
	add_compiled(f, NMETHOD, 8);
	add_compiled(f, NMETHOD, 7);
	for (int i = 0; i < 2; i++) {
		assert_stack(f, expect("demo.Outside.seven:0 %u|demo.Outside.other:0 %u|"
				       "demo.Outside.seven:0 %u|",
				       FRAME_JAVA_JIT, FRAME_JAVA_JIT, FRAME_JAVA_JIT));
		assert_int_equal(outside_reads, 2);
		f->sample.time_ns += NSEC_PER_SEC;
	}
	assert_true(symbolizer_arrive(f->symbolizer, f->process, &f->sample));
	assert_int_equal(outside_reads, 2);
}

/* What was not known may be known the next time. */
static void evicted_frames_are_asked_again(void **state)
{
	struct fixture *f = *state;

	has_code_map = false;
	add_compiled(f, NMETHOD, 0xdead);
	for (unsigned int i = 1; i <= 2; i++) {
		assert_stack(f, expect("[evicted]:0 %u|", FRAME_MARK));
		assert_int_equal(outside_reads, i);
	}
}

/* An agent comes: it knows what was inlined. */
static void a_new_code_map_is_asked(void **state)
{
	struct fixture *f = *state;

	has_code_map = false;
	add_compiled(f, CHAIN | WIRE_FRAME_EXACT, 7);
	assert_stack(f, expect("demo.Outside.seven:0 %u|", FRAME_JAVA_JIT));
	has_code_map = true;
	assert_stack(f, expect("java.lang.Math.sqrt(D)D:7 %u|demo.Work.inner:30 %u|"
			       "demo.Work.outer:12 %u|",
			       FRAME_JAVA_INLINED, FRAME_JAVA_INLINED, FRAME_JAVA_JIT));
}

static void names_are_read_on_arrival(void **state)
{
	struct fixture *f = *state;

	has_code_map = false;
	add_compiled(f, NMETHOD, 7);
	add_compiled(f, NMETHOD, 8);
	assert_true(symbolizer_arrive(f->symbolizer, f->process, &f->sample));
	assert_int_equal(outside_reads, 2);
}

/* The registry does not know it yet: who does reads them. */
static void a_jvm_that_is_not_known(void **state)
{
	struct fixture *f = *state;

	is_jvm = false;
	assert_true(symbolizer_arrive(f->symbolizer, f->process, &f->sample));
	assert_true(symbolizer_arrive(f->symbolizer, NULL, &f->sample));
	add_compiled(f, NMETHOD, 7);
	assert_false(symbolizer_arrive(f->symbolizer, f->process, &f->sample));
	assert_false(symbolizer_arrive(f->symbolizer, NULL, &f->sample));
	assert_int_equal(outside_reads, 0);
}

static void assert_thread(struct fixture *f, const char *name, uint32_t java_tid)
{
	struct symbolized in_turn =
		symbolizer_take(f->symbolizer, &f->profile, f->process, &f->sample);
	struct symbolized now =
		symbolizer_take_now(f->symbolizer, &f->profile, f->process, &f->sample);

	assert_string_equal(profile_get_string(&f->profile, in_turn.thread_name), name);
	assert_int_equal(in_turn.java_tid, java_tid);
	assert_string_equal(profile_get_string(&f->profile, now.thread_name), name);
	assert_int_equal(now.java_tid, java_tid);
}

/* As of the sample's time; where there is none the kernel's, which has no end when it is full. */
static void a_threads_name(void **state)
{
	struct fixture *f = *state;

	memcpy(f->sample.comm, "http-worker-17 o", sizeof(f->sample.comm));
	f->sample.tid = TID_OF_NAME;
	f->sample.time_ns = 2 * NSEC_PER_SEC;
	assert_thread(f, "http-worker-17 of the pool", 31);
	f->sample.time_ns = NSEC_PER_SEC - 1;
	assert_thread(f, "http-worker-17 o", 0);
	f->sample.time_ns = 0;
	assert_thread(f, "http-worker-17 o", 0);
	f->sample.time_ns = 2 * NSEC_PER_SEC;
	is_jvm = false;
	assert_thread(f, "http-worker-17 o", 0);
	strcpy(f->sample.comm, "sh");
	assert_thread(f, "sh", 0);
}

static void marks_stand_between_frames(void **state)
{
	struct fixture *f = *state;

	add_compiled(f, NMETHOD, 7);
	add_word(f, (uint64_t)WIRE_FRAME_MARK << WIRE_FRAME_KIND_SHIFT | WIRE_MARK_FROZEN);
	add_word(f, (uint64_t)WIRE_FRAME_MARK << WIRE_FRAME_KIND_SHIFT | WIRE_MARK_ANCHOR);
	add_compiled(f, NMETHOD, 8);
	assert_stack(f, expect("demo.Outside.seven:0 %u|[frozen frames]:0 %u|"
			       "[native frames skipped]:0 %u|demo.Outside.other:0 %u|",
			       FRAME_JAVA_JIT, FRAME_MARK, FRAME_MARK, FRAME_JAVA_JIT));
}

/* While it does all the time, equal stacks of different times are different: nothing of a JVM's code is kept. */
static void names_are_those_of_the_moment(void **state)
{
	struct fixture *f = *state;

	add_word(f, MOVING | WIRE_FRAME_EXACT);
	f->sample.time_ns = 1;
	assert_stack(f, expect("demo.Work.before:12 %u|", FRAME_JAVA_JIT));
	f->sample.time_ns = 2 * NSEC_PER_SEC;
	assert_stack(f, expect("demo.Work.after:12 %u|", FRAME_JAVA_JIT));
	f->sample.time_ns = 2;
	assert_stack(f, expect("demo.Work.before:12 %u|", FRAME_JAVA_JIT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(inlined_methods_are_frames),
		TEST(nothing_is_inlined_before_the_frame_is_complete),
		TEST(return_addresses_too),
		TEST(a_call_at_the_end_of_its_pc),
		TEST(what_has_no_name),
		TEST(interpreted_frames),
		TEST(names_are_those_of_the_moment),
		TEST(the_code_map_wins),
		TEST(names_from_outside),
		TEST(compile_ids_tell_code_apart),
		TEST(evicted_frames_are_asked_again),
		TEST(a_new_code_map_is_asked),
		TEST(names_are_read_on_arrival),
		TEST(marks_stand_between_frames),
		TEST(a_jvm_that_is_not_known),
		TEST(a_threads_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
