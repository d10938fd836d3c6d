// SPDX-License-Identifier: Apache-2.0
/* Frames of a JVM's code, whose answers are the test's: what is asked, and what is kept. */
#include "compilation_text.h"
#include "symbolize_parts.h"

/* Innermost first; as of the sample's time, and never kept. */
static void code_by_an_agents_map(void **state)
{
	struct fixture *f = *state;

	parts.is_jvm = true;
	parts.jvm = (struct jvm){ .code_start = MAPPED,
				  .code_end = MAPPED + 0x100,
				  .of_code = JAVA_FRAMES,
				  .inlined = 2 };
	map_file(f, MAPPED, 0, 0, "");
	set_words(f, NO_KERNEL, USER_WORDS(MAPPED | EXACT, MAPPED + 0x100, MAPPED + 0x101));
	assert_string_equal(stack(f), "p.C.m:7_i@[JIT] p.C.m:7_i@[JIT] p.C.m:70_j@[JIT] "
				      "p.C.m:7_i@[JIT] p.C.m:7_i@[JIT] p.C.m:70_j@[JIT] "
				      "[anon]_n@[anon]");
	assert_int_equal(parts.jvm.asked_ns, f->sample.time_ns);
	parts.jvm.of_code = JAVA_STUB;
	assert_string_equal(stack(f), "stub_s@[JIT] stub_s@[JIT] [anon]_n@[anon]");
	parts.jvm.of_code = JAVA_EVICTED;
	assert_string_equal(stack(f), "[evicted]_m [evicted]_m [anon]_n@[anon]");
	parts.jvm.of_code = JAVA_UNKNOWN;
	assert_string_equal(stack(f), "[JIT]_j@[JIT] [JIT]_j@[JIT] [anon]_n@[anon]");
	assert_int_equal(parts.jvm.asked_code, 8);
}

/* Its words say for ever what it is; but not when it was not found. */
static void code_read_from_outside(void **state)
{
	struct fixture *f = *state;

	parts.is_jvm = true;
	parts.jvm.of_compiled = JAVA_EVICTED;
	set_words(f, NO_KERNEL, USER_WORDS(KIND(COMPILED) | 0x7000, 5, KIND(COMPILED) | 0x8000, 6));
	assert_string_equal(stack(f), "[evicted]_m [evicted]_m");
	parts.jvm.of_compiled = JAVA_UNKNOWN;
	assert_string_equal(stack(f), "[JIT]_j@[JIT] [JIT]_j@[JIT]");
	assert_int_equal(parts.jvm.asked_compiled, 4);
	parts.jvm.of_compiled = JAVA_FRAMES;
	assert_string_equal(stack(f), "p.C.m:70_j@[JIT] p.C.m:70_j@[JIT]");
	parts.jvm.method = "other";
	assert_string_equal(stack(f), "p.C.m:70_j@[JIT] p.C.m:70_j@[JIT]");
	assert_int_equal(parts.jvm.asked_compiled, 6);
	f->sample.words[1] = 7; /* another compilation at its place */
	assert_string_equal(stack(f), "p.C.other:70_j@[JIT] p.C.m:70_j@[JIT]");
	parts.jvm.of_compiled = JAVA_STUB;
	f->sample.words[1] = 8;
	assert_string_equal(stack(f), "blob_s@[JIT] p.C.m:70_j@[JIT]");
	assert_int_equal(parts.jvm.asked_code, 0);
}

