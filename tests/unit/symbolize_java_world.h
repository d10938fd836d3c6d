/* SPDX-License-Identifier: Apache-2.0 */
/* symbolize/java.c on a JVM of our own making: these functions stand in for jvm/'s. */
#ifndef HOSTPROF_TESTS_SYMBOLIZE_JAVA_WORLD_H
#define HOSTPROF_TESTS_SYMBOLIZE_JAVA_WORLD_H

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
static unsigned int outside_reads, code_finds;
/* From when on nothing changes any more, and what was the last. */
static uint64_t settles_ns, changes;
static const char *newest;

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
	code_finds++;
	if (address < CODE || address >= CODE_END)
		return JAVA_ELSEWHERE;
	if (pc == CHAIN) {
		memcpy(frames, chain, sizeof(chain));
		ret_answer->count = ARRAY_SIZE(chain);
		return JAVA_FRAMES;
	}
	if (pc == MOVING) {
		frames[0] = chain[2];
		frames[0].method = time_ns < NSEC_PER_SEC ? "before" : newest;
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

bool jvm_code_is_settled(const struct jvm *jvm, uint64_t time_ns, uint64_t *ret_changes)
{
	(void)jvm;
	*ret_changes = changes;
	return time_ns > settles_ns;
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
	ret_answer->frames[0] =
		(struct java_frame){ .class_name = "demo.Outside",
				     .method = (uint32_t)words[1] == 7 ? "seven" : "other",
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
	settles_ns = UINT64_MAX;
	changes = 1;
	newest = "after";
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

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

#endif
