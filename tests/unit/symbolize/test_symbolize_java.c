// SPDX-License-Identifier: Apache-2.0
/* symbolize/java.c on a JVM of our own making: these functions stand in for jvm/'s. */
#include "test.h"

#include <string.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "jvm/jvm.h"
#include "no_classes.h"
#include "symbolize/symbolizer.h"

#define CODE	 0x7000000000ULL
#define CODE_END 0x7000010000ULL
#define CHAIN	 (CODE + 0x100) /* two methods inlined into a third */
#define STUB	 (CODE + 0x200)
#define EVICTED	 (CODE + 0x300)
#define MOVING	 (CODE + 0x400) /* another method every second */

#define NMETHOD (CODE + 0x500) /* known from outside only */

static bool has_code_map;
static bool is_jvm;
#define TID_OF_NAME 77
static unsigned int outside_reads;

static char some_jvm; /* its address is all that matters */
#define THE_JVM	 ((struct jvm *)(void *)&some_jvm)
#define THE_JVMS ((struct jvm_table *)(void *)&some_jvm)

struct jvm *jvm_table_get(struct jvm_table *table, struct process *process)
{
	assert_ptr_equal(table, THE_JVMS);
	assert_non_null(process);
	return is_jvm ? THE_JVM : NULL;
}

const char *jvm_thread_name(struct jvm *jvm, uint32_t tid, uint64_t time_ns, uint64_t *ret_java_tid)
{
	assert_ptr_equal(jvm, THE_JVM);
	if (tid != TID_OF_NAME || time_ns < NSEC_PER_SEC)
		return time_ns ? "" : NULL;
	*ret_java_tid = 31;
	return "http-worker-17 of the pool";
}

static const struct java_frame chain[] = {
	{ .class_name = "java.lang.Math",
	  .method = "sqrt",
	  .source = "Math.java",
	  .descriptor = "(D)D",
	  .line = 7,
	  .bci = 1,
	  .inlined = true },
	{ .class_name = "demo.Work",
	  .method = "inner",
	  .source = "Work.java",
	  .line = 30,
	  .bci = 9,
	  .inlined = true },
	{ .class_name = "demo.Work",
	  .method = "outer",
	  .source = "Work.java",
	  .line = 12,
	  .bci = 4 },
};

/* Here debug info has a pc every 256 bytes. As in a code map the first at or behind an address is its own. */
static uint64_t pc_behind(uint64_t address)
{
	return (address + 0xff) & ~0xffULL;
}

enum java_lookup jvm_find_code(struct jvm *jvm, uint64_t address, uint64_t time_ns,
			       struct java_answer *ret_answer)
{
	struct java_frame *frames = ret_answer->frames;
	uint64_t pc = pc_behind(address);

	assert_ptr_equal(jvm, THE_JVM);
	if (address < CODE || address >= CODE_END)
		return JAVA_ELSEWHERE;
	if (pc == CHAIN) {
		memcpy(frames, chain, sizeof(chain));
		ret_answer->count = ARRAY_SIZE(chain);
		return JAVA_FRAMES;
	}
	if (pc == MOVING) {
		frames[0] = chain[2];
		frames[0].method = time_ns < NSEC_PER_SEC ? "before" : "after";
		ret_answer->count = 1;
		return JAVA_FRAMES;
	}
	ret_answer->stub = "StubRoutines (2)";
	return pc == STUB ? JAVA_STUB : pc == EVICTED ? JAVA_EVICTED : JAVA_UNKNOWN;
}

enum java_lookup jvm_find_interpreted(struct jvm *jvm, const uint64_t words[WIRE_INTERPRETED_WORDS],
				      struct java_answer *ret_answer)
{
	(void)jvm;
	if (words[1] == 0xdead)
		return JAVA_EVICTED;
	if (words[1] == 0)
		return JAVA_UNKNOWN;
	ret_answer->count = 1;
	ret_answer->frames[0] = chain[2];
	return JAVA_FRAMES;
}

bool jvm_has_code_map(const struct jvm *jvm)
{
	(void)jvm;
	return has_code_map;
}

void jvm_meet_compiled(struct jvm *jvm, const uint64_t *const words[], unsigned int count)
{
	(void)jvm, (void)words;
	outside_reads += count;
}

enum java_lookup jvm_find_compiled(struct jvm *jvm, const uint64_t words[WIRE_COMPILED_WORDS],
				   struct java_answer *ret_answer)
{
	(void)jvm;
	outside_reads++;
	ret_answer->stub = "vtable chunks";
	if ((words[0] & WIRE_FRAME_ADDRESS_MASK) == STUB)
		return JAVA_STUB;
	if (words[1] == 0xdead)
		return JAVA_EVICTED;
	if (words[1] == 0)
		return JAVA_UNKNOWN;
	ret_answer->count = 1;
	ret_answer->frames[0] = (struct java_frame){ .class_name = "demo.Outside",
						     .method = words[1] == 7 ? "seven" : "other",
						     .bci = -1 };
	return JAVA_FRAMES;
}

struct fixture {
	struct image_cache *images;
	struct registry *registry;
	struct symbolizer *symbolizer;
	struct profile profile;
	struct process *process;

	union {
		struct wire_sample sample;
		char space[sizeof(struct wire_sample) + 256];
	};
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	has_code_map = true;
	outside_reads = 0;
	is_jvm = true;
	*state = f;
	profile_init(&f->profile);
	f->images = image_cache_new(NULL);
	f->registry = registry_new();
	f->symbolizer = symbolizer_new(f->images, THE_JVMS);
	registry_exec(f->registry, 1, 5000001, "java");
	f->process = registry_find(f->registry, 5000001);
	f->sample.size = sizeof(struct wire_sample);
	f->sample.reason = UNWIND_DONE;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	symbolizer_free(f->symbolizer);
	registry_free(f->registry);
	image_cache_free(f->images);
	profile_release(&f->profile);
	free(f);
	return 0;
}

static void add_word(struct fixture *f, uint64_t word)
{
	f->sample.words[f->sample.user_words++] = word;
	f->sample.size += 8;
}

/* "class.method:line kind|…", leaf first. */
static void assert_stack(struct fixture *f, const char *expected)
{
	struct strbuf text = STRBUF_INIT;
	struct profile_stack stack;
	struct symbolized symbolized;

	assert_true(
		symbolizer_try(f->symbolizer, &f->profile, f->process, &f->sample, &symbolized));
	assert_ptr_equal(symbolized.jvm, THE_JVM);
	stack = profile_get_stack(&f->profile, symbolized.stack);
	for (uint32_t i = 0; i < stack.len; i++) {
		const struct profile_frame *frame = profile_get_frame(&f->profile, stack.frames[i]);

		strbuf_addf(&text, "%s%s%s%s:%d %u|",
			    profile_get_string(&f->profile, frame->class_name),
			    frame->class_name ? "." : "",
			    profile_get_string(&f->profile, frame->name),
			    profile_get_string(&f->profile, frame->descriptor), frame->line,
			    frame->kind);
	}
	assert_string_equal(strbuf_str(&text), expected);
	strbuf_release(&text);
}

static char *expect(const char *format, ...) PRINTF_LIKE(1, 2);

static char *expect(const char *format, ...)
{
	static char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return text;
}

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

/* Equal stacks of different times are different: nothing of a JVM's code is kept. */
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

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(inlined_methods_are_frames),
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