/* An allocation: its class, and the Java method; what the JVM did between goes, unless it is asked for. */
static void allocations(void **state)
{
	struct fixture *f = *state;

	parts.is_jvm = true;
	parts.jvm.of_compiled = JAVA_FRAMES;
	set_words(f, NO_KERNEL,
		  USER_WORDS(0x7f0000001000, 0x7f0000002000, KIND(COMPILED) | 0x8000, 6,
			     0x7f0000003000));
	f->sample.alloc_class = 7;
	f->sample.alloc_size = 24;
	assert_string_equal(stack(f), "byte[]._p@[JIT] p.C.m:70_j@[JIT] [unknown]_n");
	/* The same words of another class, and of one that nobody has told of yet. */
	f->sample.alloc_class = 8;
	assert_string_equal(stack(f), "[unknown class]._p@[JIT] p.C.m:70_j@[JIT] [unknown]_n");
	/* Seen from outside it is a Klass*, not the agent's id. */
	f->sample.alloc_class = 0x7000;
	f->sample.flags = WIRE_SAMPLE_NEW_TLAB;
	assert_string_equal(stack(f), "a.Outside._p@[JIT] p.C.m:70_j@[JIT] [unknown]_n");
	f->sample.flags = WIRE_SAMPLE_OUTSIDE_TLAB;
	assert_string_equal(stack(f), "a.Outside._q@[JIT] p.C.m:70_j@[JIT] [unknown]_n");
	symbolizer_keep_jvm_frames(f->symbolizer, true);
	f->sample.alloc_class = 0;
	assert_string_equal(
		stack(f),
		"[unknown class]._q@[JIT] [unknown]_n [unknown]_n p.C.m:70_j@[JIT] [unknown]_n");
	symbolizer_keep_jvm_frames(f->symbolizer, false);
	/* Without a Java frame nothing goes. */
	parts.jvm.of_compiled = JAVA_STUB;
	f->sample.words[3] = 9;
	assert_string_equal(
		stack(f),
		"[unknown class]._q@[JIT] [unknown]_n [unknown]_n blob_s@[JIT] [unknown]_n");
}

/* A lock's class is the agent's id where a thread wanted a monitor, and a Klass*, or nothing, where it had parked. */
static void locks(void **state)
{
	struct fixture *f = *state;

	parts.is_jvm = true;
	parts.jvm.of_compiled = JAVA_FRAMES;
	set_words(f, NO_KERNEL, USER_WORDS(0x7f0000001000, KIND(COMPILED) | 0x8000, 6));
	f->sample.alloc_size = 5000;
	f->sample.flags = WIRE_SAMPLE_LOCK | WIRE_SAMPLE_WEIGHED;
	f->sample.cause = WIRE_CAUSE_MONITOR_ENTER;
	f->sample.alloc_class = 7;
	assert_string_equal(stack(f), "byte[]._p@[JIT] p.C.m:70_j@[JIT]");
	f->sample.cause = WIRE_CAUSE_PARK;
	f->sample.alloc_class = 0x7000;
	assert_string_equal(stack(f), "a.Outside._p@[JIT] p.C.m:70_j@[JIT]");
	f->sample.alloc_class = WIRE_PARKED_FOR_NOTHING;
	assert_string_equal(stack(f), "[no blocker]._p@[JIT] p.C.m:70_j@[JIT]");
	/* The same number of an agent's is a class. */
	f->sample.cause = WIRE_CAUSE_OBJECT_WAIT;
	assert_string_equal(stack(f), "[unknown class]._p@[JIT] p.C.m:70_j@[JIT]");
	f->sample.cause = WIRE_CAUSE_PARK;
	f->sample.alloc_class = 0;
	assert_string_equal(stack(f), "[unknown class]._p@[JIT] p.C.m:70_j@[JIT]");
}

/* A virtual thread that waited is where it was, and not where the JVM brings its frames back. */
static void waits_without_a_carrier(void **state)
{
	struct fixture *f = *state;

	parts.is_jvm = true;
	parts.jvm.of_compiled = JAVA_FRAMES;
	set_words(f, NO_KERNEL, USER_WORDS(0x7f0000001000, KIND(COMPILED) | 0x8000, 6));
	assert_string_equal(stack(f), "[unknown]_n p.C.m:70_j@[JIT]");
	f->sample.alloc_size = 5000;
	f->sample.flags = WIRE_SAMPLE_WEIGHED;
	f->sample.cause = WIRE_CAUSE_PARK;
	f->sample.unmounted = 1;
	assert_string_equal(stack(f), "p.C.m:70_j@[JIT]");
	/* Where it has no Java frames they are all that is known. */
	set_words(f, NO_KERNEL, USER_WORDS(0x7f0000001000));
	f->sample.alloc_size = 5000;
	f->sample.unmounted = 1;
	assert_string_equal(stack(f), "[unknown]_n");
}

/* The name of a class may come after the first sample of it. */
static void a_class_that_is_told_late(void **state)
{
	struct fixture *f = *state;

	parts.is_jvm = true;
	parts.jvm.of_compiled = JAVA_FRAMES;
	set_words(f, NO_KERNEL, USER_WORDS(KIND(COMPILED) | 0x8000, 6));
	f->sample.alloc_class = 8;
	f->sample.alloc_size = 24;
	assert_string_equal(stack(f), "[unknown class]._p@[JIT] p.C.m:70_j@[JIT]");
	parts.jvm.told_class = 8;
	assert_string_equal(stack(f), "byte[]._p@[JIT] p.C.m:70_j@[JIT]");
}

/* An agent knows inlining; what it does not know is read from outside. */
static void an_agent_is_asked_first(void **state)
{
	struct fixture *f = *state;

	parts.is_jvm = true;
	parts.jvm = (struct jvm){ .code_start = 0x6000,
				  .code_end = 0x8000,
				  .of_code = JAVA_UNKNOWN,
				  .of_compiled = JAVA_FRAMES };
	set_words(f, NO_KERNEL, USER_WORDS(KIND(COMPILED) | 0x7000, 5));
	assert_string_equal(stack(f), "p.C.m:70_j@[JIT]");
	parts.jvm.has_code_map = true;
	parts.jvm.inlined = 1;
	parts.jvm.of_code = JAVA_FRAMES;
	assert_string_equal(stack(f), "p.C.m:7_i@[JIT] p.C.m:70_j@[JIT]");
	parts.jvm.of_code = JAVA_UNKNOWN;
	assert_string_equal(stack(f), "p.C.m:70_j@[JIT]");
	parts.jvm.of_code = JAVA_STUB;
	assert_string_equal(stack(f), "stub_s@[JIT]");
	assert_int_equal(parts.jvm.asked_code, 3);
}

static void interpreted_methods(void **state)
{
	struct fixture *f = *state;

	parts.is_jvm = true;
	parts.jvm.of_interpreted = JAVA_FRAMES;
	set_words(f, NO_KERNEL, USER_WORDS(KIND(INTERPRETED) | 0x7000, 2, 3, 4, 99));
	assert_string_equal(stack(f), "p.C.m:70_0@[JIT]");
	parts.jvm.method = "other";
	assert_string_equal(stack(f), "p.C.m:70_0@[JIT]"); /* its identity is the same */
	f->sample.words[4] = 100;
	assert_string_equal(stack(f), "p.C.other:70_0@[JIT]");
	/* Without an identity nobody knows. */
	f->sample.words[4] = 0;
	f->sample.user_words = 5;
	assert_string_equal(stack(f), "p.C.other:70_0@[JIT]");
	parts.jvm.method = "third";
	assert_string_equal(stack(f), "p.C.third:70_0@[JIT]");
	parts.jvm.of_interpreted = JAVA_EVICTED;
	assert_string_equal(stack(f), "[evicted]_m");
	parts.jvm.of_interpreted = JAVA_UNKNOWN;
	assert_string_equal(stack(f), "[interpreted]_0@[JIT]");
	parts.is_jvm = false;
	assert_string_equal(stack(f), "[interpreted]_0@[JIT]");
}

/* When a sample arrives; its turn comes when the code may be gone. */
static void names_are_read_early(void **state)
{
	struct fixture *f = *state;

	set_words(f, NO_KERNEL,
		  USER_WORDS(KIND(COMPILED) | 0x7000, 5, MAPPED, KIND(INTERPRETED) | 0x7000, 2, 3,
			     4, 99));
	arrive(f); /* no JVM */
	assert_int_equal(parts.jvm.asked_compiled, 0);
	parts.is_jvm = true;
	parts.jvm.of_compiled = parts.jvm.of_interpreted = JAVA_FRAMES;
	arrive(f);
	assert_int_equal(parts.jvm.asked_compiled, 1);
	assert_int_equal(parts.jvm.asked_interpreted, 1);
	stack(f);
	assert_int_equal(parts.jvm.asked_compiled, 2);
	arrive(f); /* the stack is known */
	assert_int_equal(parts.jvm.asked_compiled, 2);
	f->sample.reason = UNWIND_DEPTH; /* it is another, of the same methods */
	arrive(f);
	stack(f);
	assert_int_equal(parts.jvm.asked_compiled, 2);
	assert_int_equal(parts.jvm.asked_interpreted, 2);
	f->sample.words[1] = 6;
	arrive(f);
	assert_int_equal(parts.jvm.asked_compiled, 3);
	assert_int_equal(parts.jvm.asked_interpreted, 2);
	stack(f);
	assert_int_equal(parts.jvm.asked_compiled, 4);
	/* No frame of the last stack, but one that is known. */
	f->sample.words[1] = 5;
	f->sample.reason = UNWIND_KERNEL_THREAD;
	arrive(f);
	assert_int_equal(parts.jvm.asked_compiled, 4);
	symbolizer_read_names(&parts.jvm, &f->sample);
	assert_int_equal(parts.jvm.asked_compiled, 5);
	assert_int_equal(parts.jvm.asked_interpreted, 3);
}

static void marks(void **state)
{
	struct fixture *f = *state;

	set_words(f, NO_KERNEL,
		  USER_WORDS((MAPPED) | EXACT, KIND(MARK) | WIRE_MARK_FROZEN, MAPPED,
			     KIND(MARK) | WIRE_MARK_ANCHOR, MAPPED));
	assert_string_equal(stack(f), "[unknown]_n [frozen frames]_m [unknown]_n "
				      "[native frames skipped]_m [unknown]_n");
}

/* The class whose method the stub behind it calls. */
static void receivers(void **state)
{
	struct fixture *f = *state;

	parts.is_jvm = true;
	parts.jvm.of_compiled = JAVA_STUB;
	set_words(f, NO_KERNEL,
		  USER_WORDS(KIND(RECEIVER) | 0x8000 | EXACT, 0x7000, 9,
			     KIND(COMPILED) | 0x8000 | EXACT, 6, MAPPED));
	assert_string_equal(stack(f), "a.Called._v@[JIT] blob_s@[JIT] [unknown]_n");
	/* It is read when the sample arrives. */
	parts.jvm.asked_receivers = 0;
	arrive(f);
	symbolizer_read_names(&parts.jvm, &f->sample);
	assert_true(parts.jvm.asked_receivers > 0);
	/* Another class is there by now. */
	f->sample.words[2] = 8;
	assert_string_equal(stack(f), "[unknown class]._v@[JIT] blob_s@[JIT] [unknown]_n");
}

/* What a runtime has on a stack of its own is called so, if the walk was lost there. */
static void a_stack_of_its_own(void **state)
{
	struct fixture *f = *state;

	parts.images[2].limit = 0x1001;
	map_file(f, MAPPED, 2, 0x100000, "/lib/libHSbase-4.15-ghc9.0.2.so");
	set_words(f, NO_KERNEL, USER_WORDS(MAPPED | EXACT));
	f->sample.reason = UNWIND_BUDGET;
	assert_null(strstr(stack(f), "[Haskell stack]"));
	f->sample.reason = UNWIND_FP_BAD;
	assert_non_null(strstr(stack(f), " [Haskell stack]_m [unwind: bad-frame-pointer]_m"));
}

/* What a thread compiles is its root. */
static void compiling(void **state)
{
	struct fixture *f = *state;

	parts.is_jvm = true;
	parts.jvm.of_interpreted = JAVA_FRAMES;
	set_words(f, NO_KERNEL, USER_WORDS(KIND(COMPILING), 8, 16, 1, 7, MAPPED | EXACT, MAPPED));
	assert_string_equal(stack(f), "[unknown]_n [unknown]_n p.C.m_t@[JIT]");
	f->sample.reason = UNWIND_PAGE;
	assert_string_equal(stack(f),
			    "[unknown]_n [unknown]_n [unwind: page-not-resident]_m p.C.m_t@[JIT]");
	f->sample.reason = UNWIND_DONE;
	parts.jvm.of_interpreted = JAVA_EVICTED;
	f->sample.words[1] = 24;
	assert_string_equal(stack(f), "[unknown]_n [unknown]_n [unknown method]_t@[JIT]");
}

/* What was compiled is the leaf; of a long name there is a part, of a signature none. */
static void compiled(void **state)
{
	const struct compiled c = { { .chance = 1 }, "p/C", "m\n", "(I)V" };
	struct fixture *f = *state;
	struct profile_stack frames;

	parts.is_jvm = true;
	set_words(f, NO_KERNEL, USER_WORDS(MAPPED | EXACT));
	put_compilation(&f->sample, &c);
	assert_string_equal(stack(f), "p.C.m?_t@[JIT] [unknown]_n");
	frames = profile_get_stack(
		&f->profile,
		symbolizer_take(f->symbolizer, &f->profile, &f->process, &f->sample).stack);
	assert_string_equal(
		profile_get_string(&f->profile,
				   profile_get_frame(&f->profile, frames.frames[0])->descriptor),
		"(I)V");
	/* Another one in the same place. */
	put_compilation(&f->sample, &(struct compiled){ { .chance = 1 }, "p/D", "m", "()V" });
	assert_string_equal(stack(f), "p.D.m_t@[JIT] [unknown]_n");
	put_compilation(&f->sample, &(struct compiled){ { .chance = 1 }, "", "", "" });
	assert_string_equal(stack(f), "[unknown method]_t@[JIT] [unknown]_n");
	f->sample.text = WIRE_TEXT_NAME;
	assert_string_equal(stack(f), "[unknown]_n");
}

/* What was loaded is the leaf, as a class of objects is; what the JVM does for it is left out. */
static void loaded(void **state)
{
	struct fixture *f = *state;

	parts.is_jvm = true;
	parts.jvm.of_interpreted = JAVA_FRAMES;
	set_words(f, NO_KERNEL, USER_WORDS(MAPPED | EXACT, KIND(INTERPRETED), 8, 16, 1, 7));
	put_class_load(&f->sample, "p/C+0x12");
	assert_string_equal(stack(f), "p.C/0x12._p@[JIT] p.C.m:70_0@[JIT]");
	put_class_load(&f->sample, "p/D");
	assert_string_equal(stack(f), "p.D._p@[JIT] p.C.m:70_0@[JIT]");
	put_class_load(&f->sample, "");
	assert_string_equal(stack(f), "[unknown class]._p@[JIT] p.C.m:70_0@[JIT]");
	put_class_load(&f->sample, "p/D");
	f->sample.name_bytes--;
	assert_string_equal(stack(f), "[unknown class]._p@[JIT] p.C.m:70_0@[JIT]");
}

/* What collectors stop a JVM for is a mark in front of the VM thread's stack. */
static void pauses(void **state)
{
	struct fixture *f = *state;

	parts.is_jvm = true;
	set_words(f, NO_KERNEL, USER_WORDS(MAPPED | EXACT));
	put_pause(&f->sample, "G1CollectFull", "System.gc()");
	assert_string_equal(stack(f), "[G1CollectFull]_m [unknown]_n");
	put_pause(&f->sample, "Z;\n", "");
	assert_string_equal(stack(f), "[Z??]_m [unknown]_n");
	put_pause(&f->sample, "", "");
	assert_string_equal(stack(f), "[unknown]_n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(code_by_an_agents_map),
		TEST(code_read_from_outside),
		TEST(allocations),
		TEST(locks),
		TEST(waits_without_a_carrier),
		TEST(a_class_that_is_told_late),
		TEST(an_agent_is_asked_first),
		TEST(interpreted_methods),
		TEST(names_are_read_early),
		TEST(marks),
		TEST(receivers),
		TEST(compiling),
		TEST(a_stack_of_its_own),
		TEST(compiled),
		TEST(loaded),
		TEST(pauses),
	};

	return cmocka_run_group_tests_name("symbolize_code", tests, NULL, NULL);
}
